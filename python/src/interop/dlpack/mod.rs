//! DLPack: tensors exchanged by a pointer in a capsule, versioned (1.x) and legacy (0.x).
//! The structs are those of `dlpack.h`; see <https://dmlc.github.io/dlpack/latest/c_api.html>.

mod export;
mod import;

use flex::DType;
use std::ffi::{CStr, c_void};

pub use import::import;

/// The names of capsules before and after a consumer has taken their tensor.
struct Names {
    fresh: &'static CStr,
    used: &'static CStr,
}
const VERSIONED: Names = Names {
    fresh: c"dltensor_versioned",
    used: c"used_dltensor_versioned",
};
const LEGACY: Names = Names {
    fresh: c"dltensor",
    used: c"used_dltensor",
};

/// `kDLCPU`.
const CPU: i32 = 1;
/// The version implemented here.
const VERSION: Version = Version { major: 1, minor: 1 };
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`.
const IS_COPIED: u64 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

impl DataType {
    fn of(dtype: DType) -> DataType {
        DataType {
            code: dtype.dlpack_code(),
            bits: 8 * dtype.size() as u8,
            lanes: 1,
        }
    }
    fn dtype(self) -> Option<DType> {
        DType::ALL.into_iter().find(|d| {
            d.dlpack_code() == self.code && d.size() * 8 == self.bits as usize && self.lanes == 1
        })
    }
}

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    /// In elements; null for row-major.
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned`. Of another major version, only the first three fields may be read.
#[repr(C)]
struct Versioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

/// Common to both structs: a deleter that takes the struct itself.
trait Managed {
    const NAMES: Names;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
}
impl Managed for Versioned {
    const NAMES: Names = VERSIONED;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}
impl Managed for Legacy {
    const NAMES: Names = LEGACY;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}
