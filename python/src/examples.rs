//! The examples of the elementwise functions' docstrings, from the rows of `elementwise_examples!`.

// an element in Python, in a call or in what it prints
macro_rules! element {
    ($where:ident true) => {
        "True"
    };
    ($where:ident false) => {
        "False"
    };
    (call inf) => {
        "flex.inf"
    };
    (call nan) => {
        "flex.nan"
    };
    (call half_pi) => {
        "flex.pi / 2"
    };
    (call quarter_pi) => {
        "flex.pi / 4"
    };
    (call tiny) => {
        "1e-20"
    };
    (call one_plus_2i) => {
        "1 + 2j"
    };
    (printed pi) => {
        "3.1415927410125732"
    };
    (printed half_pi) => {
        "1.5707963705062866"
    };
    (printed e) => {
        "2.7182817459106445"
    };
    (printed tiny) => {
        "9.999999682655225e-21"
    };
    (printed after_one) => {
        "1.0000001192092896"
    };
    (printed one_minus_2i) => {
        "(1-2j)"
    };
    ($where:ident (- $x:tt)) => {
        concat!("-", element!($where $x))
    };
    ($where:ident $x:tt) => {
        stringify!($x)
    };
}
macro_rules! elements {
    ($where:ident $x:tt $($rest:tt)*) => {
        concat!("[", element!($where $x) $(, ", ", element!($where $rest))*, "]")
    };
}
macro_rules! examples {
    ($($function:ident $X:ident [$($x:tt)*] $([$($y:tt)*])? => $Z:ident [$($z:tt)*];)*) => {
        /// A call of a function of a module, and what it prints.
        macro_rules! example {
            $(($module:literal $function) => {
                concat!(
                    ">>> ", $module, ".", stringify!($function),
                    "(flex.asarray(", elements!(call $($x)*), ")",
                    $(", flex.asarray(", elements!(call $($y)*), ")",)?
                    ").tolist()\n", elements!(printed $($z)*)
                )
            };)*
        }
    };
}
flex::elementwise_examples!(examples! {});
