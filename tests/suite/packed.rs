//! The packed-weight cache of a block, and loans of it.

use flex::dtype::DType;
use flex::storage::{Bytes, Loan, PackedKey};
use std::boxed::Box;

/// Looks up the panels of a part, like a product worth packing for; returns their address.
fn look_up(b: &Bytes, first: usize) -> Option<*const u8> {
    let key = PackedKey {
        first,
        sizes: [4, 4],
        strides: [4, 1],
        dtypes: [DType::F32; 2],
        form: flex::storage::PackedForm::Panels,
    };
    b.packed(key, true, || Bytes::new(64))
        .map(|made| made.as_ptr())
}

#[test]
fn nothing_is_cached_while_memory_is_lent() {
    let mut b = Bytes::zeroed(1000).unwrap();
    assert!(b.caches_packed());
    assert_eq!(look_up(&b, 0), None); // looked up once
    let made = look_up(&b, 0).unwrap();
    assert_eq!(look_up(&b, 0), Some(made));

    let (one, two): (Loan, Loan) = (b.lend(), b.lend());
    assert_eq!((look_up(&b, 0), look_up(&b, 0)), (None, None));
    drop(one);
    assert_eq!((look_up(&b, 0), look_up(&b, 0)), (None, None));
    drop(two);
    assert_eq!(look_up(&b, 0), None);
    assert!(look_up(&b, 0).is_some());

    // packed from what a borrower may have written to meanwhile
    let key = PackedKey {
        first: 8,
        sizes: [4, 4],
        strides: [4, 1],
        dtypes: [DType::F32; 2],
        form: flex::storage::PackedForm::Panels,
    };
    let mut times = 0;
    for _ in 0..3 {
        let _ = b.packed(key, true, || {
            times += 1;
            drop(b.lend());
            Bytes::new(64)
        });
    }
    assert_eq!(times, 1); // dropped, so the third lookup is a first one
    assert!(b.get_mut().is_some());
}

#[test]
fn lent_memory_is_found_by_its_address() {
    let b = Bytes::zeroed(1000).unwrap();
    let inside = b.as_ptr().wrapping_add(10);
    assert!(Bytes::lent_at(inside, 990).is_none());
    let loan = b.lend();
    let (again, first) = Bytes::lent_at(inside, 990).unwrap();
    assert!(again.same(&b) && first == 10);
    assert!(Bytes::lent_at(inside, 991).is_none());
    assert!(Bytes::lent_at(inside.wrapping_sub(11), 5).is_none());
    drop(again);
    drop(b); // the loan keeps the memory
    assert!(Bytes::lent_at(inside, 990).is_some());
    drop(loan);
    assert!(Bytes::lent_at(inside, 990).is_none());

    static FLASH: [u8; 4] = [1, 2, 3, 4];
    // SAFETY: static memory.
    for b in [Bytes::from_static(&FLASH), unsafe {
        Bytes::foreign(FLASH.as_ptr(), 4, Box::new(()))
    }] {
        let loan = b.lend();
        assert!(Bytes::lent_at(FLASH.as_ptr(), 4).unwrap().0.same(&b));
        drop(loan);
    }
}

#[test]
fn foreign_memory_has_a_cache_if_nobody_writes_to_it() {
    static FLASH: [u8; 1000] = [0; 1000];
    let (first, len) = (FLASH.as_ptr(), FLASH.len());
    // SAFETY: static memory, which nobody writes to.
    let (may_change, constant) = unsafe {
        (
            Bytes::foreign(first, len, Box::new(())),
            Bytes::constant(first, len, Box::new(())),
        )
    };
    assert!(!may_change.caches_packed() && constant.caches_packed());
    assert_eq!(look_up(&constant, 0), None);
    assert!(look_up(&constant, 0).is_some());
    for mut b in [may_change, constant] {
        assert!(!b.is_owned() && !b.is_unique() && b.get_mut().is_none());
    }
}

#[test]
fn memory_with_one_handle_is_unique() {
    let mut b = Bytes::zeroed(8).unwrap();
    assert!(b.is_unique());
    let other = b.clone();
    assert!(!b.is_unique() && !other.is_unique() && b.get_mut().is_none());
    drop(other);
    assert!(b.is_unique() && b.get_mut().is_some());
}
