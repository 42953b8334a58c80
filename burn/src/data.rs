//! `TensorData` in and out, without copies where its memory allows.

use crate::FlexTensor;
use crate::convert::{burn_dtype, done, flex_dtype};
use alloc::boxed::Box;
use alloc::vec::Vec;
use burn_backend::{BoolStore, DType, TensorData};
use burn_std::{AccessError, AccessPolicy, AllocationController, AllocationProperty, Bytes, Shape};
use core::mem::MaybeUninit;
use flex::{Layout, Tensor};

/// What is smaller is copied: that takes less time than sharing it.
const SHARED: usize = 4096;

/// `elements!(dtype, |T| value)`: the value for the element type of a dtype; bools as bytes.
macro_rules! elements {
    ($dtype:expr, |$T:ident| $value:expr) => {
        elements!($dtype, |$T| $value, F64 f64, F32 f32, F16 burn_std::f16, BF16 burn_std::bf16, I64 i64, I32 i32, I16 i16,
            I8 i8, U64 u64, U32 u32, U16 u16, U8 u8, Bool u8)
    };
    ($dtype:expr, |$T:ident| $value:expr, $($V:ident $E:ty),*) => {
        match $dtype {
            $(flex::DType::$V => {
                type $T = $E;
                $value
            })*
            other => panic!("Burn has no tensors of {other}"),
        }
    };
}

impl FlexTensor {
    /// The tensor of these values. A vector's memory is adopted, other memory borrowed.
    ///
    /// Panics for quantised values, and if lazy storage cannot be read.
    ///
    /// ```
    /// use burn_backend::TensorData;
    /// use flex_burn::FlexTensor;
    /// let values = vec![1.0f32; 10_000];
    /// let first = values.as_ptr();
    /// let x = FlexTensor::from_data(TensorData::new(values, [100, 100]));
    /// assert_eq!(x.tensor().as_ptr(), first.cast());
    /// ```
    pub fn from_data(data: TensorData) -> FlexTensor {
        // bools of four bytes, which programs for graphics processors may hold
        let data = match data.dtype() {
            DType::Bool(BoolStore::U32) => data.convert_dtype(DType::Bool(BoolStore::Native)),
            _ => data,
        };
        let (bytes, shape, dtype) = data.into_parts();
        let (of, shape) = (flex_dtype(dtype), shape.as_slice());
        let tensor = elements!(of, |T| match bytes.try_into_vec::<T>() {
            Ok(values) => done(Tensor::from_vec(values, shape)),
            Err(bytes) => borrowed(bytes, shape, of),
        });
        // bools of a byte have one byte each
        let tensor = match of {
            flex::DType::Bool => done(tensor.bitcast(of)),
            _ => tensor,
        };
        match dtype {
            DType::Bool(BoolStore::U8) => FlexTensor::of_bool(tensor, burn_backend::BoolDType::U8),
            _ => tensor.into(),
        }
    }

    /// Its values in row-major order. The memory is shared where they lie so.
    ///
    /// ```
    /// use flex_burn::FlexTensor;
    /// let x = flex::Tensor::zeros((100, 100), flex::DType::F32).unwrap();
    /// let data = FlexTensor::from(x.clone()).into_data();
    /// assert_eq!(data.as_slice::<f32>().unwrap().as_ptr(), x.as_ptr().cast());
    /// ```
    pub fn into_data(self) -> TensorData {
        let (dtype, store) = (self.tensor().dtype(), self.store());
        let tensor = self.into_tensor();
        let shape = Shape::from(tensor.shape());
        let len = tensor.len() * dtype.size();
        // a small part would keep the whole alive
        let most = 2 * len >= tensor.storage().len();
        let bytes = if len >= SHARED && (most || !tensor.is_contiguous()) {
            let tensor = done(tensor.contiguous());
            // SAFETY: the controller's memory has these bytes, initialised (STORAGE1).
            unsafe { Bytes::from_controller(Box::new(Shared(tensor)), len) }
        } else {
            let tensor = match dtype {
                flex::DType::Bool => done(tensor.bitcast(flex::DType::U8)),
                _ => tensor,
            };
            elements!(dtype, |T| Bytes::from_elems(done(tensor.to_vec::<T>())))
        };
        TensorData::from_bytes(bytes, shape, burn_dtype(dtype, store))
    }
}

/// A tensor of bytes that stay where they are, or a copy if they are few, or not aligned.
fn borrowed(bytes: Bytes, shape: &[usize], dtype: flex::DType) -> Tensor {
    let dtype = match dtype {
        flex::DType::Bool => flex::DType::U8, // bitcast to bool by the caller
        dtype => dtype,
    };
    // reading may fetch the bytes from a file: they have their place afterwards
    let (first, len) = (bytes.as_ptr(), bytes.len());
    let aligned = (first as usize).is_multiple_of(dtype.size());
    if len >= SHARED && aligned {
        // SAFETY: the bytes live as long as their owner, which nobody can write to any more: this
        // is its only handle, and handles to shared memory copy before they write.
        let bytes = unsafe { flex::Bytes::constant(first, len, Box::new(bytes)) };
        return done(Tensor::from_parts(
            bytes,
            done(Layout::contiguous(shape)),
            dtype,
        ));
    }
    let mut copy = done(Tensor::empty(shape, dtype));
    let to = done(copy.as_mut_ptr());
    assert_eq!(copy.len() * dtype.size(), len, "{shape:?} of {dtype}");
    // SAFETY: a fresh tensor of as many bytes, which nobody else has.
    unsafe { core::ptr::copy_nonoverlapping(first, to, len) };
    copy
}

/// A contiguous tensor as the memory of Burn's bytes.
struct Shared(Tensor);

impl Shared {
    fn len(&self) -> usize {
        self.0.len() * self.0.dtype().size()
    }
}

impl AllocationController for Shared {
    fn alloc_align(&self) -> usize {
        self.0.dtype().size()
    }
    fn property(&self) -> AllocationProperty {
        AllocationProperty::Other
    }
    fn capacity(&self) -> usize {
        self.len()
    }
    fn memory(&self, _: AccessPolicy) -> Result<&[MaybeUninit<u8>], AccessError> {
        // SAFETY: a contiguous tensor's bytes, which it keeps alive; nobody writes to them while it
        // shares them (STORAGE3).
        Ok(unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), self.len()) })
    }
    unsafe fn memory_mut(
        &mut self,
        policy: AccessPolicy,
    ) -> Result<&mut [MaybeUninit<u8>], AccessError> {
        if self.0.get_mut_ptr().is_none() && !policy.copy_allowed() {
            return Err(AccessError::WouldCopy);
        }
        let len = self.len();
        let first = done(self.0.as_mut_ptr());
        // SAFETY: a contiguous tensor's bytes, which nobody else shares after the line above
        // (STORAGE3). The caller promises to leave them initialised.
        Ok(unsafe { core::slice::from_raw_parts_mut(first.cast(), len) })
    }
    fn duplicate(&self) -> Option<Box<dyn AllocationController>> {
        Some(Box::new(Shared(self.0.clone())))
    }
}

/// The elements as float32, in row-major order.
pub(crate) fn singles(x: &Tensor) -> Vec<f32> {
    done(x.astype(flex::DType::F32).and_then(|x| x.to_vec::<f32>()))
}
