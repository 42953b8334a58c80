//! Chains of operations in one pass: Burn's [`Fusion`] queues operations and asks a fuser which of
//! them to run together; flex's streams plan and run these.
//!
//! ```text
//! fuser         how far the operations of a queue are taken together
//! call          Burn's operations as those of a stream
//! optimization  the operations that were taken, and how they run
//! ```
//!
//! ```
//! use burn_backend::{TensorData, ops::FloatTensorOps};
//! use burn_std::reader::try_read_sync;
//! use flex_burn::{Flex, FlexDevice, Fusion};
//! type B = Fusion<Flex>;
//!
//! let x = B::float_from_data(TensorData::from([1.0f32, 4.0]), &FlexDevice);
//! let y = B::float_add_scalar(B::float_sqrt(x), 1.0.into()); // one pass, when it is read
//! let data = try_read_sync(B::float_into_data(y)).unwrap().unwrap();
//! assert_eq!(data, TensorData::from([2.0f32, 3.0]));
//! ```
//!
//! Burn finds a sequence of operations again by their relative form, in which tensors are numbered,
//! sizes only say which are equal, and numbers are left out. flex's plans leave out the same, so a
//! sequence is planned once, for all sizes and numbers.

mod call;
mod fuser;
mod optimization;

pub use burn_fusion::Fusion;
pub use optimization::Chain;

use crate::convert::float;
use crate::{Flex, FlexDevice, FlexTensor};
use burn_backend::DType;
use burn_fusion::{FusionBackend, FusionRuntime, OperationFuser};
use burn_ir::{HandleKind, OperationIr};
use fuser::Fuser;

/// What runs the operations that [`Fusion`] queues.
#[derive(Debug)]
pub struct FlexFusion;

impl FusionRuntime for FlexFusion {
    type OptimizationState = Vec<OperationIr>;
    type Optimization = Chain;
    type FusionHandle = HandleKind<Flex>;
    type FusionDevice = FlexDevice;

    fn fusers(_: FlexDevice) -> Vec<Box<dyn OperationFuser<Chain>>> {
        vec![Box::new(Fuser::default())]
    }
}

impl FusionBackend for Flex {
    type FusionRuntime = FlexFusion;
    type FullPrecisionBackend = Flex;

    fn cast_float(tensor: FlexTensor, dtype: DType) -> HandleKind<Flex> {
        HandleKind::Float(tensor.view(|x| x.astype(float(dtype.into()))))
    }
}
