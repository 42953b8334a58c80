//! What is measured.

mod elementwise;
mod layers;
mod lines;
mod places;
mod products;
mod small;
mod training;

use crate::Row;

/// `rows! { B; "family" { "row" => closure; .. } .. }`: a row for each closure, which is generic over the backend `B`.
macro_rules! rows {
    ($B:ident; $($family:literal { $($name:literal => $body:expr;)* })*) => {
        pub fn rows() -> Vec<crate::Row> {
            let mut rows = Vec::new();
            $($({
                fn make<$B: crate::Measured>() -> crate::Call {
                    crate::call($body)
                }
                rows.push(crate::Row {
                    family: $family,
                    name: $name,
                    make: [make::<flex_burn::Flex>, make::<burn_flex::Flex>, make::<burn_ndarray::NdArray>],
                });
            })*)*
            rows
        }
    };
}
use rows;

pub fn all() -> Vec<Row> {
    let families = [
        elementwise::rows,
        lines::rows,
        products::rows,
        layers::rows,
        places::rows,
        small::rows,
        training::rows,
    ];
    families.into_iter().flat_map(|rows| rows()).collect()
}
