//! Values in and out, without copies.

use crate::common::*;
use burn_backend::ops::{FloatTensorOps, IntTensorOps, TransactionPrimitive};
use burn_backend::{Backend, BoolDType, DType, FloatDType, TensorData, TensorMetadata};
use burn_std::reader::try_read_sync;
use burn_std::{Bytes, Reader, Writer};
use flex_burn::{Flex, FlexTensor};

const LONG: usize = 100_000;

fn read(x: FlexTensor) -> TensorData {
    try_read_sync(Flex::float_into_data(x)).unwrap().unwrap()
}

#[test]
fn a_vector_is_adopted() {
    let values: Vec<f32> = (0..LONG).map(|i| i as f32).collect();
    let first = values.as_ptr();
    let x = Flex::float_from_data(TensorData::new(values, [LONG]), &DEVICE);
    assert_eq!(x.tensor().as_ptr(), first.cast());
    assert!(x.can_mut());
    // and written to in place
    let y = Flex::float_add_scalar(x, 1.into());
    assert_eq!(y.tensor().as_ptr(), first.cast());
    // and handed out
    let data = read(y);
    assert_eq!(data.as_slice::<f32>().unwrap().as_ptr(), first);
    assert_eq!(data.as_slice::<f32>().unwrap()[..3], [1.0, 2.0, 3.0]);
}

#[test]
fn other_memory_is_borrowed() {
    let values: Vec<f32> = (0..LONG).map(|i| i as f32).collect();
    let bytes = Bytes::from_elems(values).shared();
    let other = bytes.clone();
    let x = Flex::float_from_data(TensorData::from_bytes(bytes, [LONG], DType::F32), &DEVICE);
    assert_eq!(x.tensor().as_ptr(), other.as_ptr());
    assert!(!x.can_mut());
    // a write goes elsewhere
    let y = Flex::float_mul_scalar(x.clone(), 2.into());
    assert_ne!(y.tensor().as_ptr(), other.as_ptr());
    assert_eq!(other[4..8], 1f32.to_ne_bytes());
    // and so does one of another handle
    let mut third = other.clone();
    third.write(Writer::new()).unwrap().fill(0);
    assert_eq!(array(x).values[3], 3.0);
}

#[test]
fn a_file_is_read_where_it_is_needed() {
    let path = std::env::temp_dir().join(format!("flex-burn-{}.bin", std::process::id()));
    let values: Vec<u8> = (0..LONG).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    std::fs::write(&path, &values).unwrap();
    let bytes = Bytes::from_file(&path, values.len() as u64, 0);
    let x = Flex::float_from_data(TensorData::from_bytes(bytes, [LONG], DType::F32), &DEVICE);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(array(x).values[LONG - 1], (LONG - 1) as f64);
}

#[test]
fn a_tensor_is_handed_out() {
    let x = Flex::float_random(
        shape(&[300, 300]),
        Default::default(),
        &DEVICE,
        FloatDType::F32,
    );
    let first = x.tensor().as_ptr();
    let values = array(x.clone());
    let mut data = read(x.clone());
    assert_eq!(data.bytes().as_ptr(), first);
    assert_eq!(
        data.bytes().read(Reader::new().no_copy()).unwrap().as_ptr(),
        first
    );
    // the tensor keeps its values while others write
    data.as_mut_slice::<f32>().unwrap().fill(7.0);
    assert_ne!(data.bytes().as_ptr(), first);
    assert_eq!(array(x.clone()), values);
    let copy = read(x.clone());
    drop(x);
    assert_eq!(copy.clone(), copy);
    assert_eq!(copy.try_into_vec::<f32>().unwrap().len(), 90_000);

    // of a part that keeps too much alive, and of one that is not row-major, there is a copy
    let x = Flex::float_random(
        shape(&[300, 300]),
        Default::default(),
        &DEVICE,
        FloatDType::F32,
    );
    let part = Flex::float_slice(x.clone(), &[burn_backend::Slice::new(0, Some(10), 1)]);
    assert_ne!(read(part).bytes().as_ptr(), x.tensor().as_ptr());
    let turned = Flex::float_transpose(x.clone());
    assert_ne!(read(turned).bytes().as_ptr(), x.tensor().as_ptr());
}

#[test]
fn all_dtypes_there_and_back() {
    for sizes in [vec![0], vec![1], vec![3, 5], vec![50, 60, 2]] {
        let a = Array::integers(&sizes, 0, 90, 1);
        for layout in 0..LAYOUTS {
            for dtype in FLOATS {
                equal(floats(&a, dtype, layout), &a, dtype);
            }
            for dtype in INTS {
                equal(ints(&a, dtype, layout), &a, dtype);
            }
            let bits = a.map(|x| (x > 40.0).into());
            equal(bools(&bits, layout), &bits, BoolDType::Native);
        }
    }
    // Flex32 is float32
    let data = TensorData::from_bytes_vec(vec![0; 8], [2], DType::Flex32);
    assert_eq!(Flex::float_from_data(data, &DEVICE).dtype(), DType::F32);
}

#[test]
fn transactions() {
    let a = Array::integers(&[3], 0, 9, 1);
    let mut all = TransactionPrimitive::<Flex>::default();
    all.register_int(ints(&a, INTS[1], 0));
    all.register_float(burn_backend::TensorPrimitive::Float(floats(
        &a, FLOATS[0], 0,
    )));
    all.register_bool(Flex::int_greater_elem(
        ints(&a, INTS[1], 0),
        4.into(),
        BoolDType::Native,
    ));
    let read = try_read_sync(all.execute_async()).unwrap().unwrap();
    assert_eq!(read[0], data(&a, DType::I32));
    assert_eq!(read[1], data(&a, DType::F64));
    assert_eq!(read[2].iter::<bool>().count(), 3);
}

#[test]
fn the_device() {
    use burn_backend::{DTypeUsage, DeviceOps};
    assert_eq!(format!("{DEVICE:?} {DEVICE}"), "Cpu Cpu");
    assert_eq!((Flex::device_count(0), DEVICE.id().index_id), (1, 0));
    let settings = DEVICE.defaults();
    assert_eq!(DType::from(settings.float_dtype), DType::F32);
    assert_eq!(DType::from(settings.int_dtype), DType::I32);
    for dtype in FLOATS
        .map(DType::from)
        .into_iter()
        .chain(INTS.map(DType::from))
    {
        assert!(Flex::supports_dtype(&DEVICE, dtype));
    }
    let words = DType::Bool(burn_backend::BoolStore::U32);
    assert!(!Flex::dtype_usage(&DEVICE, words).contains(DTypeUsage::Storage));
    Flex::sync(&DEVICE).unwrap();
    Flex::flush(&DEVICE).unwrap();
    Flex::memory_cleanup(&DEVICE);
}

#[test]
fn handles() {
    use burn_ir::{BackendIr, TensorHandle};
    let a = Array::integers(&[3], 0, 9, 1);
    let handle = |x: FlexTensor| TensorHandle {
        shape: x.shape(),
        handle: Flex::float_tensor_handle(x),
    };
    equal(
        Flex::float_tensor(handle(floats(&a, FLOATS[1], 0))),
        &a,
        FLOATS[1],
    );
    let wrong = handle(floats(&a, FLOATS[1], 0));
    let message = panic_message(std::panic::AssertUnwindSafe(move || {
        Flex::int_tensor(wrong)
    }));
    assert!(message.contains("float"), "{message}");
}
