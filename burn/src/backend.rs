//! The backend and its device.

use crate::{FlexQTensor, FlexTensor, random};
use alloc::string::String;
use burn_backend::distributed::DistributedOps;
use burn_backend::ops::TransactionOps;
use burn_backend::quantization::quantizable;
use burn_backend::{
    Backend, BackendTypes, BoolStore, DType, DTypeUsage, DTypeUsageSet, DeviceId, DeviceOps,
    ExecutionError, GraphUnsupported,
};
use burn_ir::{BackendIr, HandleKind, TensorHandle};
use burn_std::device::Device;
use burn_std::{DeviceSettings, QuantConfig, QuantScheme, QuantStore};
use core::fmt;

/// The one device of the backend [`Flex`]: the processor.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FlexDevice;

impl Device for FlexDevice {
    fn to_id(&self) -> DeviceId {
        DeviceId::new(0, 0)
    }
    fn from_id(_: DeviceId) -> FlexDevice {
        FlexDevice
    }
}
impl DeviceOps for FlexDevice {
    fn defaults(&self) -> DeviceSettings {
        DeviceSettings::new(
            DType::F32,
            DType::I32,
            DType::Bool(BoolStore::Native),
            QuantConfig::new(
                QuantScheme::default().with_store(QuantStore::Native),
                Default::default(),
            ),
        )
    }
}
impl fmt::Display for FlexDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cpu")
    }
}
impl fmt::Debug for FlexDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The backend: Burn's operations, computed by flex on the processor.
///
/// ```
/// use burn_backend::{Backend, DType};
/// use flex_burn::{Flex, FlexDevice};
/// assert_eq!(Flex::name(&FlexDevice), "flex");
/// assert!(Flex::supports_dtype(&FlexDevice, DType::BF16));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Flex {}

impl BackendTypes for Flex {
    type Device = FlexDevice;
    type FloatTensorPrimitive = FlexTensor;
    type IntTensorPrimitive = FlexTensor;
    type BoolTensorPrimitive = FlexTensor;
    type QuantizedTensorPrimitive = FlexQTensor;
    type GraphPrimitive = GraphUnsupported;
}

impl Backend for Flex {
    fn name(_: &FlexDevice) -> String {
        "flex".into()
    }
    fn seed(_: &FlexDevice, seed: u64) {
        random::seed(seed)
    }
    fn flush(_: &FlexDevice) -> Result<(), ExecutionError> {
        Ok(())
    }
    fn device_count(_: u16) -> usize {
        1
    }
    fn dtype_usage(_: &FlexDevice, dtype: DType) -> DTypeUsageSet {
        match dtype {
            DType::Bool(BoolStore::U32) => DTypeUsageSet::empty(),
            DType::QFloat(scheme) if quantizable(&scheme) => DTypeUsage::Storage.into(),
            DType::QFloat(_) => DTypeUsageSet::empty(),
            _ => DTypeUsage::general(),
        }
    }
    #[cfg(feature = "std")]
    fn memory_cleanup(_: &FlexDevice) {
        flex::empty_cache();
    }
}

// Reading one tensor after the other is what a processor does; and there is one device.
impl TransactionOps<Flex> for Flex {}
impl DistributedOps<Flex> for Flex {}

macro_rules! handles {
    ($($kind:ident $Tensor:ident $take:ident $make:ident;)*) => {
        impl BackendIr for Flex {
            type Handle = HandleKind<Flex>;

            $(fn $take(handle: TensorHandle<Self::Handle>) -> $Tensor {
                match handle.handle {
                    HandleKind::$kind(tensor) => tensor,
                    other => panic!("the handle is of a tensor of {}, not of {}", other.name(), stringify!($kind)),
                }
            }
            fn $make(tensor: $Tensor) -> Self::Handle {
                HandleKind::$kind(tensor)
            })*
        }
    };
}
handles! {
    Float FlexTensor float_tensor float_tensor_handle;
    Int FlexTensor int_tensor int_tensor_handle;
    Bool FlexTensor bool_tensor bool_tensor_handle;
    Quantized FlexQTensor quantized_tensor quantized_tensor_handle;
}
