//! The primitive for float, int and bool tensors.

use crate::FlexDevice;
use crate::convert::{burn_dtype, done};
use burn_backend::{BoolDType, BoolStore, DType, TensorMetadata};
use burn_std::Shape;
use flex::{Result, Tensor};

/// A float, int or bool tensor of the backend [`Flex`](crate::Flex): a flex tensor, and what its
/// dtype does not say.
///
/// ```
/// use burn_backend::{DType, TensorMetadata};
/// use flex_burn::FlexTensor;
/// let x = FlexTensor::from(flex::Tensor::from([1.0f32, 2.0]));
/// assert_eq!((x.dtype(), x.shape().as_slice()), (DType::F32, &[2][..]));
/// assert!(x.can_mut());
/// let y = x.clone();
/// assert!(!x.can_mut() && x.tensor().shares_storage(y.tensor()));
/// assert_eq!(y.into_tensor().len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct FlexTensor {
    /// Of rank 1 at least, as Burn has no other tensors.
    tensor: Tensor,
    /// Burn's name for the bytes of a bool tensor, of which flex has one kind.
    store: BoolStore,
}

impl FlexTensor {
    /// The tensor.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }
    /// Its dtype, without the trait of that name in scope, as packages of Burn have it.
    pub fn dtype(&self) -> DType {
        burn_dtype(self.tensor.dtype(), self.store)
    }
    /// The tensor alone.
    pub fn into_tensor(self) -> Tensor {
        self.tensor
    }
    /// A bool tensor under Burn's name for its bytes. Panics for one that takes words.
    #[track_caller]
    pub(crate) fn of_bool(tensor: Tensor, dtype: BoolDType) -> FlexTensor {
        let store = match dtype {
            BoolDType::Native => BoolStore::Native,
            BoolDType::U8 => BoolStore::U8,
            other => panic!("flex has bools of one byte, not {other:?}"),
        };
        FlexTensor {
            store,
            ..FlexTensor::from(tensor)
        }
    }
    /// The name of the bytes of a bool tensor.
    pub(crate) fn store(&self) -> BoolStore {
        self.store
    }
    /// A function of the tensor of the same kind. Panics if it fails.
    #[track_caller]
    pub(crate) fn map(self, f: impl FnOnce(Tensor) -> Result<Tensor>) -> FlexTensor {
        let store = self.store;
        FlexTensor {
            store,
            ..FlexTensor::from(done(f(self.tensor)))
        }
    }
    /// The same for a function that borrows the tensor, such as a view.
    #[track_caller]
    pub(crate) fn view(self, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> FlexTensor {
        self.map(|x| f(&x))
    }
}

impl From<Tensor> for FlexTensor {
    fn from(tensor: Tensor) -> FlexTensor {
        let tensor = match tensor.rank() {
            0 => done(tensor.reshape(1)),
            _ => tensor,
        };
        FlexTensor {
            tensor,
            store: BoolStore::Native,
        }
    }
}

impl TensorMetadata for FlexTensor {
    type Device = FlexDevice;

    fn dtype(&self) -> DType {
        self.dtype()
    }
    fn shape(&self) -> Shape {
        Shape::from(self.tensor.shape())
    }
    fn rank(&self) -> usize {
        self.tensor.rank()
    }
    fn device(&self) -> FlexDevice {
        FlexDevice
    }
    fn can_mut(&self) -> bool {
        self.tensor.storage().is_unique()
    }
}
