//! Random orders, choices, bytes, and related generators.

use super::{Parameter, PyGenerator, shape, vector};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Given, Ints, Operand, Population, count, kind};
use flex::layout::{self, Shape};
use flex::ops;
use flex::random::Choice;
use flex::{Scalar, Tensor};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What is ordered or chosen from: the integers below one, or the parts of a tensor.
enum Source {
    Below(usize),
    Parts(Tensor),
}
impl Source {
    fn of(op: &str, name: &str, x: Given<Population>) -> PyResult<Source> {
        match x.of(op, name)?.0 {
            Operand::Tensor(t) => Ok(Source::Parts(t)),
            Operand::Scalar(Scalar::Int(n)) => {
                let n = isize::try_from(n).unwrap_or(if n < 0 { -1 } else { isize::MAX });
                Ok(Source::Below(count(op, name, n)?))
            }
            Operand::Scalar(s) => Err(PyTypeError::new_err(format!(
                "{op}: {name} is {s}; it must be an integer or a tensor"
            ))),
        }
    }
}

#[pymethods]
impl PyGenerator {
    /// The parts of x along an axis in random order, each whole; or for an integer x the integers
    /// below it, as int64.
    ///
    /// AxisError if the axis is out of range.
    ///
    /// >>> flex.random.default_rng(7).permutation(5).sort().tolist()
    /// [0, 1, 2, 3, 4]
    #[pyo3(signature = (x, axis = 0))]
    fn permutation(&self, py: Python<'_>, x: Given<Population>, axis: isize) -> PyResult<PyTensor> {
        const OP: &str = "permutation";
        match Source::of(OP, "x", x)? {
            Source::Below(n) => self.draw(py, &[n], |rng| rng.permutation(n)),
            Source::Parts(x) => self.draw(py, x.shape(), |rng| {
                rng.shuffled(&x, axis).map_err(|e| e.named(OP))
            }),
        }
    }
    /// The elements of each line of x along an axis in random order, each line in another; without
    /// an axis, of all elements.
    ///
    /// AxisError if the axis is out of range.
    ///
    /// >>> flex.random.default_rng(7).permuted(flex.asarray([[1, 2], [3, 4]]), axis=1).sum(axis=1).tolist()
    /// [3, 7]
    #[pyo3(signature = (x, *, axis = None))]
    fn permuted(
        &self,
        py: Python<'_>,
        x: Given<Population>,
        axis: Option<isize>,
    ) -> PyResult<PyTensor> {
        let x = x.of("permuted", "x")?.0.tensor().raise()?;
        self.draw(py, x.shape(), |rng| match axis {
            Some(axis) => rng.permuted(&x, axis),
            None => rng.shuffled(&x.reshape(-1)?, 0)?.reshape(x.shape()),
        })
    }
    /// Puts the parts of the tensor x along an axis in random order, in place.
    ///
    /// TypeError for what is no Tensor; AxisError if the axis is out of range.
    ///
    /// >>> x = flex.asarray([1, 2, 3])
    /// >>> flex.random.default_rng(7).shuffle(x)
    /// >>> x.sum().item()
    /// 6
    #[pyo3(signature = (x: "Tensor", axis = 0))]
    fn shuffle(&self, py: Python<'_>, x: &Bound<'_, PyAny>, axis: isize) -> PyResult<()> {
        const OP: &str = "shuffle";
        let Ok(t) = x.cast_exact::<PyTensor>() else {
            return Err(PyTypeError::new_err(format!(
                "{OP}: x: expected a Tensor, which is changed in place, got {}: write x = rng.permutation(x)",
                kind(x)
            )));
        };
        let (axis, n) = t
            .get()
            .about(|layout, _| {
                let axis = layout::axis(OP, axis, layout.rank())?;
                Ok((axis as isize, layout.shape()[axis]))
            })
            .raise()?;
        let order = self.with(py, n, |rng| rng.permutation(n))?;
        t.get().update(
            py,
            |t| t.len(),
            |t| {
                let parts = ops::take(t, &order, axis).map_err(|e| e.named(OP))?;
                t.copy_from(&parts)
            },
        )
    }
    /// Parts of the tensor a along an axis, chosen at random; or for an integer a, integers below
    /// it, as int64.
    ///
    /// size: how many, or the shape in which they take the axis's place; by default a single one.
    /// replace: whether one may be chosen several times. p: the probability of each, in one
    /// dimension, by default the same for all; one of probability 0 is never chosen. The order is
    /// random, whether or not shuffle asks for that. ValueError if there are too few to choose from,
    /// or p has a negative number or doesn't sum to 1; ShapeError if it has another number of them.
    ///
    /// >>> rng = flex.random.default_rng(7)
    /// >>> rng.choice(flex.asarray([10, 20, 30]), 3, replace=False).sum().item()
    /// 60
    #[pyo3(signature = (a, size = None, replace = true, p = None, axis = 0, shuffle = true))]
    fn choice(
        &self,
        py: Python<'_>,
        a: Given<Population>,
        size: Option<Given<Ints>>,
        replace: bool,
        p: Option<Given<Parameter>>,
        axis: isize,
        shuffle: bool,
    ) -> PyResult<PyTensor> {
        const OP: &str = "choice";
        let _ = shuffle;
        let a = Source::of(OP, "a", a)?;
        let p = p.map(|p| vector(OP, "p", p)).transpose()?;
        let how = Choice {
            replace,
            p: p.as_ref(),
        };
        let size = shape(OP, size, &[])?;
        let a = match a {
            Source::Below(n) => return self.draw(py, &size, |rng| rng.choice(n, &size, how)),
            Source::Parts(a) => a,
        };
        let axis = layout::axis(OP, axis, a.rank()).raise()?;
        let mut whole = Shape::from_slice(&a.shape()[..axis]);
        whole.extend_from_slice(&size);
        whole.extend_from_slice(&a.shape()[axis + 1..]);
        self.draw(py, &whole, |rng| {
            let chosen = rng.choice(a.shape()[axis], &size, how)?.reshape(-1)?;
            let parts = ops::take(&a, &chosen, axis as isize).map_err(|e| e.named(OP))?;
            parts.reshape(&whole)
        })
    }
    /// Random bytes. ValueError if the length is negative.
    ///
    /// >>> len(flex.random.default_rng(7).bytes(10))
    /// 10
    #[pyo3(signature = (length) -> "builtins.bytes")]
    fn bytes<'py>(&self, py: Python<'py>, length: isize) -> PyResult<Bound<'py, PyBytes>> {
        let length = count("bytes", "length", length)?;
        let bytes = self.with(py, length / 8, |rng| rng.bytes(length))?;
        Ok(PyBytes::new(py, &bytes))
    }
    /// New generators, whose numbers are unrelated to each other's and to this one's: each call
    /// makes others. ValueError if n_children is negative.
    ///
    /// >>> a, b = flex.random.default_rng(7).spawn(2)
    /// >>> a.integers(10**9).item() == b.integers(10**9).item()
    /// False
    #[pyo3(signature = (n_children))]
    fn spawn(&self, py: Python<'_>, n_children: isize) -> PyResult<Vec<PyGenerator>> {
        let n = count("spawn", "n_children", n_children)?;
        let all = self.lock(py)?.spawn(n).raise()?;
        Ok(all.into_iter().map(PyGenerator::of).collect())
    }
    /// The generator as it would be after jumps times 2^96 blocks of 128 bits, which no program
    /// draws. ValueError for negative jumps, OverflowError for jumps beyond 2^32.
    ///
    /// >>> rng = flex.random.default_rng(7)
    /// >>> rng.jumped().jumped(2).state == rng.jumped(3).state
    /// True
    #[pyo3(signature = (jumps = 1))]
    fn jumped(&self, py: Python<'_>, jumps: isize) -> PyResult<PyGenerator> {
        let jumps = u32::try_from(count("jumped", "jumps", jumps)?).map_err(|_| {
            PyOverflowError::new_err(format!("jumped: jumps is {jumps}; it must be below 2^32"))
        })?;
        Ok(PyGenerator::of(self.lock(py)?.jumped(jumps)))
    }
}
