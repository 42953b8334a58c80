//! Keys and values of the tokens so far, for models that generate one token after the other.

use super::embedding::taken;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// What a [`KvCache`] may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvCacheOptions {
    /// Tokens that there is room for from the beginning; 0. Room that is full is doubled.
    pub capacity: usize,
    /// The dtype of keys and values; float32.
    pub dtype: DType,
    /// How many tokens a token sees, itself among them: those that no token to come will see are let
    /// go. All by `None`.
    pub window: Option<usize>,
}
impl Default for KvCacheOptions {
    fn default() -> Self {
        KvCacheOptions {
            capacity: 0,
            dtype: DType::F32,
            window: None,
        }
    }
}

/// Keys and values of all tokens so far, which [`append`](KvCache::append) adds to without copying
/// those that are there.
///
/// Storage has a row for each token: `[capacity, batch * heads * head_dim]`, keys and values apart.
/// So the tokens that a view shows are one run of memory, and tokens that are appended lie behind
/// it. An appended row is written in place, whoever still has views of earlier ones, and each row at
/// most once while others may see it: after [`truncate`](KvCache::truncate) rows that were shown are
/// written again only where no view of them is left, else what is kept moves to new storage. Views
/// so keep their values, as every tensor does.
///
/// ```
/// use flex::{Tensor, nn};
/// let mut cache = nn::KvCache::new(1, 2, 1, Default::default())?;
/// let token = |x: f32| Tensor::from_slice(&[x, 10.0 * x], [1, 2, 1, 1]);
/// let (first, _) = cache.append(&token(1.0)?, &token(1.0)?)?;
/// let (keys, values) = cache.append(&token(2.0)?, &token(3.0)?)?;
/// assert_eq!(keys.shape(), [1, 2, 2, 1]); // [batch, heads, tokens, head_dim]
/// assert_eq!(keys.to_vec::<f32>()?, [1.0, 2.0, 10.0, 20.0]);
/// assert_eq!(values.to_vec::<f32>()?, [1.0, 3.0, 10.0, 30.0]);
/// assert_eq!(first.to_vec::<f32>()?, [1.0, 10.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Debug)]
pub struct KvCache {
    batch: usize,
    heads: usize,
    head_dim: usize,
    options: KvCacheOptions,
    /// Keys and values: contiguous, owned, `[capacity, batch, heads, head_dim]`.
    rows: [Tensor; 2],
    /// The rows of tokens that are kept.
    start: usize,
    end: usize,
    /// Rows that views of this storage may show: those below.
    shown: usize,
    /// Tokens that were appended since the beginning, less those that were truncated.
    position: usize,
}
// CACHE1: no tensor but `rows` has a layout that reaches rows of its storage from `shown` on: views
// that leave this type are of rows below it, and those of them stay within (TENSOR1). So bytes from
// there on are read and written through `&mut KvCache` alone.

