//! Caches of keys and values, compared with concatenation.

use super::*;
use flex::nn::{KvCache, KvCacheOptions};

const SIZES: [usize; 3] = [2, 3, 4];

fn token(tokens: usize, seed: u64) -> Tensor {
    let [batch, heads, dim] = SIZES;
    tensor(&[batch, heads, tokens, dim], seed)
}
fn cache(options: KvCacheOptions) -> KvCache {
    let [batch, heads, dim] = SIZES;
    KvCache::new(batch, heads, dim, options).unwrap()
}
fn values(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}
fn joined(parts: &[Tensor]) -> Tensor {
    flex::ops::concat(&parts.iter().collect::<Vec<_>>(), 2isize).unwrap()
}

/// Views returned earlier keep their values, and appending copies nothing while there is capacity.
#[test]
fn appending_does_not_change_earlier_views() {
    for capacity in [0, 1, 64] {
        let mut cache = cache(KvCacheOptions {
            capacity,
            ..Default::default()
        });
        let (mut parts, mut seen) = (vec![], vec![]);
        for step in 0..20 {
            parts.push(token(step % 4, step as u64));
            let k = &parts[step];
            // other strides
            let v = k.flip(3isize).unwrap();
            let (keys, values_) = cache.append(k, &v).unwrap();
            let want = joined(&parts);
            assert_eq!(values(&keys), values(&want));
            assert_eq!(values(&values_), values(&want.flip(3isize).unwrap()));
            assert_eq!(
                (cache.len(), cache.position()),
                (want.shape()[2], want.shape()[2])
            );
            seen.push((keys, values(&want)));
        }
        assert!(seen.iter().all(|(t, want)| values(t) == *want));
        let blocks = seen.windows(2).filter(|w| !w[0].0.shares_storage(&w[1].0));
        assert!(blocks.count() <= 5, "storage grows by doubling");
    }
}

/// Rows that a view shows are never overwritten; with no view left, rows are reused in place.
#[test]
fn truncated_rows_keep_their_values_in_views() {
    let mut cache = cache(KvCacheOptions {
        capacity: 16,
        ..Default::default()
    });
    let (first, second, third) = (token(5, 1), token(3, 2), token(4, 3));
    let (keys, _) = cache.append(&first, &first).unwrap();
    cache.truncate(2);
    assert_eq!((cache.len(), cache.position()), (2, 2));
    let (other, _) = cache.append(&second, &second).unwrap();
    assert_eq!(values(&keys), values(&first));
    let head = first.narrow(2, 0, 2).unwrap();
    assert_eq!(values(&other), values(&joined(&[head.clone(), second])));
    assert!(!other.shares_storage(&keys));
    // a view of a view protects its rows too
    let part = other.narrow(2, 4, 1).unwrap();
    let kept = values(&part);
    drop(other);
    cache.truncate(2);
    let (again, _) = cache.append(&third, &third).unwrap();
    assert_eq!(values(&part), kept);
    assert_eq!(
        values(&again),
        values(&joined(&[head.clone(), third.clone()]))
    );
    let storage = again.as_ptr();
    drop((again, part, keys));
    cache.truncate(2);
    let (again, _) = cache.append(&third, &third).unwrap();
    assert_eq!(values(&again), values(&joined(&[head, third])));
    assert_eq!(again.as_ptr(), storage);
    cache.reset();
    assert!(cache.is_empty() && cache.position() == 0);
}

/// A window keeps only the tokens that new ones attend to, and storage stays small.
#[test]
fn a_window_drops_tokens_out_of_reach() {
    let mut cache = cache(KvCacheOptions {
        window: Some(3),
        ..Default::default()
    });
    let all: Vec<Tensor> = (0..40)
        .map(|seed| token(1 + seed % 2, seed as u64))
        .collect();
    for step in 0..40 {
        let new = &all[step];
        let (keys, _) = cache.append(new, new).unwrap();
        let whole = joined(&all[..=step]);
        let total = whole.shape()[2];
        let seen = total.min(new.shape()[2] + 2);
        assert_eq!(
            values(&keys),
            values(&whole.narrow(2, total - seen, seen).unwrap())
        );
        assert_eq!(cache.position(), total);
        assert!(cache.capacity() <= 16);
    }
}

