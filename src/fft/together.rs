//! Lines transformed side by side, one per lane: lines along an axis other than the innermost, and
//! short rows.

use super::cache::plan;
use super::factors::radices;
use super::job::Transform;
use super::line::TransformKind;
use super::memory::{LinePointers, Work};
use super::plan::{PlanForm, Purpose};
use super::run::cost;
use crate::error::Result;
use crate::exec::failure::try_ranges;
use crate::kernel::fft::Float;
use crate::kernel::fft::columns::{ColumnSource, Columns, Rows, Sink, Spectrum, columns, lanes};

/// The most complex numbers of contiguous lines that are transformed side by side: there is too
/// little work in each alone.
const SHORT: usize = 256;
/// Those of adjacent lines: two buffers of them fit L2.
const LONG: usize = 1024;

impl Transform {
    /// The length of the complex transforms, for lines along the middle of three axes, of these
    /// outer and inner sizes; `None` if they are better transformed one by one.
    fn side_by_side<T: Float>(&self, (outer, inner): (usize, usize)) -> Option<usize> {
        let lanes = lanes::<T>();
        let (most, least) = if inner == 1 {
            (SHORT, outer)
        } else {
            (LONG, inner)
        };
        let n = match self.kind {
            TransformKind::Complex => self.n,
            _ if self.n.is_multiple_of(2) => self.n / 2,
            _ => return None,
        };
        (n <= most && 2 * least >= lanes && lanes > 1 && radices(n).is_some()).then_some(n)
    }
}

/// The lines of one end: their scalars, and those of a value.
struct EndStrides {
    line: usize,
    value: usize,
}

/// Transforms the lines along the middle axis of values `[outer, .., inner]`. Returns `false`, with
/// nothing done, if they are better transformed one by one.
///
/// # Safety
/// Both ends are valid for the lines that the transform reads and writes. They don't overlap, or are
/// the same complex numbers, and nobody else writes there.
pub(super) unsafe fn lines<T: Float>(
    ends: LinePointers<T>,
    transform: Transform,
    (outer, inner): (usize, usize),
) -> Result<bool> {
    let Some(n) = transform.side_by_side::<T>((outer, inner)) else {
        return Ok(false);
    };
    let Transform { kind, inverse, .. } = transform;
    let (purpose, spectrum) = match kind {
        TransformKind::Complex => (Purpose::Columns, None),
        TransformKind::Half => (Purpose::RealColumns, Some(Spectrum::Half)),
        TransformKind::Whole => (
            Purpose::RealColumns,
            Some(Spectrum::Whole { conjugate: inverse }),
        ),
        TransformKind::Real => (Purpose::RealColumns, Some(Spectrum::Inverse)),
    };
    let plan = plan::<T>(n, purpose)?;
    let PlanForm::Column(passes) = &plan.form else {
        return Ok(false);
    };
    let lanes = lanes::<T>();
    let rows = inner == 1;
    let (all, groups) = if rows { (outer, 1) } else { (inner, outer) };
    let blocks = all.div_ceil(lanes);
    // a real spectrum is combined to twice its values
    let scale = match spectrum {
        Some(Spectrum::Half | Spectrum::Whole { .. }) => 0.5 * transform.scale,
        _ => transform.scale,
    };
    let scale = T::from_f64(scale);
    let buffer = 2 * lanes * spectrum.map_or(n, |s| s.len(n));
    let in_place = ends.x == ends.y.cast_const();
    let side = |line, real| EndStrides {
        line,
        value: if real { 1 } else { 2 },
    };
    let from = side(kind.input(transform.n), kind.reads_real());
    let to = side(kind.output(transform.n), kind.writes_real());
    let step = |side: &EndStrides| if rows { side.line } else { side.value * inner };
    let start = |side: &EndStrides, k: usize| match rows {
        true => side.line * (k * lanes),
        false => k / blocks * side.line * inner + side.value * (k % blocks * lanes),
    };
    let ends = &ends;
    try_ranges(
        groups * blocks,
        1,
        cost(n * lanes, size_of::<T>()),
        |range| {
            let mut work = Work::<T>::new(2 * buffer)?;
            let work = work.as_mut_ptr();
            for k in range {
                let count = lanes.min(all - k % blocks * lanes);
                // SAFETY: COLUMNS1: lines of one unit of work, which has scratch of its own.
                unsafe {
                    let at = start(&from, k);
                    let source = Rows {
                        first: ends.x.add(at),
                        step: step(&from),
                        columns: count,
                        // in place, the columns behind the last are written meanwhile
                        room: if in_place {
                            0
                        } else {
                            outer * inner * from.line - at
                        },
                        swapped: inverse && kind == TransformKind::Complex,
                    };
                    let sink = Rows {
                        first: ends.y.add(start(&to, k)),
                        step: step(&to),
                        columns: count,
                        room: 0,
                        swapped: kind.writes_real() || inverse && kind == TransformKind::Complex,
                    };
                    let source = match (rows, from.value) {
                        (true, _) => ColumnSource::Lines(source),
                        (_, 1) => ColumnSource::Halves(source),
                        _ => ColumnSource::Complex(source),
                    };
                    let sink = match (rows, to.value) {
                        (true, _) => Sink::Lines(sink, scale),
                        (_, 1) => Sink::Halves(sink, scale),
                        _ => Sink::Complex(sink, scale),
                    };
                    let block = Columns::new(
                        n,
                        &passes.stages,
                        &passes.factors,
                        source,
                        [work, work.add(buffer)],
                        sink,
                    );
                    columns(match spectrum {
                        Some(spectrum) => block.with_spectrum(spectrum, &plan.turns),
                        None => block,
                    });
                }
            }
            Ok(())
        },
    )?;
    Ok(true)
}
