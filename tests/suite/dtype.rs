//! The table of dtypes, and promotion.

use flex::dtype::Class;
use flex::{DType, Element};

#[test]
fn rows_name_the_types_of_this_build() {
    let mut available = Vec::new();
    macro_rules! check {
        ($($class:ident $Class:ident { $(($V:ident, $T:ty, $name:literal, $bits:literal, $fmt:literal, $dl:literal, $st:literal, $feature:literal, ($($cfg:tt)*)))* })*) => { $($(
            #[cfg($($cfg)*)]
            {
                let d = DType::$V;
                assert_eq!((<$T as Element>::DTYPE, size_of::<$T>(), d.class()), (d, $bits / 8, Class::$Class));
                assert_eq!((d.name(), d.size()), ($name, $bits / 8));
                available.push(d);
            }
        )*)* };
    }
    flex::dtypes!(check!);
    for d in DType::ALL {
        assert_eq!(d.is_available(), available.contains(&d), "{d}");
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
