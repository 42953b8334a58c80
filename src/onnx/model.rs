//! A model: a plan, and what it takes and gives.

use super::call::Ran;
use super::import::{self, Importer};
use super::plan::Plan;
use super::proto;
use super::types::{Size, Value};
use super::weights::{self, Weights};
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::io::source::{Content, FileSource};
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

const OP: &str = "onnx";

/// A model, ready to run. Threads may share one.
///
/// ```
/// # let file = flex::onnx::example();
/// use flex::{Tensor, onnx::Model};
/// let model = Model::from_bytes(&file)?; // y = relu(x)
/// assert_eq!(model.inputs()[0].to_string(), "x: float32 [n]");
/// let y = model.run(&[Tensor::from([-1.0f32, 2.0])])?;
/// assert_eq!(y[0].to_vec::<f32>()?, [0.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct Model {
    plan: Plan,
    inputs: Vec<Value>,
    /// The values of the last inputs.
    defaults: Vec<Tensor>,
    outputs: Vec<Value>,
    about: About,
}

/// What a file says of itself.
///
/// Example: [`Model::about`].
#[derive(Clone, Debug)]
pub struct About {
    /// The version of the format.
    pub ir_version: i64,
    /// Who wrote it, with the version.
    pub producer: Box<str>,
    /// The version of each domain's operator set; ONNX's own has an empty name.
    pub opsets: Vec<(Box<str>, i64)>,
    /// Names and values that the producer added.
    pub metadata: Vec<(Box<str>, Box<str>)>,
    /// How many nodes there are of each operator, before any is left out.
    pub operators: BTreeMap<&'static str, usize>,
    /// The number of elements of its weights.
    pub parameters: usize,
    /// The initializers that are listed as inputs: defaults that a call may override, if the model is
    /// [loaded](LoadOptions::overridable) for that.
    pub overridable: Vec<Box<str>>,
}

/// How a model is loaded; the functions of [`Model`] take the default.
///
/// ```
/// # let file = flex::onnx::example_with_weight();
/// use flex::{Tensor, onnx::LoadOptions};
/// let options = LoadOptions { overridable: &["w"] }; // y = x * w
/// let model = options.from_bytes(&file)?;
/// let x = Tensor::from([1.0f32, 2.0]);
/// assert_eq!(model.run(&[x.clone()])?[0].to_vec::<f32>()?, [3.0, 6.0]);
/// assert_eq!(model.run(&[x, Tensor::from([5.0f32])])?[0].to_vec::<f32>()?, [5.0, 10.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// The names of initializers that calls may override: they become the last
    /// [inputs](Model::inputs), in this order, which a call may leave out. Nothing that follows from
    /// them is computed when the model is loaded. Names that the model has no initializer of are an
    /// error.
    pub overridable: &'a [&'a str],
}