/// A cache whose tokens are appended to another at its position goes on like it.
#[test]
fn a_stored_cache_goes_on_where_it_was() {
    let options = KvCacheOptions {
        window: Some(3),
        ..Default::default()
    };
    let mut first = cache(options);
    for step in 0..7 {
        first.append(&token(1, step), &token(1, step)).unwrap();
    }
    let (keys, values_) = first.views().unwrap();
    let mut other = cache(options);
    other.append(&keys, &values_).unwrap();
    other.set_position(first.position()).unwrap();
    assert_eq!((other.len(), other.position()), (first.len(), 7));
    let next = token(1, 9);
    let [a, b] = [&mut first, &mut other].map(|c| c.append(&next, &next).unwrap().0);
    assert_eq!(values(&a), values(&b));
    assert_eq!(other.position(), 8);
    let error = other.set_position(2).unwrap_err();
    assert!(error.to_string().starts_with("KVCache: "), "{error}");
    assert_eq!(other.position(), 8);
}

#[test]
fn gather_reorders_the_batch() {
    let mut cache = cache(KvCacheOptions::default());
    let first = token(3, 1);
    let (before, _) = cache.append(&first, &first).unwrap();
    let indices = Tensor::from_slice(&[1i64, 1, 0], [3]).unwrap();
    cache.gather(&indices).unwrap();
    let (keys, _) = cache.views().unwrap();
    let want = flex::ops::take(&first, &indices, 0isize).unwrap();
    assert_eq!(values(&keys), values(&want));
    assert_eq!(values(&before), values(&first));
    let more = tensor(&[3, 3, 1, 4], 2);
    let (keys, _) = cache.append(&more, &more).unwrap();
    assert_eq!(values(&keys), values(&joined(&[want, more])));
    let wrong = Tensor::from_slice(&[3i64], [1]).unwrap();
    assert!(cache.gather(&wrong).is_err());
    assert_eq!(cache.sizes().0, 3);
}

#[test]
fn cache_errors_name_the_operand() {
    let mut c = cache(KvCacheOptions::default());
    let (good, wide) = (token(1, 1), tensor(&[2, 3, 1, 5], 1));
    let error = c.append(&good, &wide).unwrap_err().to_string();
    assert!(
        error.starts_with("KVCache.append: k and v must have the shape [2, 3, tokens, 4]"),
        "{error}"
    );
    assert!(c.append(&good, &token(2, 1)).is_err() && c.is_empty());
    let flags = flex::ops::greater(&good, 0.0).unwrap();
    let error = c.append(&good, &flags).unwrap_err().to_string();
    assert_eq!(
        error,
        "KVCache.append: k is float32, v bool; the cache is float32"
    );
    let new = |options| KvCache::new(1, 1, 1, options).map(|_| ());
    let none = KvCacheOptions {
        window: Some(0),
        ..Default::default()
    };
    assert_eq!(
        new(none).unwrap_err().to_string(),
        "KVCache: window is 0; it must be positive"
    );
    let dtype = KvCacheOptions {
        dtype: DType::Bool,
        ..Default::default()
    };
    assert!(new(dtype).is_err());
    let huge = KvCacheOptions {
        capacity: usize::MAX,
        ..Default::default()
    };
    assert!(new(huge).is_err());
    // an empty batch
    let mut empty = KvCache::new(0, 2, 3, KvCacheOptions::default()).unwrap();
    let none = tensor(&[0, 2, 5, 3], 1);
    assert_eq!(empty.append(&none, &none).unwrap().0.shape(), [0, 2, 5, 3]);
}
