//! How a kernel moves over an image, and the layout of the image. Both have three spatial
//! dimensions; absent ones have size 1.

use crate::kernel::gemm::{Mat, MatElement};
use core::marker::PhantomData;
use core::ops::Range;

/// Numbers for depth, height and width.
pub type Three = [usize; 3];

/// How a kernel moves over an image: tap `t` of position `p` reads element `p * stride + t *
/// dilation
/// - padding`, and zero if there is none. All of `kernel`, `stride` and `dilation` are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The sizes of the kernel.
    pub kernel: Three,
    /// The distance between positions.
    pub stride: Three,
    /// The distance between taps.
    pub dilation: Three,
    /// Zeros before the image; if negative, elements of the image that no position reads.
    pub padding: [isize; 3],
    /// The sizes of the result.
    pub output_size: Three,
}
impl Geometry {
    /// The number of positions in the kernel.
    pub fn kernel_len(&self) -> usize {
        self.kernel.iter().product()
    }
    /// The number of positions.
    pub fn len(&self) -> usize {
        self.output_size
            .iter()
            .fold(1, |a: usize, n| a.saturating_mul(*n))
    }
    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.output_size.contains(&0)
    }
    /// Whether positions and the elements of an image of these sizes correspond one to one.
    pub fn is_pointwise(&self, sizes: Three) -> bool {
        self.kernel == [1; 3]
            && self.stride == [1; 3]
            && self.output_size == sizes
            && self.padding == [0; 3]
    }
    /// The element that a tap reads for a position along an axis, which may not exist.
    #[inline(always)]
    pub(super) fn element(&self, axis: usize, position: usize, tap: usize) -> isize {
        (position * self.stride[axis] + tap * self.dilation[axis]) as isize - self.padding[axis]
    }
}

/// Channels of an image, with any strides.
///
/// Invariant IMAGE1: for all `channel < channels` and positions below `sizes`, the element at
/// `at + channel * channel_stride + position * strides` is an initialised `T`, readable for `'a`.
#[derive(Clone, Copy)]
pub struct Image<'a, T> {
    at: *const T,
    channel_stride: isize,
    strides: [isize; 3],
    channels: usize,
    sizes: Three,
    _data: PhantomData<&'a [T]>,
}
// SAFETY: an image is shared references to elements (IMAGE1).
unsafe impl<T: Sync> Send for Image<'_, T> {}
// SAFETY: an image is shared references to elements (IMAGE1).
unsafe impl<T: Sync> Sync for Image<'_, T> {}

