//! Attention, rotary embeddings, and linear attention.

use super::super::call::{Call, Inputs, Node, Outputs, ints, many, one};
use super::{Attribute, Kind, Row, float, int, make, maybe, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn::{self, Align, Rotary};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const Q_HEADS: Attribute = maybe("q_num_heads", Kind::Int);
const KV_HEADS: Attribute = maybe("kv_num_heads", Kind::Int);
const ATTENTION: &[Attribute] = &[
    int("is_causal", 0),
    KV_HEADS,
    Q_HEADS,
    int("qk_matmul_output_mode", 0),
    maybe("scale", Kind::Float),
    float("softcap", 0.0),
    maybe("softmax_precision", Kind::Int),
];
const WINDOWED: &[Attribute] = &[
    int("is_causal", 0),
    KV_HEADS,
    Q_HEADS,
    int("qk_matmul_output_mode", 0),
    maybe("scale", Kind::Float),
    float("softcap", 0.0),
    maybe("softmax_precision", Kind::Int),
    int("left_window_size", -1),
    int("right_window_size", -1),
];

pub(super) const ROWS: &[Row] = &[
    make("Attention", 23, 3..=6, ATTENTION, attention),
    make("Attention", 24, 3..=7, ATTENTION, attention),
    make("Attention", 25, 3..=7, WINDOWED, attention),
    make(
        "RotaryEmbedding",
        23,
        3..=4,
        &[
            int("interleaved", 0),
            maybe("num_heads", Kind::Int),
            int("rotary_embedding_dim", 0),
        ],
        |node| {
            let (interleaved, heads) = (node.flag("interleaved"), node.maybe_int("num_heads"));
            one(move |x| rotary(x, interleaved, heads))
        },
    ),
    make(
        "LinearAttention",
        27,
        3..=6,
        &[
            int("chunk_size", 64),
            required("kv_num_heads", Kind::Int),
            required("q_num_heads", Kind::Int),
            float("scale", 0.0),
            text("update_rule", "gated_delta"),
        ],
        linear_attention,
    ),
];

/// `[batch, tokens, heads * size]` as `[batch, heads, tokens, size]`.
pub(super) fn split_heads(x: &Tensor, heads: i64) -> Result<Tensor> {
    match *x.shape() {
        [batch, tokens, width] if heads > 0 && width.is_multiple_of(heads as usize) => {
            let heads = heads as usize;
            x.reshape([batch, tokens, heads, width / heads])?
                .transpose(1, 2)
        }
        _ => {
            let message = message!("{heads} heads do not divide the last dimension");
            Err(Error::shape_of(
                "Attention",
                message,
                &[("x", x.shape(), x.dtype())],
            ))
        }
    }
}
/// And back.
pub(super) fn join_heads(x: &Tensor) -> Result<Tensor> {
    let [batch, heads, tokens, size] = four(x)?;
    x.transpose(1, 2)?.reshape([batch, tokens, heads * size])
}
fn four(x: &Tensor) -> Result<[usize; 4]> {
    x.shape().try_into().map_err(|_| {
        let message = "queries, keys and values must have three or four dimensions";
        Error::shape_of("Attention", message, &[("x", x.shape(), x.dtype())])
    })
}

struct Options {
    causal: bool,
    heads: Option<[i64; 2]>,
    scale: Option<f64>,
    softcap: Option<f64>,
    window: (Option<usize>, Option<usize>),
    /// What the fourth result is, if it is needed.
    scores: Option<i64>,
    present: bool,
}

fn attention(node: &Node) -> Result<Call> {
    let window = |name| match node.attributes.iter().any(|(n, _)| *n == name) {
        true => usize::try_from(node.int(name)).ok(),
        false => None,
    };
    let options = Options {
        causal: node.flag("is_causal"),
        heads: node
            .maybe_int("q_num_heads")
            .zip(node.maybe_int("kv_num_heads"))
            .map(|(q, k)| [q, k]),
        scale: node.maybe_float("scale"),
        softcap: Some(node.float("softcap")).filter(|cap| *cap != 0.0),
        window: (window("left_window_size"), window("right_window_size")),
        scores: node.wants(3).then(|| node.int("qk_matmul_output_mode")),
        present: node.wants(1) || node.wants(2),
    };
    many(move |x| options.run(x))
}

impl Options {
    fn run(&self, x: &Inputs) -> Result<Outputs> {
        let (q, k, v) = (x.get(0)?, x.get(1)?, x.get(2)?);
        let flat = q.rank() == 3;
        let of = |t: &Tensor, which: usize| match (t.rank(), self.heads) {
            (3, Some(heads)) => split_heads(t, heads[which]),
            (3, None) => Err(Error::value(
                "Attention",
                "q_num_heads and kv_num_heads are missing",
            )),
            _ => Ok(t.clone()),
        };
        let (q, mut k, mut v) = (of(q, 0)?, of(k, 1)?, of(v, 1)?);
        let mut past = 0;
        if let (Some(old_k), Some(old_v)) = (x.maybe(4), x.maybe(5)) {
            past = four(old_k)?[2];
            k = ops::concat(&[old_k, &k], 2)?;
            v = ops::concat(&[old_v, &v], 2)?;
        }
        let ([_, q_heads, queries, depth], [_, k_heads, keys, _]) = (four(&q)?, four(&k)?);
        let banded = self.causal || self.window != (None, None);
        // the crate's own band, where it has the place that this one has
        let align = match (x.maybe(6), past) {
            (None, 0) => Some(Align::UpperLeft),
            (None, _) if keys == past + queries => Some(Align::LowerRight),
            _ => None,
        };
        let mut mask = x.maybe(3).map(|m| whole_mask(m, keys)).transpose()?;
        let built = banded && (align.is_none() || self.scores.is_some());
        if built || x.maybe(6).is_some() {
            let allowed = self.allowed(queries, keys, past, x.maybe(6), built)?;
            mask = Some(match mask {
                Some(m) if m.dtype().is_bool() => ops::logical_and(&m, &allowed)?,
                Some(m) => ops::where_(&allowed, &m, f64::NEG_INFINITY)?,
                None => allowed,
            });
        }
        let options = nn::Attention {
            mask: mask.as_ref(),
            causal: self.causal && !built,
            window: if built { (None, None) } else { self.window },
            align: if banded && !built { align } else { None },
            softcap: self.softcap,
            scale: self.scale,
            grouped: q_heads != k_heads,
        };
        let y = nn::scaled_dot_product_attention(&q, &k, &v, options)?;
        let mut outputs = Outputs::from_buf([if flat { join_heads(&y)? } else { y }]);
        if self.present || self.scores.is_some() {
            outputs.extend([k.clone(), v]);
        }
        if let Some(mode) = self.scores {
            let scale = self
                .scale
                .unwrap_or_else(|| 1.0 / libm::sqrt(depth.max(1) as f64));
            outputs.push(self.scores(&q, &k, mask.as_ref(), scale, mode)?);
        }
        Ok(outputs)
    }
    /// Which keys a query sees, by position: those before its own, in the window, and in use.
    fn allowed(
        &self,
        queries: usize,
        keys: usize,
        past: usize,
        used: Option<&Tensor>,
        band: bool,
    ) -> Result<Tensor> {
        let range = |n: usize, shape: [usize; 4]| ops::arange(0, n, 1, DType::I64)?.reshape(shape);
        let (i, j) = (
            range(queries, [1, 1, queries, 1])?,
            range(keys, [1, 1, 1, keys])?,
        );
        let mut allowed = Tensor::full([1, 1, 1, 1], true, DType::Bool)?;
        let mut offset = Tensor::scalar(past, DType::I64)?;
        if let Some(used) = used {
            let used = Tensor::from_vec(ints(used)?, used.len())?.reshape([used.len(), 1, 1, 1])?;
            allowed = ops::less(&j, &used)?;
            if past == 0 {
                offset = ops::subtract(used, queries as i64)?;
            }
        }
        if !band {
            return Ok(allowed);
        }
        let own = ops::add(&i, &offset)?;
        if self.causal {
            allowed = ops::logical_and(allowed, ops::less_equal(&j, &own)?)?;
        }
        if let Some(before) = self.window.0 {
            let first = ops::subtract(&own, before as i64)?;
            allowed = ops::logical_and(allowed, ops::greater_equal(&j, first)?)?;
        }
        if let Some(after) = self.window.1 {
            let last = ops::add(&own, after as i64)?;
            allowed = ops::logical_and(allowed, ops::less_equal(&j, last)?)?;
        }
        Ok(allowed)
    }
    /// The scores at a stage: products, capped, masked, as weights.
    fn scores(
        &self,
        q: &Tensor,
        k: &Tensor,
        mask: Option<&Tensor>,
        scale: f64,
        mode: i64,
    ) -> Result<Tensor> {
        let dtype = q.dtype();
        let ([batch, q_heads, queries, depth], [_, k_heads, keys, _]) = (four(q)?, four(k)?);
        let group = q_heads / k_heads.max(1);
        let wide = dtype.wide();
        let q = q
            .astype(wide)?
            .reshape([batch, k_heads, group, queries, depth])?;
        let k = k
            .astype(wide)?
            .reshape([batch, k_heads, 1, keys, depth])?
            .transpose(-1, -2)?;
        let mut s =
            ops::multiply(ops::matmul(&q, &k)?, scale)?.reshape([batch, q_heads, queries, keys])?;
        if let Some(cap) = self.softcap.filter(|_| mode >= 1) {
            s = ops::multiply(ops::tanh(ops::divide(s, cap)?)?, cap)?;
        }
        if let Some(mask) = mask.filter(|_| mode >= 2) {
            s = match mask.dtype().is_bool() {
                true => ops::where_(mask, s, f64::NEG_INFINITY)?,
                false => ops::add(s, mask)?.astype(wide)?,
            };
        }
        if mode >= 3 {
            let weights = nn::softmax(&s, -1)?;
            s = ops::where_(ops::isnan(&weights)?, 0.0, weights)?;
        }
        s.astype(dtype)
    }
}

/// A mask for all keys: what it lacks at the end is masked.
fn whole_mask(mask: &Tensor, keys: usize) -> Result<Tensor> {
    let have = mask.shape().last().copied().unwrap_or(1);
    if have >= keys || have == 1 {
        return Ok(mask.clone());
    }
    let mut widths: Vec<(usize, usize)> = alloc::vec![(0, 0); mask.rank()];
    widths[mask.rank() - 1].1 = keys - have;
    match mask.dtype().is_bool() {
        true => ops::pad(mask, &widths, false),
        false => ops::pad(mask, &widths, f64::NEG_INFINITY),
    }
}

pub(super) fn rotary(x: &Inputs, interleaved: bool, heads: Option<i64>) -> Result<Tensor> {
    let (t, cos, sin) = (x.get(0)?, x.get(1)?, x.get(2)?);
    let options = Rotary {
        interleaved,
        positions: x.maybe(3),
        ..Default::default()
    };
    match (t.rank(), heads) {
        (3, Some(heads)) if heads > 0 => join_heads(&nn::rotary_embedding(
            &split_heads(t, heads)?,
            cos,
            sin,
            options,
        )?),
        (3, _) => Err(Error::value("RotaryEmbedding", "num_heads is missing")),
        _ => nn::rotary_embedding(t, cos, sin, options),
    }
}

/// A state of `[keys, values]` for each head, updated by each token and read by its query.
fn linear_attention(node: &Node) -> Result<Call> {
    let (gated, delta) = node.choice(
        "update_rule",
        &[
            ("linear", (false, false)),
            ("gated", (true, false)),
            ("delta", (false, true)),
            ("gated_delta", (true, true)),
        ],
    )?;
    let (q_heads, heads) = (node.int("q_num_heads"), node.int("kv_num_heads"));
    let scale = node.float("scale");
    if heads < 1 || q_heads < heads || q_heads % heads != 0 {
        return Err(node.wrong("q_num_heads must be a multiple of kv_num_heads"));
    }
    many(move |x| {
        let dtype = x.get(0)?.dtype();
        let wide = dtype.wide();
        let split = |t: &Tensor, heads: i64| split_heads(&t.astype(wide)?, heads);
        let (q, k, v) = (
            split(x.get(0)?, q_heads)?,
            split(x.get(1)?, heads)?,
            split(x.get(2)?, heads)?,
        );
        let ([batch, _, tokens, depth], width) = (four(&k)?, four(&v)?[3]);
        let (heads, group) = (heads as usize, (q_heads / heads) as usize);
        let q = q.reshape([batch, heads, group, tokens, depth])?;
        let scale = if scale == 0.0 {
            1.0 / libm::sqrt(depth.max(1) as f64)
        } else {
            scale
        };
        let mut state = match x.maybe(3) {
            Some(past) => past.astype(wide)?,
            None => Tensor::zeros([batch, heads, depth, width], wide)?,
        };
        let missing = |what| Error::value("LinearAttention", message!("{what} is missing"));
        let decay = match gated {
            true => Some(ops::exp(split(
                x.maybe(4).ok_or_else(|| missing("decay"))?,
                heads as i64,
            )?)?),
            false => None,
        };
        let beta = match delta {
            true => {
                let beta = x.maybe(5).ok_or_else(|| missing("beta"))?;
                // one for each head, or one for all
                Some(split(beta, beta.shape().last().map_or(1, |n| *n as i64))?)
            }
            false => None,
        };
        let mut results = Vec::new();
        for t in 0..tokens {
            super::super::call::checkpoint();
            let at = |x: &Tensor| x.select(2, t as i64);
            let key = at(&k)?.expand_dims(-1)?;
            let mut value = at(&v)?.expand_dims(-2)?;
            if let Some(decay) = &decay {
                state = ops::multiply(state, &at(decay)?.expand_dims(-1)?)?;
            }
            if let Some(beta) = &beta {
                let known = ops::matmul(&key.transpose(-1, -2)?, &state)?;
                let apart = ops::subtract(&value, &known)?;
                value = ops::multiply(apart, &at(beta)?.expand_dims(-1)?)?;
            }
            state = ops::add(state, ops::multiply(&key, &value)?)?;
            let query = q.select(3, t as i64)?;
            crate::fallible::push(
                &mut results,
                ops::multiply(ops::matmul(&query, &state)?, scale)?,
            )?;
        }
        let y = match results.is_empty() {
            true => Tensor::zeros([batch, heads, group, 0, width], wide)?,
            false => ops::stack(&results, 3)?,
        };
        let y = join_heads(&y.reshape([batch, heads * group, tokens, width])?)?;
        let state = state.astype(x.maybe(3).map_or(dtype, Tensor::dtype))?;
        Ok(Outputs::from_vec(alloc::vec![y.astype(dtype)?, state]))
    })
}
