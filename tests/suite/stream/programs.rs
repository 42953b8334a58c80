//! Programs run with their operands' memory, other numbers, and an account of their traffic; the
//! state of a queue.

use flex::stream::{Graph, Op, Rounding, Stream, Traffic};
use flex::{DType, Tensor};
use std::sync::Arc;

#[test]
fn programs_run_in_their_operands_memory_and_count_it() {
    let n = 1000;
    let mut graph = Graph::new();
    let (x, y) = (graph.input(&[n], DType::F32), graph.input(&[n], DType::F32));
    let factor = graph.number(2.0);
    let scaled = graph
        .apply(Op::Multiply, &[x.into(), factor.into()])
        .unwrap();
    let sum = graph.apply(Op::Add, &[scaled.into(), y.into()]).unwrap();
    let program = graph.compile(&[sum], Rounding::Once).unwrap();
    let inputs =
        || [Tensor::ones(n, DType::F32), Tensor::full(n, 3, DType::F32)].map(Result::unwrap);

    let mut traffic = Traffic::default();
    let kept = inputs();
    let sums = program.run_counted(kept.to_vec(), &mut traffic).unwrap();
    assert_eq!(sums[0], Tensor::full(n, 5, DType::F32).unwrap());
    // two operands of four bytes an element are read, one result is written
    assert_eq!(
        (traffic.read, traffic.written, traffic.moved()),
        (8 * n, 4 * n, 12 * n)
    );
    assert_eq!((traffic.allocated, traffic.kernels), (4 * n, 1));
    // it adds to what was counted before
    program.run_counted(kept.to_vec(), &mut traffic).unwrap();
    assert_eq!((traffic.moved(), traffic.kernels), (24 * n, 2));
    drop(kept);

    let inputs = inputs().to_vec();
    let places: Vec<_> = inputs.iter().map(Tensor::as_ptr).collect();
    let halved = program.with_numbers(&[0.5.into()]).unwrap();
    let sums = halved.run_owned(inputs).unwrap();
    assert_eq!(sums[0], Tensor::full(n, 3.5, DType::F32).unwrap());
    assert!(places.contains(&sums[0].as_ptr()));
    assert!(program.with_numbers(&[]).is_err());
    assert!(program.with_numbers(&[true.into()]).is_err()); // of another kind
}

#[test]
fn results_and_operands_of_functions_are_stored_in_their_own_dtype() {
    let of = |dtype, seen: DType| {
        let mut graph = Graph::new();
        let x = graph.input(&[2], DType::F16);
        let sum = graph.apply(Op::Add, &[x.into(), x.into()]).unwrap();
        let kept = Arc::new(move |x: &[Tensor]| {
            assert_eq!(x[0].dtype(), DType::F16);
            x[0].astype(seen)
        });
        let kept = graph.call("keep", &[sum], &[2], dtype, kept);
        let y = graph.apply(Op::Negative, &[kept.into()]).unwrap();
        let program = graph.compile(&[sum, y], Rounding::Once).unwrap();
        let x = Tensor::from([1.0f32, 2.0]).astype(DType::F16).unwrap();
        let place = x.as_ptr();
        let y = program.run_owned(vec![x])?;
        assert_eq!(y[0].as_ptr(), place);
        y[1].astype(DType::F32)?.to_vec::<f32>()
    };
    for dtype in [DType::F16, DType::F32] {
        assert_eq!(of(dtype, dtype).unwrap(), [-2.0, -4.0]);
    }
    // a function that breaks its word
    let message = of(DType::F64, DType::F16).unwrap_err().to_string();
    assert!(
        message.contains("keep: a result of float16, not float64"),
        "{message}"
    );
}

#[test]
fn queues_say_whether_they_are_full_and_values_whether_they_are_there() {
    let (stream, x) = (Stream::new(), Tensor::from([4.0f32]));
    let first = stream.apply(Op::Sqrt, &[(&x).into()]).unwrap();
    assert!(!stream.is_full() && !first.is_computed());
    let mut more = Vec::new();
    while !stream.is_full() {
        more.push(stream.apply(Op::Square, &[(&x).into()]).unwrap());
        assert!(more.len() < 1_000_000);
    }
    stream.run().unwrap();
    assert!(!stream.is_full() && first.is_computed());
    assert!(more.iter().all(|value| value.is_computed()));
    assert_eq!(first.get().unwrap(), Tensor::from([2.0f32]));
}
