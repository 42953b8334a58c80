//! Methods of [`Tensor`](crate::Tensor): the functions that take a tensor first, under the same
//! names. `x.exp()` is `ops::exp(&x)`.

mod constructors;
mod elementwise;
mod shorthands;

/// `method!(pub fn f(x: &Tensor, ..) -> R {..});`: the function `f`, and the method of `Tensor` that
/// calls it, with the documentation of both.
macro_rules! method {
    (
        $(#[$attribute:meta])*
        pub fn $function:ident($x:ident: &Tensor $(, $parameter:ident: $type:ty)* $(,)?) -> $result:ty
        $body:block
    ) => {
        $(#[$attribute])*
        pub fn $function($x: &Tensor $(, $parameter: $type)*) -> $result $body

        impl Tensor {
            $(#[$attribute])*
            ///
            #[doc = concat!(
                "The method of the function [`fn@", stringify!($function), "`], whose `",
                stringify!($x), "` is this tensor."
            )]
            #[inline]
            pub fn $function(&self $(, $parameter: $type)*) -> $result {
                $function(self $(, $parameter)*)
            }
        }
    };
}
pub(crate) use method;
