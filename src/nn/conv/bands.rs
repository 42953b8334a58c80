//! Bands of images whose neighbouring channels share a word, as many as scratch has room for.

use super::call::ConvCall;
use crate::kernel::conv::{Geometry, Three};
use crate::kernel::gemm::{Interleave, Packing};
use core::ops::Range;

/// Channels of a word.
pub(super) const PAIR: usize = Interleave::GROUP;

/// Bands of images: positions from one index to another along an axis, and what they read.
pub(super) struct Bands {
    /// The first axis of more than one element or position.
    pub axis: usize,
    /// Positions of a band along the axis.
    positions: usize,
    /// Bands of an image.
    pub count: usize,
    /// Words of the channels of a group.
    pub channels: usize,
    /// Words of a band, of all groups.
    pub size: usize,
    /// Bands whose products are computed at a time.
    pub together: usize,
}
/// A band.
pub(super) struct Band {
    /// What it reads of the axis.
    pub elements: Range<usize>,
    /// The positions, among all of the image.
    pub columns: Range<usize>,
    /// The sizes of what it reads, and its positions.
    pub image: Three,
    pub geometry: Geometry,
}
impl Bands {
    /// Bands of this many words at most, if there is room for those of one index.
    pub fn new(call: &ConvCall, room: usize) -> Option<Bands> {
        let (g, image) = (&call.geometry, call.image);
        let axis = (0..3).find(|axis| image[*axis] > 1 || g.output_size[*axis] > 1)?;
        let channels = call.in_channels_per_group().div_ceil(PAIR);
        let all_channels = channels.saturating_mul(call.groups);
        let slice = (image[axis + 1..].iter()).fold(all_channels, |n, len| n.saturating_mul(*len));
        if slice == 0 || g.is_empty() {
            return None;
        }
        let (stride, span) = (g.stride[axis], (g.kernel[axis] - 1) * g.dilation[axis] + 1);
        let most = room / slice;
        let all = g.output_size[axis];
        let positions = if image[axis] <= most {
            all
        } else {
            (most.checked_sub(span)? / stride + 1).min(all)
        };
        let elements = image[axis].min((positions - 1) * stride + span);
        let count = all.div_ceil(positions);
        let size = slice * elements;
        // the products of one call have one size
        let together = match count {
            1 => (room / size.max(1)).clamp(1, call.batch.max(1)),
            _ => 1,
        };
        Some(Bands {
            axis,
            positions,
            count,
            channels,
            size,
            together,
        })
    }
    /// The words of all bands at a time.
    pub fn scratch_len(&self) -> usize {
        self.size.saturating_mul(self.together)
    }
    /// Band `i` of an image.
    pub fn get(&self, call: &ConvCall, i: usize) -> Band {
        let (mut g, mut image, axis) = (call.geometry, call.image, self.axis);
        let positions = i * self.positions..g.output_size[axis].min((i + 1) * self.positions);
        let first = (positions.start * g.stride[axis]) as isize - g.padding[axis];
        let span = (g.kernel[axis] - 1) * g.dilation[axis] + 1;
        let end = first + ((positions.len() - 1) * g.stride[axis] + span) as isize;
        let inside = |at: isize| at.clamp(0, image[axis] as isize) as usize;
        let elements = inside(first)..inside(end);
        let each = g.output_size[axis + 1..].iter().product::<usize>();
        // positions before the axis are single ones
        g.padding[axis] = elements.start as isize - first;
        g.output_size[axis] = positions.len();
        image[axis] = elements.len();
        Band {
            elements,
            columns: positions.start * each..positions.end * each,
            image,
            geometry: g,
        }
    }
}
