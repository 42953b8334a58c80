//! The table of dtypes, and promotion.

use flex::dtype::Class;
use flex::{DType, Element, dispatch, dispatch_class};

#[test]
fn dispatch_reaches_each_available_row_of_its_set() {
    for d in DType::ALL {
        let size = dispatch!(all d, |T| size_of::<T>(), else 0);
        assert_eq!(size, if d.is_available() { d.size() } else { 0 }, "{d}");
        let real = dispatch!(real d, |T| T::DTYPE == d, else false);
        assert_eq!(
            real,
            d.is_available() && !d.is_bool() && !d.is_complex() && !d.is_storage(),
            "{d}"
        );
        let [computed, target] = [
            dispatch!(computed d, |T| T::DTYPE == d, else false),
            dispatch!(target d, |T| T::DTYPE == d, else false),
        ];
        assert_eq!(computed, d.is_available() && !d.is_storage(), "{d}");
        assert_eq!(target, d.is_available() && !d.is_bool(), "{d}");
        let float8 = dispatch!(float8 d, |T| T::DTYPE == d, else false);
        assert_eq!(
            float8,
            d.is_available() && d.class() == Class::Float8,
            "{d}"
        );
        let half = dispatch!(half d, |T| T::DTYPE == d, else false);
        assert_eq!(half, d.is_available() && d.class() == Class::Half, "{d}");
    }
}

#[test]
fn promotion_is_commutative_and_holds_both() {
    for a in DType::ALL {
        for b in DType::ALL {
            let (x, y) = (a.promote(b, "add"), b.promote(a, "add"));
            match (&x, &y) {
                (Ok(x), Ok(y)) => assert_eq!(x, y, "{a} {b}"),
                (Err(_), Err(_)) => assert!(
                    a.is_storage()
                        || b.is_storage()
                        || (a == DType::U64 || b == DType::U64) && a.is_integer() && b.is_integer(),
                    "{a} {b}"
                ),
                _ => panic!("{a} {b}"),
            }
        }
    }
}