impl LoadOptions<'_> {
    /// [`Model::load`] with these options.
    ///
    /// ```
    /// assert!(flex::onnx::LoadOptions::default().load("no/such/model.onnx").is_err());
    /// ```
    #[cfg(feature = "std")]
    pub fn load(&self, path: impl AsRef<std::path::Path>) -> Result<Model> {
        let path = path.as_ref();
        let mut source = crate::io::file::open(path)?;
        let Some(len) = source.len().and_then(|len| usize::try_from(len).ok()) else {
            return Err(source.wrong("a file of no length, or of one beyond memory"));
        };
        if let Some(bytes) = super::holes::without_weights(&mut source, len)? {
            return self.read(&bytes, source, Some(path));
        }
        let mut bytes = fallible::filled(0u8, len)?;
        source.read(0, &mut bytes)?;
        let source = FileSource {
            name: source.name,
            content: weights::memory(&bytes),
        };
        self.read(&bytes, source, Some(path))
    }
    /// [`Model::map`] with these options.
    ///
    /// # Safety
    /// As for that.
    ///
    /// ```
    /// // SAFETY: there is no such file.
    /// assert!(unsafe { flex::onnx::LoadOptions::default().map("no/such/model.onnx") }.is_err());
    /// ```
    #[cfg(feature = "std")]
    pub unsafe fn map(&self, path: impl AsRef<std::path::Path>) -> Result<Model> {
        let path = path.as_ref();
        // SAFETY: MAP1, by the caller's promise.
        let source = unsafe { crate::io::file::map(path)? };
        match &source.content {
            Content::Mapped(map) => {
                let map = map.clone();
                self.read(&map, source, Some(path))
            }
            _ => self.load(path),
        }
    }
    /// [`Model::from_bytes`] with these options.
    ///
    /// Example: [`LoadOptions`].
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Model> {
        let source = FileSource {
            name: "an ONNX model".into(),
            content: weights::memory(bytes),
        };
        self.read(bytes, source, None)
    }
    /// [`Model::from_static`] with these options.
    ///
    /// ```
    /// assert!(flex::onnx::LoadOptions::default().from_static(b"no model").is_err());
    /// ```
    pub fn from_static(&self, bytes: &'static [u8]) -> Result<Model> {
        let source = FileSource {
            name: "an ONNX model".into(),
            content: Content::Static(bytes),
        };
        self.read(bytes, source, None)
    }
    #[cfg(feature = "std")]
    fn read<'a>(
        &self,
        file: &'a [u8],
        source: FileSource<'a>,
        path: Option<&std::path::Path>,
    ) -> Result<Model> {
        let folder = path.map(super::external::Folder::of);
        self.import(
            file,
            Weights {
                file,
                source,
                folder,
            },
        )
    }
    #[cfg(not(feature = "std"))]
    fn read<'a>(&self, file: &'a [u8], source: FileSource<'a>, _: Option<&str>) -> Result<Model> {
        self.import(file, Weights { file, source })
    }
    fn import<'a>(&self, file: &'a [u8], mut weights: Weights<'a>) -> Result<Model> {
        let model: proto::Model = proto::read(file).map_err(|e| {
            let message = message!("{e}: it is no ONNX model, or is damaged");
            weights.source.wrong(message)
        })?;
        let Some(graph) = &model.graph else {
            return Err(weights.source.wrong("no graph: it is no ONNX model"));
        };
        let (own, known) = import::inputs(graph);
        let mut inputs = fallible::collect(own.iter().map(|info| Value::new(info)))?;
        let outputs = fallible::collect(graph.output.iter().map(Value::new))?;
        let mut overridable: Vec<&str> = Vec::new();
        for wanted in self.overridable {
            let all = &graph.initializer;
            let Some(t) = all.iter().find(|t| t.name == *wanted) else {
                let message = message!("no initializer is called {}", Excerpt(wanted));
                return Err(weights.source.wrong(message));
            };
            if overridable.contains(wanted) {
                let message = message!("overridable names {} twice", Excerpt(wanted));
                return Err(Error::value("onnx.load", message));
            }
            fallible::push(&mut overridable, t.name)?;
            inputs.push(Value::of_weight(t)?);
        }
        let sizes = graph.initializer.iter().map(|t| {
            t.dims.0.iter().fold(1usize, |n, d| {
                n.saturating_mul(usize::try_from(*d).unwrap_or(0))
            })
        });
        let pair = |e: &proto::Entry| Ok::<_, Error>((Box::from(e.key), Box::from(e.value)));
        let opset = |s: &proto::OperatorSet| Ok::<_, Error>((Box::from(s.domain), s.version));
        let mut producer = String::from(model.producer_name);
        if !model.producer_version.is_empty() {
            producer.push(' ');
            producer.push_str(model.producer_version);
        }
        let mut about = About {
            ir_version: model.ir_version,
            producer: producer.into(),
            opsets: fallible::collect(model.opset_import.iter().map(opset))?,
            metadata: fallible::collect(model.metadata.iter().map(pair))?,
            operators: BTreeMap::new(),
            parameters: sizes.fold(0, usize::saturating_add),
            overridable: known.iter().map(|info| Box::from(info.name)).collect(),
        };
        let own = own.iter().map(|input| input.name);
        let made = Importer::model(&model, &mut weights, own, &overridable)?;
        about.operators = made.operators;
        Ok(Model {
            plan: made.plan,
            inputs,
            defaults: made.defaults,
            outputs,
            about,
        })
    }
}

