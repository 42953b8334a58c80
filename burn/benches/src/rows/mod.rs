//! What is measured.

mod elementwise;
mod fusion;
mod layers;
mod lines;
mod places;
mod products;
mod small;
mod training;

use crate::Row;

/// `rows! { B; "family" { "row" => closure; .. } .. }`: a row for each closure, which is generic over the backend `B`, one
/// of a list if it is given: `B of [..]`.
macro_rules! rows {
    ($B:ident; $($rest:tt)*) => {
        crate::rows::rows! { $B of [flex_burn::Flex, burn_flex::Flex, burn_ndarray::NdArray]; $($rest)* }
    };
    ($B:ident of $backends:tt; $($family:literal { $($name:literal => $body:expr;)* })*) => {
        pub fn rows() -> Vec<crate::Row> {
            let mut rows = Vec::new();
            $($({
                fn make<$B: crate::Measured>() -> crate::Call {
                    crate::call($body)
                }
                rows.push(crate::Row {
                    family: $family,
                    name: $name,
                    make: crate::rows::rows!(@ make $backends),
                });
            })*)*
            rows
        }
    };
    (@ $make:ident [$($Backend:ty),*]) => { [$($make::<$Backend>),*] };
}
use rows;

pub fn all() -> Vec<Row> {
    let families = [
        elementwise::rows,
        fusion::rows,
        lines::rows,
        products::rows,
        layers::rows,
        places::rows,
        small::rows,
        training::rows,
    ];
    families.into_iter().flat_map(|rows| rows()).collect()
}
