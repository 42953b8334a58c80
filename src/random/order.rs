//! Random orders: permutations and shuffles, and bytes.

use super::Generator;
use crate::dtype::DType;
use crate::error::Result;
use crate::fallible;
use crate::kernel::random::{GROUP, Group, bits, lemire};
use crate::layout::{self, Int};
use crate::ops::{self, draw};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Groups whose bits are made at once.
const GROUPS: usize = draw::GROUPS;

impl Generator {
    /// The integers from 0 to `n`, which is left out, in random order, as int64 (Fisher and Yates).
    ///
    /// Errors if there is not enough memory, or no int64 in this build.
    ///
    /// ```
    /// use flex::random::default_rng;
    /// let mut order = default_rng(7).permutation(10)?.to_vec::<i64>()?;
    /// order.sort();
    /// assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn permutation(&mut self, n: usize) -> Result<Tensor> {
        let mut y = ops::arange(0, n, 1, DType::I64)?;
        self.shuffle_first(n, n, y.as_mut_slice::<i64>()?);
        Ok(y)
    }
    /// Puts random elements of `y` first: the first `k` of a random order of all.
    pub(super) fn shuffle_first(&mut self, n: usize, k: usize, y: &mut [i64]) {
        self.swaps(n, k, |i, j| y.swap(i, j));
    }
    /// Calls `swap` with each i below `k` in ascending order and a random j from i to `n`.
    pub(super) fn swaps(&mut self, n: usize, k: usize, mut swap: impl FnMut(usize, usize)) {
        let source = self.take(k, GROUP);
        let mut room: [Group; GROUPS] = [[0; GROUP]; GROUPS];
        for start in (0..k).step_by(GROUP * GROUPS) {
            let block = source.block(start, GROUP);
            bits(source.stream, block, &mut room);
            let all = room.as_flattened().iter().enumerate();
            for (at, x) in all.take(k - start) {
                let i = start + at;
                let j = lemire((n - i) as u64, source.stream, block, at, *x);
                swap(i, i + j as usize);
            }
        }
    }
    /// The parts of `x` along an axis in random order. Parts stay whole: rows of a matrix, for axis
    /// 0.
    ///
    /// Errors if the axis is out of range.
    ///
    /// ```
    /// use flex::{Tensor, random::default_rng};
    /// let x = Tensor::from([[1, 10], [2, 20], [3, 30]]);
    /// let y = default_rng(7).shuffled(&x, 0)?;
    /// for row in y.unstack(0)? {
    ///     assert_eq!(row.at::<i32>(1)?, 10 * row.at::<i32>(0)?);
    /// }
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn shuffled(&mut self, x: &Tensor, axis: impl Int) -> Result<Tensor> {
        const OP: &str = "shuffled";
        let axis = layout::axis(OP, axis.wide(), x.rank())?;
        self.attempt(|rng| {
            let order = rng.permutation(x.shape()[axis])?;
            ops::take(x, &order, axis as isize).map_err(|e| e.named(OP))
        })
    }
    /// [`shuffled`](Generator::shuffled) in place.
    ///
    /// ```
    /// use flex::{Tensor, random::default_rng};
    /// let mut x = Tensor::from([1, 2, 3, 4]);
    /// default_rng(7).shuffle(&mut x, 0)?;
    /// assert_eq!(x.sum(())?.item::<i64>()?, 10);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn shuffle(&mut self, x: &mut Tensor, axis: impl Int) -> Result<()> {
        let axis = axis.wide();
        self.attempt(|rng| {
            let y = rng.shuffled(x, axis).map_err(|e| e.named("shuffle"))?;
            x.copy_from(&y)
        })
    }
    /// The elements of each line of `x` along an axis in random order, each line in another.
    ///
    /// Errors if the axis is out of range.
    ///
    /// ```
    /// use flex::{Tensor, random::default_rng};
    /// let x = Tensor::from([[1, 2, 3], [10, 20, 30]]);
    /// let y = default_rng(7).permuted(&x, 1)?;
    /// assert_eq!(y.sum(1)?.to_vec::<i64>()?, [6, 60]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn permuted(&mut self, x: &Tensor, axis: impl Int) -> Result<Tensor> {
        const OP: &str = "permuted";
        let axis = layout::axis(OP, axis.wide(), x.rank())? as isize;
        self.attempt(|rng| {
            // of 64 bits, of which 2^30 elements have two alike once in 32 times, by chance in order
            let keys = rng.integers_inclusive(i64::MIN, i64::MAX, x.shape(), DType::I64)?;
            let order = ops::argsort(&keys, axis)?;
            ops::take_along_axis(x, &order, axis)
        })
    }
    /// Random bytes.
    ///
    /// ```
    /// use flex::random::default_rng;
    /// assert_eq!(default_rng(7).bytes(5)?, default_rng(7).bytes(10)?[..5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn bytes(&mut self, n: usize) -> Result<Vec<u8>> {
        let mut y: Vec<u8> = fallible::with_capacity(n)?;
        let source = self.take(n, 8 * GROUP);
        let mut room: [Group; GROUPS] = [[0; GROUP]; GROUPS];
        for start in (0..n).step_by(8 * GROUP * GROUPS) {
            bits(source.stream, source.block(start, 8 * GROUP), &mut room);
            let all = room.as_flattened().iter().flat_map(|x| x.to_le_bytes());
            y.extend(all.take(n - start));
        }
        Ok(y)
    }
    /// New generators, whose numbers are unrelated to each other's and to this one's: each call makes
    /// others.
    ///
    /// ```
    /// use flex::{DType, random::default_rng};
    /// let mut all = default_rng(7).spawn(2)?;
    /// let [a, b] = &mut all[..] else { unreachable!() };
    /// assert_ne!(a.random(3, DType::F32)?.to_vec::<f32>()?, b.random(3, DType::F32)?.to_vec::<f32>()?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn spawn(&mut self, n: usize) -> Result<Vec<Generator>> {
        let mut all = fallible::with_capacity(n)?;
        for k in 0..n as u64 {
            // a retry that no number reaches
            let child = self.children.wrapping_add(k);
            let [a, b, id, _] = self.stream.block(child, u32::MAX);
            all.push(Generator::from_state(([a, b], id, 0, 0)));
        }
        self.children = self.children.wrapping_add(n as u64);
        Ok(all)
    }
    /// This generator as it would be after `jumps` times 2^96 blocks, which no program draws. There
    /// are 2^32 such places.
    ///
    /// ```
    /// use flex::random::default_rng;
    /// let rng = default_rng(7);
    /// assert_eq!(rng.jumped(1).jumped(2), rng.jumped(3));
    /// assert_ne!(rng.jumped(1), rng);
    /// ```
    pub fn jumped(&self, jumps: u32) -> Generator {
        let mut other = self.clone();
        other.stream.id = self.stream.id.wrapping_add(jumps);
        other
    }
}
