//! Pools: Burn's options as flex's, which pads by half a window at most. A wider padding is written out.

use alloc::vec::Vec;
use burn_backend::ops::conv::calculate_pool_output_size;
use flex::nn::{AvgPool, MaxPool, PerAxis};
use flex::{DType, Result, Scalar, Tensor, ops};

/// The numbers of an option: one for lines, two for images.
pub(super) trait Sizes: Copy + Into<PerAxis> {
    const ONE: Self;
    fn list(self) -> Vec<usize>;
}
impl Sizes for usize {
    const ONE: usize = 1;
    fn list(self) -> Vec<usize> {
        alloc::vec![self]
    }
}
impl Sizes for [usize; 2] {
    const ONE: [usize; 2] = [1, 1];
    fn list(self) -> Vec<usize> {
        self.to_vec()
    }
}

/// A distance of one between taps.
pub(super) fn one<S: Sizes>(_: S) -> S {
    S::ONE
}

/// What pools see of an image.
pub(super) struct Window<S> {
    pub kernel: S,
    pub stride: S,
    pub padding: S,
    pub dilation: S,
    pub ceil_mode: bool,
}

impl<S: Sizes> Window<S> {
    /// The padding beyond half the window, along each axis.
    fn excess(&self) -> Vec<usize> {
        let axes = self.kernel.list().into_iter().zip(self.dilation.list());
        let half = axes.map(|(kernel, dilation)| (dilation * (kernel - 1)).div_ceil(2));
        let beyond = |(padding, half): (usize, usize)| padding.saturating_sub(half);
        self.padding
            .list()
            .into_iter()
            .zip(half)
            .map(beyond)
            .collect()
    }
    /// The padding but for the excess.
    fn within(&self, excess: &[usize]) -> PerAxis {
        let rest = self.padding.list().into_iter().zip(excess);
        PerAxis::from(&rest.map(|(p, e)| p - e).collect::<Vec<_>>()[..])
    }
    fn average(&self, padding: PerAxis, count_include_pad: bool) -> AvgPool {
        AvgPool {
            stride: Some(self.stride.into()),
            padding,
            ceil_mode: self.ceil_mode,
            count_include_pad,
            ..Default::default()
        }
    }
    fn largest(&self, padding: PerAxis) -> MaxPool {
        MaxPool {
            stride: Some(self.stride.into()),
            padding,
            dilation: self.dilation.into(),
            ceil_mode: self.ceil_mode,
        }
    }
    /// The results for the windows that begin in the image or the padding before it: of an image with
    /// the excess written out, flex finds others in the padding behind it.
    fn begun(&self, y: Tensor, image: &[usize]) -> Result<Tensor> {
        let (kernel, stride) = (self.kernel.list(), self.stride.list());
        let (padding, dilation) = (self.padding.list(), self.dilation.list());
        (0..kernel.len()).try_fold(y, |y, k| {
            let (axis, size, ceil) = (k + 2, image[k + 2], self.ceil_mode);
            let n = calculate_pool_output_size(
                kernel[k],
                stride[k],
                padding[k],
                dilation[k],
                size,
                ceil,
            );
            y.narrow(axis, 0, n)
        })
    }

    /// An average pool, by flex's `pool`.
    pub fn mean(
        &self,
        x: &Tensor,
        count_include_pad: bool,
        pool: impl Fn(&Tensor, AvgPool) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let excess = self.excess();
        if excess.iter().all(|e| *e == 0) {
            return pool(x, self.average(self.padding.into(), count_include_pad));
        }
        let y = pool(
            &widened(x, &excess, 0.0)?,
            self.average(self.within(&excess), true),
        )?;
        let y = match count_include_pad {
            true => y,
            false => ops::divide(y, self.share(x, &excess, pool)?)?,
        };
        self.begun(y, x.shape())
    }
    /// The share of elements of the image in each window.
    fn share(
        &self,
        x: &Tensor,
        excess: &[usize],
        pool: impl Fn(&Tensor, AvgPool) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let mut shape = x.shape().to_vec();
        shape[..2].fill(1);
        let ones = widened(&ops::ones(shape, x.dtype())?, excess, 0.0)?;
        pool(&ones, self.average(self.within(excess), true))
    }
    /// The gradient of [`mean`](Window::mean), by flex's `backward` for images of a shape.
    pub fn mean_backward(
        &self,
        x: &Tensor,
        grad: &Tensor,
        count_include_pad: bool,
        pool: impl Fn(&Tensor, AvgPool) -> Result<Tensor>,
        backward: impl Fn(&Tensor, &[usize], AvgPool) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let excess = self.excess();
        if excess.iter().all(|e| *e == 0) {
            return backward(
                grad,
                x.shape(),
                self.average(self.padding.into(), count_include_pad),
            );
        }
        let share = self.share(x, &excess, pool)?;
        // nothing for windows that only flex sees
        let sizes = share.shape().iter().zip(grad.shape()).enumerate();
        let behind = sizes.map(|(k, (all, n))| (0, if k < 2 { 0 } else { all - n }));
        let behind: Vec<(usize, usize)> = behind.collect();
        let grad = grad.pad(&behind, 0.0)?;
        let grad = match count_include_pad {
            true => grad,
            false => ops::divide(grad, share)?,
        };
        let mut shape = x.shape().to_vec();
        for (size, e) in shape[2..].iter_mut().zip(&excess) {
            *size += 2 * e;
        }
        let dx = backward(&grad, &shape, self.average(self.within(&excess), true))?;
        excess
            .iter()
            .enumerate()
            .try_fold(dx, |dx, (k, e)| dx.narrow(k + 2, *e, x.shape()[k + 2]))
    }