impl<'a, T: MatElement> Image<'a, T> {
    /// The same elements as the type that they are moved as.
    pub fn moved(self) -> Image<'a, T::Moved> {
        Image {
            at: self.at.cast(),
            channel_stride: self.channel_stride,
            strides: self.strides,
            channels: self.channels,
            sizes: self.sizes,
            _data: PhantomData,
        }
    }
}
impl<'a, T> Image<'a, T> {
    /// An image at an address, with strides in elements.
    ///
    /// # Safety
    /// IMAGE1.
    pub unsafe fn new(
        at: *const T,
        (channels, channel_stride): (usize, isize),
        sizes: Three,
        strides: [isize; 3],
    ) -> Self {
        Image {
            at,
            channel_stride,
            strides,
            channels,
            sizes,
            _data: PhantomData,
        }
    }
    /// Consecutive planes of one size. Panics if `planes` has another length.
    #[cfg(any(feature = "quant", x86_bf16))]
    pub fn of_planes(planes: &'a [T], channels: usize, sizes: Three) -> Self {
        let area = sizes.iter().product::<usize>();
        assert!(planes.len() == channels * area);
        let strides = [sizes[1] * sizes[2], sizes[2], 1].map(|s| s as isize);
        // SAFETY: IMAGE1: as many elements of the slice.
        unsafe { Image::new(planes.as_ptr(), (channels, area as isize), sizes, strides) }
    }
    /// The number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }
    /// The sizes of a channel.
    pub fn sizes(&self) -> Three {
        self.sizes
    }
    /// The stride along an axis.
    #[inline(always)]
    pub(super) fn stride(&self, axis: usize) -> isize {
        self.strides[axis]
    }
    /// Whether the channels of a pixel are contiguous.
    pub fn channels_are_near(&self) -> bool {
        self.channel_stride == 1 || self.channels == 1
    }
    /// A range of the channels. Panics if out of bounds.
    pub fn channels_of(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.channels);
        Image {
            at: self.row(range.start, 0, 0),
            channels: range.len(),
            ..self
        }
    }
    /// A range of positions along an axis. Panics if out of bounds.
    pub fn narrow(&self, axis: usize, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.sizes[axis]);
        let mut sizes = self.sizes;
        sizes[axis] = range.len();
        let at = (self.at).wrapping_offset(range.start as isize * self.strides[axis]);
        Image {
            at,
            sizes,
            channels: self.channels,
            channel_stride: self.channel_stride,
            strides: self.strides,
            _data: PhantomData,
        }
    }
    /// The address of a row of a channel; readable if the row is one of the image's (IMAGE1).
    #[inline(always)]
    pub(super) fn row(&self, channel: usize, z: usize, y: usize) -> *const T {
        self.at.wrapping_offset(
            channel as isize * self.channel_stride
                + z as isize * self.strides[0]
                + y as isize * self.strides[1],
        )
    }
    /// The distance in memory from the first element of the first channel to an element of a
    /// channel; neither need exist.
    #[inline(always)]
    pub(super) fn ahead(&self, channel: usize, element: [isize; 3]) -> isize {
        let [z, y, x] = [0, 1, 2].map(|axis| element[axis].wrapping_mul(self.strides[axis]));
        (channel as isize * self.channel_stride)
            .wrapping_add(z)
            .wrapping_add(y)
            .wrapping_add(x)
    }
    /// The distance between consecutive elements of a channel, if it is the same for all. Strides
    /// of axes of size 1 don't matter.
    fn line(&self) -> Option<isize> {
        if self.sizes.contains(&0) {
            return Some(1);
        }
        let (mut step, mut len) = (None, 1);
        for (n, s) in self.sizes.into_iter().zip(self.strides).rev() {
            match step {
                _ if n == 1 => continue,
                None => step = Some(s),
                Some(step) if s == step * len => {}
                Some(_) => return None,
            }
            len *= n as isize;
        }
        Some(step.unwrap_or(1))
    }
    /// Whether the elements of a channel are equally far apart.
    pub fn is_matrix(&self) -> bool {
        self.line().is_some()
    }
    /// Whether its elements are contiguous, in the order of their positions.
    pub(super) fn is_contiguous(&self) -> bool {
        let area = self.sizes.iter().product::<usize>();
        self.line().is_some_and(|step| step == 1 || area <= 1)
            && (self.channels <= 1 || self.channel_stride == area as isize)
    }
    /// Its channels as rows of a matrix. Panics if their elements are not equally far apart.
    pub fn matrix(&self) -> Mat<'a, T> {
        let (rows, cols) = (self.channels, self.sizes.iter().product());
        let Some(step) = self.line() else {
            panic!("elements of a channel are not on one line");
        };
        // SAFETY: MAT1: the image's elements (IMAGE1), equally far apart.
        unsafe { Mat::new(self.at, rows, cols, self.channel_stride, step) }
    }
    /// Whether the elements of each plane of a channel are equally far apart.
    pub fn planes_are_matrices(&self) -> bool {
        self.narrow(0, 0..self.sizes[0].min(1)).is_matrix()
    }
    /// The channels of plane `z` as rows of a matrix, if there is such a plane. Panics if their
    /// elements are not equally far apart.
    pub(super) fn plane(self, z: isize) -> Option<Mat<'a, T>> {
        let z = usize::try_from(z).ok().filter(|z| *z < self.sizes[0])?;
        Some(self.narrow(0, z..z + 1).matrix())
    }
    /// Its channels as rows of a matrix, if the elements of each are contiguous.
    pub fn planes(&self) -> Option<Mat<'a, T>> {
        let area = self.sizes.iter().product();
        let contiguous = self.line().is_some_and(|step| step == 1 || area <= 1);
        // SAFETY: MAT1: the image's elements (IMAGE1), which are contiguous.
        contiguous
            .then(|| unsafe { Mat::new(self.at, self.channels, area, self.channel_stride, 1) })
    }
    /// The row of channel `channel` that a tap reads, if there is one.
    #[inline(always)]
    pub(super) fn row_inside(&self, channel: usize, z: isize, y: isize) -> Option<*const T> {
        let inside = (z as usize) < self.sizes[0] && (y as usize) < self.sizes[1];
        inside.then(|| self.row(channel, z as usize, y as usize))
    }
}

/// Images of one layout.
///
/// Invariant IMAGE2: IMAGE1 holds for each of `count` images, the first and those that follow it
/// `stride` elements apart.
#[derive(Clone, Copy)]
pub struct Images<'a, T> {
    first: Image<'a, T>,
    stride: isize,
    count: usize,
}
impl<'a, T> Images<'a, T> {
    /// `count` images, `stride` elements apart.
    ///
    /// # Safety
    /// IMAGE2.
    pub unsafe fn new(first: Image<'a, T>, stride: isize, count: usize) -> Self {
        Images {
            first,
            stride,
            count,
        }
    }
    /// The first image; without any, its layout.
    #[inline(always)]
    pub(super) fn first(&self) -> &Image<'a, T> {
        &self.first
    }
    /// The number of images.
    pub(super) fn count(&self) -> usize {
        self.count
    }
    /// Image `i`. Panics if there is none.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> Image<'a, T> {
        assert!(i < self.count);
        let at = self.first.at.wrapping_offset(i as isize * self.stride);
        Image { at, ..self.first }
    }
}
impl<'a, T: MatElement> Images<'a, T> {
    /// The same elements as the type that they are moved as.
    pub fn moved(self) -> Images<'a, T::Moved> {
        Images {
            first: self.first.moved(),
            stride: self.stride,
            count: self.count,
        }
    }
}
impl<'a, T> From<Image<'a, T>> for Images<'a, T> {
    fn from(image: Image<'a, T>) -> Self {
        Images {
            first: image,
            stride: 0,
            count: 1,
        }
    }
}
