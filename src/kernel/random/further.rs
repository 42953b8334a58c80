//! Noncentral distributions, angles, and integers beyond the most usual distributions.

use super::Draws;
use super::draws::{MOST, exp, log, sqrt};
use core::f64::consts::{LN_2, PI};

/// The largest integer of a Zipf distribution.
const LARGEST: f64 = 9_223_372_036_854_774_784.0;

impl Draws {
    /// Noncentral chi-square, of a noncentrality that is not negative.
    pub fn noncentral_chisquare(&mut self, df: f64, nonc: f64) -> f64 {
        if df > 1.0 {
            let shifted = self.normal() + sqrt(nonc);
            return 2.0 * self.gamma((df - 1.0) / 2.0) + shifted * shifted;
        }
        let more = self.poisson(nonc / 2.0);
        2.0 * self.gamma(df / 2.0 + more)
    }
    /// Von Mises: by a wrapped Cauchy variable (Best and Fisher, "Efficient simulation of the von
    /// Mises distribution", 1979), or for a large `kappa` a normal one.
    pub fn vonmises(&mut self, mu: f64, kappa: f64) -> f64 {
        let angle = match kappa {
            k if k < 1e-8 => PI * (2.0 * self.uniform() - 1.0),
            k if k > 1e6 => self.normal() / sqrt(k),
            k => self.angle(k),
        };
        let turned = mu + angle;
        let wrapped = turned - 2.0 * PI * libm::rint(turned / (2.0 * PI));
        wrapped.clamp(-PI, PI)
    }
    fn angle(&mut self, kappa: f64) -> f64 {
        let s = match kappa {
            k if k < 1e-5 => 1.0 / k + k, // the limit, where the formula cancels
            k => {
                let r = 1.0 + sqrt(1.0 + 4.0 * k * k);
                let rho = (r - sqrt(2.0 * r)) / (2.0 * k);
                (1.0 + rho * rho) / (2.0 * rho)
            }
        };
        for _ in 0..MOST {
            let z = libm::cos(PI * self.uniform());
            let w = (1.0 + s * z) / (s + z);
            let y = kappa * (s - w);
            let v = self.uniform();
            if y * (2.0 - y) - v >= 0.0 || log(y / v) + 1.0 - y >= 0.0 {
                let angle = libm::acos(w.clamp(-1.0, 1.0));
                return if self.uniform() < 0.5 { -angle } else { angle };
            }
        }
        0.0
    }
    /// Zipf, of an exponent above 1 (Devroye, "Non-uniform random variate generation", 1986, X.6.1).
    pub fn zipf(&mut self, a: f64) -> f64 {
        let less = a - 1.0;
        // the uniform number of the largest integer
        let least = exp(-less * log(LARGEST));
        let scale = libm::expm1(less * LN_2);
        for _ in 0..MOST {
            let u = self.uniform();
            let (u, v) = (u * least + (1.0 - u), self.uniform());
            let x = libm::floor(exp(-log(u) / less));
            if !(1.0..=LARGEST).contains(&x) {
                continue;
            }
            let step = libm::log1p(1.0 / x);
            let grown = libm::expm1(less * step);
            if v * x * grown * exp(less * (LN_2 - step)) <= scale {
                return x;
            }
        }
        1.0
    }
    /// Hypergeometric: how many of `sample` elements are good. Few are drawn one by one, many by the
    /// ratio of uniforms HRUA (Stadlober, "The ratio of uniforms approach for generating discrete
    /// random variates", 1990).
    pub fn hypergeometric(&mut self, good: f64, bad: f64, sample: f64) -> f64 {
        let all = good + bad;
        // of the drawn elements and the others, the fewer
        let fewer = sample.min(all - sample);
        let found = match fewer {
            n if n == 0.0 || good == 0.0 => 0.0,
            n if bad == 0.0 => n,
            n if n < 10.0 => self.one_by_one(good, all, n),
            n if good > bad => n - self.ratio_of_uniforms(bad, good, n),
            n => self.ratio_of_uniforms(good, bad, n),
        };
        if fewer < sample { good - found } else { found }
    }
    fn one_by_one(&mut self, good: f64, all: f64, sample: f64) -> f64 {
        let (mut left, mut rest, mut drawn) = (good, all, 0.0);
        while drawn < sample {
            if self.uniform() * rest < left {
                left -= 1.0;
            }
            rest -= 1.0;
            drawn += 1.0;
        }
        good - left
    }
    /// Of at most as many good elements as bad ones, and of a sample of at most half of all.
    fn ratio_of_uniforms(&mut self, good: f64, bad: f64, sample: f64) -> f64 {
        const D1: f64 = 1.715_527_769_921_413_5; // 2 sqrt(2 / e)
        const D2: f64 = 0.898_916_162_058_898_8; // 3 - 2 sqrt(3 / e)
        let all = good + bad;
        let (p, q) = (good / all, bad / all);
        let center = sample * p + 0.5;
        let spread = sqrt((all - sample) * sample * p * q / (all - 1.0) + 0.5);
        let width = D1 * spread + D2;
        let most = (sample.min(good) + 1.0).min(libm::floor(center + 16.0 * spread));
        let log_mass = |k: f64| {
            let of = |n: f64| libm::lgamma(n + 1.0);
            0.0 - (of(k) + of(good - k) + of(sample - k) + of(bad - sample + k))
        };
        let mode = libm::floor((sample + 1.0) * (good + 1.0) / (all + 2.0));
        let highest = log_mass(mode);
        for _ in 0..MOST {
            let (u, v) = (self.uniform(), self.uniform());
            let x = center + width * (v - 0.5) / u;
            if !(0.0..most).contains(&x) {
                continue;
            }
            let k = libm::floor(x);
            let t = log_mass(k) - highest;
            if u * (4.0 - u) - 3.0 <= t || u * (u - t) < 1.0 && 2.0 * log(u) <= t {
                return k;
            }
        }
        mode
    }
}