impl Model {
    /// The model of a file, whose weights are read once, each into its tensor; those in other files
    /// ("external data") are read from the same folder.
    ///
    /// Errors if the file can't be read or is damaged, if an operator is unknown (all of them are
    /// named), and if an attribute or input of a node is wrong.
    ///
    /// ```
    /// use flex::onnx::Model;
    /// assert!(Model::load("no/such/model.onnx").is_err());
    /// ```
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Model> {
        LoadOptions::default().load(path)
    }
    /// [`load`](Model::load), with its errors, of a mapped file: aligned weights stay in it.
    ///
    /// # Safety
    /// MAP1 of [`io`](crate::io): nobody writes to the file while the model or a tensor of it lives.
    ///
    /// ```
    /// // SAFETY: there is no such file.
    /// assert!(unsafe { flex::onnx::Model::map("no/such/model.onnx") }.is_err());
    /// ```
    #[cfg(feature = "std")]
    pub unsafe fn map(path: impl AsRef<std::path::Path>) -> Result<Model> {
        // SAFETY: MAP1, by the caller's promise.
        unsafe { LoadOptions::default().map(path) }
    }
    /// The model of a file's bytes, of which weights are copied. Errors as [`load`](Model::load), and
    /// if weights are in other files.
    ///
    /// ```
    /// use flex::onnx::Model;
    /// let e = Model::from_bytes(&[0xff]).err().unwrap();
    /// let found = "an ONNX model: a varint without an end: it is no ONNX model, or is damaged";
    /// assert_eq!(e.to_string(), found);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        LoadOptions::default().from_bytes(bytes)
    }
    /// The model of bytes in static memory, where aligned weights stay, such as in flash. Errors as
    /// [`from_bytes`](Model::from_bytes).
    ///
    /// ```
    /// assert!(flex::onnx::Model::from_static(b"no model").is_err());
    /// ```
    pub fn from_static(bytes: &'static [u8]) -> Result<Model> {
        LoadOptions::default().from_static(bytes)
    }

    /// What it takes: the inputs that have no value in the file, and then the initializers that may
    /// be [overridden](LoadOptions::overridable).
    pub fn inputs(&self) -> &[Value] {
        &self.inputs
    }
    /// The value that an input has if a call leaves it out.
    ///
    /// ```
    /// # let file = flex::onnx::example_with_weight();
    /// let model = flex::onnx::LoadOptions { overridable: &["w"] }.from_bytes(&file)?;
    /// assert!(model.default_of(0).is_none());
    /// assert_eq!(model.default_of(1).unwrap().to_vec::<f32>()?, [3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn default_of(&self, input: usize) -> Option<&Tensor> {
        let needed = self.inputs.len() - self.defaults.len();
        self.defaults.get(input.checked_sub(needed)?)
    }
    /// What it gives.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }
    /// What the file says of itself.
    ///
    /// ```
    /// # let file = flex::onnx::example();
    /// let model = flex::onnx::Model::from_bytes(&file)?;
    /// assert_eq!(model.about().operators["Relu"], 1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn about(&self) -> &About {
        &self.about
    }
    /// All outputs for these inputs, in the order of [`inputs`](Model::inputs); the last ones may be
    /// left out if they have [defaults](Model::default_of).
    ///
    /// Errors if their number, a dtype or a size differs from what the model says, and for what a
    /// node's operation doesn't accept, with the node.
    ///
    /// Example: [`Model`].
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        self.run_watched(inputs.to_vec(), None)
    }
    /// [`run`](Model::run), with its errors, for tensors that are no longer needed, whose memory
    /// results may take. `watch` is called after each step, such as to measure it.
    ///
    /// ```
    /// # let file = flex::onnx::example();
    /// use flex::{Tensor, onnx::Model};
    /// let model = Model::from_bytes(&file)?;
    /// let mut names = Vec::new();
    /// let mut watch = |step: flex::onnx::Ran| names.push(step.operator);
    /// model.run_watched(vec![Tensor::from([1.0f32])], Some(&mut watch))?;
    /// assert_eq!(names, ["Relu"]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn run_watched(
        &self,
        mut inputs: Vec<Tensor>,
        mut watch: Option<&mut dyn FnMut(Ran)>,
    ) -> Result<Vec<Tensor>> {
        while let Some(default) = self.default_of(inputs.len()) {
            fallible::push(&mut inputs, default.clone())?;
        }
        self.check(&inputs)?;
        self.plan.run(inputs.into_iter(), &mut watch)
    }
    fn check(&self, inputs: &[Tensor]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            let message = message!(
                "{} inputs where the model takes {}",
                inputs.len(),
                self.inputs.len()
            );
            return Err(Error::value(OP, message));
        }
        let mut symbols: Vec<(&str, usize)> = Vec::new();
        for (x, input) in inputs.iter().zip(&self.inputs) {
            let operands = [("x", x.shape(), x.dtype())];
            if input.dtype.is_some_and(|dtype| dtype != x.dtype()) {
                let message = message!(
                    "input {input}: the tensor is {}: convert it with astype",
                    x.dtype()
                );
                return Err(Error::dtype(OP, message));
            }
            let Some(shape) = &input.shape else {
                continue;
            };
            let mut fits = shape.len() == x.rank();
            for (size, have) in shape.iter().zip(x.shape()) {
                match size {
                    Size::Fixed(n) => fits &= n == have,
                    Size::Any => {}
                    Size::Symbol(name) => match symbols.iter().find(|(n, _)| *n == &**name) {
                        Some((_, before)) => fits &= before == have,
                        None => symbols.push((name, *have)),
                    },
                }
            }
            if !fits {
                return Err(Error::shape_of(
                    OP,
                    message!("the tensor does not fit input {input}"),
                    &operands,
                ));
            }
        }
        Ok(())
    }
}

/// The tensor that a file holds.
pub(super) fn tensor_of(file: &[u8]) -> Result<Tensor> {
    let source = FileSource {
        name: "a tensor".into(),
        content: weights::memory(file),
    };
    let mut weights = Weights {
        file,
        source,
        #[cfg(feature = "std")]
        folder: None,
    };
    let t: proto::Tensor = proto::read(file).map_err(|e| weights.source.wrong(e))?;
    weights.tensor(&t)
}
