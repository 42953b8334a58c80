//! Operations on threads that the program lends.

#![cfg(feature = "std")]

use flex::{DType, Executor, Tensor, ops, set_executor};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Three threads for each operation, each of which runs every third piece.
struct Scoped;
impl Executor for Scoped {
    fn threads(&self) -> usize {
        3
    }
    fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|s| {
            for t in 0..3 {
                s.spawn(move || {
                    (t..n)
                        .step_by(3)
                        .for_each(|k| _ = (CALLS.fetch_add(1, Relaxed), piece(k)))
                });
            }
        });
    }
}
/// Calls some pieces twice, and others not at all.
struct Careless;
impl Executor for Careless {
    fn threads(&self) -> usize {
        4
    }
    fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync)) {
        (0..n / 2).for_each(|_| piece(0));
    }
}

/// Sums, products and a chain whose bits would show a different partition.
fn results(x: &Tensor) -> Vec<Vec<u32>> {
    let bits = |t: Tensor| {
        t.to_vec::<f32>()
            .unwrap()
            .into_iter()
            .map(f32::to_bits)
            .collect()
    };
    let product = ops::matmul(x, &x.transpose(0, 1).unwrap()).unwrap();
    let rows = ops::exp(ops::divide(&product, 1e3).unwrap()).unwrap();
    vec![
        bits(ops::multiply(x, x).unwrap()),
        bits(product),
        bits(rows),
    ]
}

// A single test, since the executor belongs to the process.
#[test]
fn bits_are_the_same_on_a_lent_executor() {
    let values: Vec<f32> = (0..512 * 1024)
        .map(|k| (k % 1013) as f32 * 1e-3 - 0.5)
        .collect();
    let x = Tensor::from_slice(&values, [512, 1024]).unwrap();
    let own = results(&x);

    set_executor(Some(&Scoped));
    assert_eq!(flex::num_threads(), 3);
    assert!(results(&x) == own && CALLS.load(Relaxed) > 0);
    flex::with_threads(1, || assert!(results(&x) == own));

    set_executor(Some(&Careless));
    assert!(results(&x) == own);

    #[cfg(feature = "rayon")]
    {
        set_executor(Some(&flex::Rayon));
        assert!(results(&x) == own);
    }
    set_executor(None);
    assert!(results(&x) == own && flex::num_threads() >= 1);
    assert_eq!(x.dtype(), DType::F32);
}