    /// A maximum pool, by flex's `pool`.
    pub fn most(
        &self,
        x: &Tensor,
        pool: impl Fn(&Tensor, MaxPool) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let excess = self.excess();
        if excess.iter().all(|e| *e == 0) {
            return pool(x, self.largest(self.padding.into()));
        }
        let y = pool(
            &widened(x, &excess, f64::NEG_INFINITY)?,
            self.largest(self.within(&excess)),
        )?;
        self.begun(y, x.shape())
    }
    /// The same with the positions of the maxima in the plane.
    pub fn most_with_indices(
        &self,
        x: &Tensor,
        pool: impl Fn(&Tensor, MaxPool) -> Result<(Tensor, Tensor)>,
    ) -> Result<(Tensor, Tensor)> {
        let excess = self.excess();
        if excess.iter().all(|e| *e == 0) {
            return pool(x, self.largest(self.padding.into()));
        }
        let padded = widened(x, &excess, f64::NEG_INFINITY)?;
        let (y, mut rest) = pool(&padded, self.largest(self.within(&excess)))?;
        // from positions in the padded plane to those in the image, from the last axis to the first
        let mut at = Tensor::zeros(rest.shape(), DType::I64)?;
        let mut step = 1;
        for (k, e) in excess.iter().enumerate().rev() {
            let (size, wide) = (x.shape()[k + 2], padded.shape()[k + 2]);
            let along = ops::subtract(ops::remainder(&rest, wide)?, *e)?;
            let along = ops::clip(along, 0, size.max(1) - 1)?;
            at = ops::add(at, ops::multiply(along, step)?)?;
            rest = ops::floor_divide(rest, wide)?;
            step *= size;
        }
        Ok((self.begun(y, x.shape())?, self.begun(at, x.shape())?))
    }
}

/// With elements of a value around the spatial axes.
fn widened(x: &Tensor, excess: &[usize], value: f64) -> Result<Tensor> {
    let mut widths = alloc::vec![(0, 0); 2];
    widths.extend(excess.iter().map(|e| (*e, *e)));
    x.pad(&widths, Scalar::Float(value))
}

/// `pools! { Sizes avg_pool .. }`: the methods of the pools whose options are `Sizes`.
macro_rules! pools {
    ($($Sizes:ty, $WithIndices:ident $Backward:ident $avg:ident $avg_backward:ident $adaptive:ident $adaptive_backward:ident
       $max:ident $max_with:ident $max_backward:ident;)*) => { $(
        fn $avg(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> FlexTensor {
            let kernel = kernel_size;
            let window = pool::Window { kernel, stride, padding, dilation: pool::one(kernel), ceil_mode };
            x.view(|x| window.mean(x, count_include_pad, |x, how| nn::$avg(x, kernel, how)))
        }
        fn $avg_backward(
            x: FlexTensor,
            grad: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> FlexTensor {
            let kernel = kernel_size;
            let window = pool::Window { kernel, stride, padding, dilation: pool::one(kernel), ceil_mode };
            let forward = |x: &Tensor, how| nn::$avg(x, kernel, how);
            let backward = |g: &Tensor, shape: &[usize], how| nn::grad::$avg(g, shape, kernel, how);
            grad.view(|g| window.mean_backward(x.tensor(), g, count_include_pad, forward, backward))
        }
        fn $adaptive(x: FlexTensor, output_size: $Sizes) -> FlexTensor {
            x.view(|x| nn::$adaptive(x, output_size))
        }
        fn $adaptive_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
            grad.view(|grad| nn::grad::$adaptive(grad, x.tensor().shape()))
        }
        fn $max(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            dilation: $Sizes,
            ceil_mode: bool,
        ) -> FlexTensor {
            let window = pool::Window { kernel: kernel_size, stride, padding, dilation, ceil_mode };
            x.view(|x| window.most(x, |x, how| nn::$max(x, kernel_size, how)))
        }
        fn $max_with(
            x: FlexTensor,
            kernel_size: $Sizes,
            stride: $Sizes,
            padding: $Sizes,
            dilation: $Sizes,
            ceil_mode: bool,
            indices_dtype: IntDType,
        ) -> $WithIndices<Flex> {
            let window = pool::Window { kernel: kernel_size, stride, padding, dilation, ceil_mode };
            let by = |x: &Tensor, how| nn::$max_with(x, kernel_size, how);
            let (output, indices) = done(window.most_with_indices(x.tensor(), by));
            $WithIndices::new(output.into(), done(indices.astype(int(indices_dtype))).into())
        }
        fn $max_backward(
            x: FlexTensor,
            _: $Sizes,
            _: $Sizes,
            _: $Sizes,
            _: $Sizes,
            _: bool,
            output_grad: FlexTensor,
            indices: FlexTensor,
        ) -> $Backward<Flex> {
            $Backward::new(output_grad.view(|grad| {
                let indices = indices.tensor().astype(DType::I64)?;
                nn::grad::$max(grad, &indices, x.tensor().shape())
            }))
        }
    )* };
}
pub(super) use pools;
