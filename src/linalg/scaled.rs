//! Products of any length without overflow: mantissa and exponent apart.

/// A complex number `(re + i im) 2^exponent`, whose larger part is in [1/2, 1), or is zero, infinite
/// or NaN.
#[derive(Clone, Copy)]
pub(super) struct Scaled {
    re: f64,
    im: f64,
    exponent: i64,
}

impl Scaled {
    /// A real number.
    pub fn new(x: f64) -> Scaled {
        Scaled {
            re: x,
            im: 0.0,
            exponent: 0,
        }
    }
    /// Multiplies by `re + i im`.
    pub fn multiply(&mut self, re: f64, im: f64) {
        // each factor has parts below 1, so that neither the product nor its squares overflow
        let exponent = exponent(re, im);
        let (re, im) = (scaled(re, -exponent), scaled(im, -exponent));
        let product = if im == 0.0 && self.im == 0.0 {
            (self.re * re, 0.0)
        } else {
            (self.re * re - self.im * im, self.re * im + self.im * re)
        };
        let more = self::exponent(product.0, product.1);
        self.re = scaled(product.0, -more);
        self.im = scaled(product.1, -more);
        self.exponent += (exponent + more) as i64;
    }
    /// The number, rounded once if it is subnormal; infinite if it is too large.
    pub fn value(self) -> (f64, f64) {
        let exponent = self.exponent.clamp(-4000, 4000) as i32;
        (scaled(self.re, exponent), scaled(self.im, exponent))
    }
    /// Its direction, and the logarithm of its magnitude.
    pub fn polar(self) -> ((f64, f64), f64) {
        let (mut size, mut exponent) = (libm::hypot(self.re, self.im), self.exponent);
        if size == 0.0 {
            return ((0.0, 0.0), f64::NEG_INFINITY);
        }
        let direction = (self.re / size, self.im / size);
        // near 1, where the logarithm of a part would cancel that of the other
        if size < core::f64::consts::FRAC_1_SQRT_2 {
            size *= 2.0;
            exponent -= 1;
        }
        let log = libm::log(size) + exponent as f64 * core::f64::consts::LN_2;
        (direction, log)
    }
}

/// The power of two that both parts are less than; 0 if the larger is zero or not finite.
fn exponent(re: f64, im: f64) -> i32 {
    let size = libm::fmax(libm::fabs(re), libm::fabs(im));
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    libm::frexp(size).1
}
/// `x 2^exponent`.
fn scaled(x: f64, exponent: i32) -> f64 {
    libm::ldexp(x, exponent)
}
