//! The key-value cache of models that generate one token at a time.
//!
//! A cache has a row of storage for each token. Appended tokens lie beyond what any view shows, so
//! they are written in place although views share the storage: the one exception to "writing needs
//! a count of one", whose rule is CACHE1.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::take;
use crate::tensor::Tensor;

/// The options of a [`KvCache`].
///
/// ```
/// use flex::{DType, Tensor, nn};
/// let options = nn::KvCacheOptions { window: Some(2), dtype: DType::F16, ..Default::default() };
/// let mut cache = nn::KvCache::new(1, 1, 4, options)?;
/// for _ in 0..5 {
///     let token = Tensor::zeros((1, 1, 1, 4), DType::F16)?;
///     assert!(cache.append(&token, &token)?.0.shape()[2] <= 2);
/// }
/// assert_eq!(cache.position(), 5);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvCacheOptions {
    /// The number of tokens that fit at the start. A full cache doubles. Default: 0.
    pub capacity: usize,
    /// The dtype of keys and values. Default: float32.
    pub dtype: DType,
    /// How many tokens a token sees, including itself; tokens that no later one sees are dropped.
    /// `None` for all.
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

/// The keys and values of all tokens so far. [`append`](KvCache::append) adds to them without
/// copying earlier ones.
///
/// Storage has a row per token, `[capacity, batch * heads * head_dim]`, separately for keys and
/// values, so the tokens of a view are contiguous and appended ones follow. Appending writes rows
/// in place even while views of earlier rows exist, but a row that views may see is never
/// overwritten: after [`truncate`](KvCache::truncate), rows that were visible are reused only if no
/// view of them is left; otherwise the kept rows move to new storage. So views keep their values,
/// as every tensor does.
///
/// ```
/// use flex::{Tensor, nn};
/// let mut cache = nn::KvCache::new(1, 2, 1, ())?;
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
    /// Keys and values: contiguous and owned, `[capacity, batch, heads, head_dim]`.
    rows: [Tensor; 2],
    /// The rows of the tokens kept.
    start: usize,
    end: usize,
    /// Views of this storage see only rows below this one.
    shown: usize,
    /// Tokens appended since the start, less those truncated.
    position: usize,
}
// CACHE1: no tensor but `rows` has a layout that reaches rows of its storage from `shown` on. Views
// handed out are of rows below it, and views of those stay within them (TENSOR1). So the bytes from
// there on are accessed only through `&mut KvCache`.