impl KvCache {
    /// An empty one. Errors where a window is 0, the dtype is no float of this build, or there is no
    /// memory for the capacity.
    pub fn new(
        batch: usize,
        heads: usize,
        head_dim: usize,
        options: KvCacheOptions,
    ) -> Result<KvCache> {
        const OP: &str = "KVCache";
        if options.window == Some(0) {
            return Err(Error::value(
                OP,
                message!("window is 0; it must be positive"),
            ));
        }
        if !options.dtype.is_float() || !options.dtype.is_available() {
            return Err(Error::unsupported(OP, options.dtype));
        }
        let room = || Tensor::empty([options.capacity, batch, heads, head_dim], options.dtype);
        Ok(KvCache {
            batch,
            heads,
            head_dim,
            options,
            rows: [room()?, room()?],
            start: 0,
            end: 0,
            shown: 0,
            position: 0,
        })
    }
    /// Tokens that are kept.
    pub fn len(&self) -> usize {
        self.end - self.start
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Tokens that there is room for before storage grows.
    pub fn capacity(&self) -> usize {
        self.rows[0].shape()[0] - self.start
    }
    /// The position of the next token: how many came before, also those that a window has let go.
    pub fn position(&self) -> usize {
        self.position
    }
    /// Batch, heads and `head_dim`.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.batch, self.heads, self.head_dim)
    }
    /// The options it was made with.
    pub fn options(&self) -> KvCacheOptions {
        self.options
    }
    /// Keys and values of the tokens that are kept, `[batch, heads, tokens, head_dim]`; views.
    pub fn views(&mut self) -> Result<(Tensor, Tensor)> {
        self.shown = self.shown.max(self.end);
        let view = |rows: &Tensor| {
            let kept = rows.share(rows.layout().narrow("KVCache", 0, self.start, self.len())?);
            kept.permute([1, 2, 0, 3])
        };
        let [keys, values] = &self.rows;
        Ok((view(keys)?, view(values)?))
    }
    /// Adds the keys and values of some tokens, `[batch, heads, tokens, head_dim]` of any strides.
    /// Returns [views](KvCache::views) of all that are kept: with a window those that the new tokens
    /// see, which attention confines by its own `window` and `align`.
    ///
    /// Errors where shapes or dtypes are others, or there is no memory; nothing is appended then.
    pub fn append(&mut self, k: &Tensor, v: &Tensor) -> Result<(Tensor, Tensor)> {
        const OP: &str = "KVCache.append";
        let operands = [("k", k), ("v", v)].map(|(name, t)| (name, t.shape(), t.dtype()));
        let fits = |t: &Tensor| matches!(t.shape(), [b, h, _, d] if [*b, *h, *d] == [self.batch, self.heads, self.head_dim]);
        if !fits(k) || !fits(v) || k.shape() != v.shape() {
            let (b, h, d) = (self.batch, self.heads, self.head_dim);
            let message = message!("k and v must have the shape [{b}, {h}, tokens, {d}]");
            return Err(Error::shape_of(OP, message, &operands));
        }
        let dtype = self.options.dtype;
        if k.dtype() != dtype || v.dtype() != dtype {
            let message = message!("k is {}, v {}; the cache is {dtype}", k.dtype(), v.dtype());
            return Err(Error::dtype(OP, message));
        }
        let tokens = k.shape()[2];
        let by_token = |t: &Tensor| t.permute([2, 0, 1, 3])?.contiguous();
        let new = [by_token(k)?, by_token(v)?];
        self.reserve(tokens)?;
        for (rows, new) in self.rows.iter_mut().zip(&new) {
            let row = rows.len() / rows.shape()[0].max(1) * dtype.size();
            let first = rows.as_ptr().wrapping_add(self.end * row) as *mut u8;
            // SAFETY: `reserve` made room for `tokens` rows from `end` on, of owned memory that was
            // handed out for writing; no other tensor reaches them (CACHE1), and `&mut self` is the
            // only way here. `new` holds as many bytes, elsewhere, for it has none of these rows.
            unsafe { core::ptr::copy_nonoverlapping(new.as_ptr(), first, tokens * row) };
        }
        self.end += tokens;
        self.position += tokens;
        if let Some(window) = self.options.window {
            // the first of the new ones sees `window - 1` before it
            let seen = tokens.saturating_add(window - 1);
            self.start = self.start.max(self.end.saturating_sub(seen));
        }
        self.views()
    }
    /// Room for so many more rows behind the last, which no view shows.
    fn reserve(&mut self, tokens: usize) -> Result<()> {
        let unique = self
            .rows
            .iter_mut()
            .all(|rows| rows.get_mut_ptr().is_some());
        if unique {
            self.shown = 0; // no views are left
        }
        let capacity = self.rows[0].shape()[0];
        let fits = self
            .end
            .checked_add(tokens)
            .is_some_and(|end| end <= capacity);
        if fits && self.end >= self.shown {
            return Ok(());
        }
        // as many tokens again as there will be, so that each is moved once or twice in all
        let kept = match self.options.window {
            Some(window) => self.len().min(window),
            None => self.len(),
        };
        let start = self.end - kept;
        let needed = kept
            .checked_add(tokens)
            .ok_or_else(|| Error::value("KVCache.append", "too many tokens"))?;
        let capacity = needed.saturating_add(needed.max(self.options.capacity));
        self.rows = self.moved(start, kept, capacity, Ok)?;
        (self.start, self.end, self.shown) = (0, kept, 0);
        Ok(())
    }
    /// New storage of so many rows, which begins with some of these, or what is made of them.
    fn moved(
        &self,
        start: usize,
        kept: usize,
        capacity: usize,
        change: impl Fn(Tensor) -> Result<Tensor>,
    ) -> Result<[Tensor; 2]> {
        let one = |rows: &Tensor| -> Result<Tensor> {
            let from = change(rows.narrow(0, start, kept)?)?;
            let shape = [capacity, from.shape()[1], self.heads, self.head_dim];
            let mut to = Tensor::empty(shape, self.options.dtype)?;
            let part = to.layout().narrow("KVCache", 0, 0, kept)?;
            to.write(&part, &from)?;
            Ok(to)
        };
        let [keys, values] = &self.rows;
        Ok([one(keys)?, one(values)?])
    }
    /// Keeps the first `len` tokens of those that are kept: what a draft proposed in vain is let go.
    /// Nothing happens where there are no more.
    pub fn truncate(&mut self, len: usize) {
        let less = self.len().saturating_sub(len);
        self.end -= less;
        self.position -= less;
    }
    /// Lets go of all tokens; the room stays.
    pub fn reset(&mut self) {
        (self.start, self.end, self.position) = (0, 0, 0);
    }
    /// Keeps the sequences `indices` of the batch, in that order and as often, as a beam search does
    /// after each step. Copies what is kept.
    ///
    /// Errors where `indices` has no shape `[batch]`, or one is out of range or no integer.
    pub fn gather(&mut self, indices: &Tensor) -> Result<()> {
        const OP: &str = "KVCache.gather";
        if indices.rank() != 1 {
            let operands = [("indices", indices.shape(), indices.dtype())];
            let message = "indices must have the shape [batch]";
            return Err(Error::shape_of(OP, message, &operands));
        }
        let (kept, capacity) = (self.len(), self.rows[0].shape()[0]);
        let chosen = |rows: Tensor| taken(OP, &rows, indices, 1);
        self.rows = self.moved(self.start, kept, capacity, chosen)?;
        self.batch = indices.len();
        (self.start, self.end, self.shown) = (0, kept, 0);
        Ok(())
    }
}