impl KvCache {
    /// An empty cache. Errors if the window is 0, if the dtype is not a float dtype of this build,
    /// and if there is no memory for the capacity.
    ///
    /// ```
    /// use flex::nn::{KvCache, KvCacheOptions};
    /// let cache = KvCache::new(1, 8, 64, KvCacheOptions { capacity: 256, ..Default::default() })?;
    /// assert_eq!((cache.sizes(), cache.len(), cache.capacity()), ((1, 8, 64), 0, 256));
    /// assert!(cache.is_empty() && cache.options().window.is_none());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn new(
        batch: usize,
        heads: usize,
        head_dim: usize,
        options: impl Into<KvCacheOptions>,
    ) -> Result<KvCache> {
        const OP: &str = "KVCache";
        let options = options.into();
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
    /// The number of tokens kept.
    ///
    /// Example: [`KvCache::new`].
    pub fn len(&self) -> usize {
        self.end - self.start
    }
    /// Whether there are no tokens.
    ///
    /// Example: [`KvCache::new`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of tokens that fit before storage grows.
    ///
    /// Example: [`KvCache::new`].
    pub fn capacity(&self) -> usize {
        self.rows[0].shape()[0] - self.start
    }
    /// The position of the next token: the number of tokens before it, including those that a
    /// window has dropped.
    ///
    /// Example: [`KvCacheOptions`].
    pub fn position(&self) -> usize {
        self.position
    }
    /// Has the next token be at another position, after tokens that were never appended here: a cache
    /// that was stored continues where it was. Errors if it is before the tokens kept.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let options = nn::KvCacheOptions { window: Some(2), ..Default::default() };
    /// let (mut cache, token) = (nn::KvCache::new(1, 1, 4, options)?, Tensor::zeros((1, 1, 1, 4), DType::F32)?);
    /// cache.append(&token, &token)?;
    /// cache.set_position(100)?;
    /// assert_eq!((cache.len(), cache.position()), (1, 100));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn set_position(&mut self, position: usize) -> Result<()> {
        if position < self.len() {
            let message = message!(
                "position {position} is before the {} tokens kept",
                self.len()
            );
            return Err(Error::value("KVCache", message));
        }
        self.position = position;
        Ok(())
    }
    /// The batch size, the number of heads, and `head_dim`.
    ///
    /// Example: [`KvCache::new`].
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.batch, self.heads, self.head_dim)
    }
    /// The options that the cache was made with.
    ///
    /// Example: [`KvCache::new`].
    pub fn options(&self) -> KvCacheOptions {
        self.options
    }
    /// Views of the keys and values of the tokens kept, `[batch, heads, tokens, head_dim]`. Errors
    /// if there is no memory.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let mut cache = nn::KvCache::new(1, 2, 4, ())?;
    /// let tokens = Tensor::zeros((1, 2, 3, 4), DType::F32)?;
    /// cache.append(&tokens, &tokens)?;
    /// let (keys, values) = cache.views()?;
    /// assert_eq!((keys.shape(), values.shape()), (&[1, 2, 3, 4][..], &[1, 2, 3, 4][..]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn views(&mut self) -> Result<(Tensor, Tensor)> {
        self.shown = self.shown.max(self.end);
        let view = |rows: &Tensor| {
            let kept = rows.share(rows.layout().narrow("KVCache", 0, self.start, self.len())?);
            kept.permute([1, 2, 0, 3])
        };
        let [keys, values] = &self.rows;
        Ok((view(keys)?, view(values)?))
    }
    /// Appends the keys and values of some tokens, `[batch, heads, tokens, head_dim]` with any
    /// strides. Returns [views](KvCache::views) of all tokens kept: with a window, those that any
    /// of the new tokens sees, to be narrowed by attention's own `window` and `align`.
    ///
    /// Errors if shapes or dtypes differ from the cache's, or if there is no memory; nothing is
    /// appended then.
    ///
    /// Example: [`KvCache`].
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
        let by_token = |t: &Tensor| t.permute([2, 0, 1, 3]);
        let new = [by_token(k)?, by_token(v)?];
        self.reserve(tokens)?;
        for (rows, new) in self.rows.iter().zip(&new) {
            let part = rows.layout().narrow(OP, 0, self.end, tokens)?;
            let row = rows.len() / rows.shape()[0].max(1) * dtype.size();
            let first = rows.as_ptr().wrapping_add(self.end * row) as *mut u8;
            // SAFETY: `reserve` made room for `tokens` rows from `end` on, in owned memory handed
            // out for writing. No other tensor reaches them (CACHE1), `new` included, and `&mut
            // self` is the only access here.
            unsafe { new.write_at(first, &part)? };
        }
        self.end += tokens;
        self.position += tokens;
        if let Some(window) = self.options.window {
            // the first new token sees `window - 1` tokens before it
            let seen = tokens.saturating_add(window - 1);
            self.start = self.start.max(self.end.saturating_sub(seen));
        }
        self.views()
    }
    /// Makes room for `tokens` rows behind the last one, which no view sees.
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
        // doubling, so that each token is moved once or twice in all
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
    /// New storage of `capacity` rows, which starts with `kept` of these rows, mapped by `change`.
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
    /// Keeps the first `len` of the tokens, for example to drop rejected draft tokens. Does nothing
    /// if there are no more.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let mut cache = nn::KvCache::new(1, 1, 4, ())?;
    /// let drafts = Tensor::zeros((1, 1, 3, 4), DType::F32)?;
    /// cache.append(&drafts, &drafts)?;
    /// cache.truncate(1); // the second was rejected
    /// assert_eq!((cache.len(), cache.position()), (1, 1));
    /// cache.reset();
    /// assert!(cache.is_empty());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn truncate(&mut self, len: usize) {
        let less = self.len().saturating_sub(len);
        self.end -= less;
        self.position -= less;
    }
    /// Drops all tokens and keeps the capacity.
    ///
    /// Example: [`KvCache::truncate`].
    pub fn reset(&mut self) {
        (self.start, self.end, self.position) = (0, 0, 0);
    }
    /// Keeps the sequences `indices` of the batch, in that order and with repetitions, as a beam
    /// search does after each step. Copies what is kept.
    ///
    /// Errors if `indices` doesn't have shape `[batch]`, is not an integer tensor, or if an index
    /// is out of range.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let mut cache = nn::KvCache::new(2, 1, 1, ())?;
    /// let tokens = Tensor::from([1.0f32, 2.0]).reshape((2, 1, 1, 1))?;
    /// cache.append(&tokens, &tokens)?;
    /// cache.gather(&Tensor::from([1i64, 1, 0]))?;
    /// assert_eq!(cache.views()?.0.to_vec::<f32>()?, [2.0, 2.0, 1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn gather(&mut self, indices: &Tensor) -> Result<()> {
        const OP: &str = "KVCache.gather";
        if indices.rank() != 1 {
            let operands = [("indices", indices.shape(), indices.dtype())];
            let message = "indices must have the shape [batch]";
            return Err(Error::shape_of(OP, message, &operands));
        }
        let (kept, capacity) = (self.len(), self.rows[0].shape()[0]);
        let chosen = |rows: Tensor| take(&rows, indices, 1).map_err(|e| e.named(OP));
        self.rows = self.moved(self.start, kept, capacity, chosen)?;
        self.batch = indices.len();
        (self.start, self.end, self.shown) = (0, kept, 0);
        Ok(())
    }
}
