//! Operations that run together.

use super::FlexFusion;
use super::call::{Call, Operand, View, What, call, operand};
use crate::convert::{done, flex_dtype};
use crate::{Flex, FlexDevice, FlexTensor};
use burn_backend::{DType, Scalar};
use burn_fusion::stream::{Context, OrderedExecution, ScalarId};
use burn_fusion::{NumOperations, Optimization};
use burn_ir::{HandleKind, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use core::fmt;
use flex::stream::{Argument, Lazy, Op, Plans, Stream};
use flex::{Axes, Result, Tensor};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The plans of all chains.
static PLANS: LazyLock<Arc<Plans>> = LazyLock::new(Arc::default);

/// Operations in their relative form, which a stream runs in as few passes over memory as it can.
pub struct Chain {
    operations: Vec<OperationIr>,
    stream: Stream,
}

impl Chain {
    pub(super) fn new(operations: Vec<OperationIr>) -> Chain {
        Chain {
            operations,
            stream: Stream::with_plans(PLANS.clone()),
        }
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Chain").field(&self.operations).finish()
    }
}

impl NumOperations for Chain {
    fn len(&self) -> usize {
        self.operations.len()
    }
    fn name(&self) -> &'static str {
        "chain"
    }
}

impl Optimization<FlexFusion> for Chain {
    fn execute(
        &mut self,
        context: &mut Context<HandleKind<Flex>>,
        _: &OrderedExecution<FlexFusion>,
    ) {
        let mut run = Run {
            stream: &self.stream,
            context,
            values: HashMap::new(),
        };
        for operation in &self.operations {
            match (operation, call(operation)) {
                (OperationIr::Init(_), _) => (), // its tensor is there
                (OperationIr::Drop(x), _) => run.end(x),
                (_, Some(call)) => done(run.call(&call)),
                (other, None) => panic!("flex's streams have no {other:?}"),
            }
        }
        done(run.finish())
    }
    fn to_state(&self) -> Vec<OperationIr> {
        self.operations.clone()
    }
    fn from_state(_: &FlexDevice, operations: Vec<OperationIr>) -> Chain {
        Chain::new(operations)
    }
}

/// A chain that is on its way. Tensors that end in it are let go before anything is computed, so
/// that their memory serves for results.
struct Run<'a> {
    stream: &'a Stream,
    context: &'a mut Context<HandleKind<Flex>>,
    values: HashMap<TensorId, Value>,
}

enum Value {
    /// Of an operation before the chain.
    Given(Tensor),
    /// Of one of the chain, with its dtype in Burn's terms.
    Queued(Lazy, DType),
    /// A number in the shape of a tensor, likewise.
    Filled(Tensor, DType),
}

impl Run<'_> {
    /// Queues an operation.
    fn call(&mut self, call: &Call) -> Result<()> {
        call.inputs().for_each(|x| self.read(x));
        let dtype = call.out.dtype;
        let value = match call.what {
            What::Fill(number) => Value::Filled(self.filled(number, call.out)?, dtype),
            _ => Value::Queued(self.queued(call)?, dtype),
        };
        for x in call
            .inputs()
            .filter(|x| x.status == TensorStatus::ReadWrite)
        {
            self.end(x);
        }
        self.values.insert(call.out.id, value);
        Ok(())
    }
    fn filled(&self, number: &ScalarIr, out: &TensorIr) -> Result<Tensor> {
        let dtype = flex_dtype(out.dtype);
        let number = operand(self.number(number), Op::Where, dtype);
        Tensor::scalar(number, dtype)?.broadcast_to(self.shape(out))
    }
    fn queued(&self, call: &Call) -> Result<Lazy> {
        let stream = self.stream;
        match &call.what {
            What::Apply(op, operands) => {
                // numbers take the last tensor's dtype: the first may be a mask
                let dtype = call.inputs().last().map_or(call.out.dtype, |x| x.dtype);
                let dtype = flex_dtype(dtype);
                let operands = operands.iter().map(|x| match x {
                    Operand::Tensor(x) => self.value(x),
                    Operand::Number(x) => operand(self.number(x), *op, dtype).into(),
                });
                stream.apply(*op, &operands.collect::<Vec<_>>())
            }
            What::Convert(x) => stream.convert(&self.value(x), flex_dtype(call.out.dtype)),
            What::Reduce(kind, x, Some(axes)) => {
                stream.reduce(*kind, &self.value(x), Axes::from(*axes).keepdims())
            }
            What::Reduce(kind, x, None) => {
                let number = stream.reduce(*kind, &self.value(x), ())?;
                stream.reshape(&(&number).into(), 1)
            }
            What::View(view, x) => self.viewed(view, &self.value(x), self.shape(call.out)),
            What::Fill(_) => unreachable!("it has a tensor"),
        }
    }
    fn viewed(&self, view: &View, x: &Argument, shape: &[usize]) -> Result<Lazy> {
        let signed = |axes: &[usize]| axes.iter().map(|x| *x as isize).collect::<Vec<_>>();
        match view {
            View::Reshape => self.stream.reshape(x, shape),
            View::Expand => self.stream.view(x, |x| x.broadcast_to("expand", shape)),
            View::Swap(a, b) => {
                let (a, b) = (*a as isize, *b as isize);
                self.stream.view(x, |x| x.swap_axes("swap_dims", a, b))
            }
            View::Permute(axes) => self.stream.view(x, |x| x.permute("permute", &signed(axes))),
            View::Flip(axes) => self.stream.view(x, |x| x.flip("flip", &signed(axes))),
        }
    }
    /// Computes what is still referenced after the chain.
    fn finish(mut self) -> Result<()> {
        self.values.retain(|_, x| !matches!(x, Value::Given(_)));
        self.stream.run()?;
        for (id, value) in self.values {
            let (tensor, dtype) = match value {
                Value::Given(_) => continue,
                Value::Queued(x, dtype) => (x.get()?, dtype),
                Value::Filled(x, dtype) => (x.contiguous()?, dtype),
            };
            let id = self.context.tensors[&id].id;
            self.context
                .handles
                .register_handle(id, handle(tensor, dtype));
        }
        Ok(())
    }

    /// Takes a tensor up that comes from before the chain.
    fn read(&mut self, x: &TensorIr) {
        if !self.values.contains_key(&x.id) {
            let id = self.context.tensors[&x.id].id;
            let handle = self
                .context
                .handles
                .get_handle(&id, &TensorStatus::ReadOnly);
            self.values.insert(x.id, Value::Given(tensor(handle)));
        }
    }
    /// Lets a tensor go that is not used again.
    fn end(&mut self, x: &TensorIr) {
        if let Some(Value::Given(_)) | None = self.values.remove(&x.id) {
            let id = self.context.tensors[&x.id].id;
            self.context.handles.remove_handle(id);
        }
    }
    fn value(&self, x: &TensorIr) -> Argument<'_> {
        match &self.values[&x.id] {
            Value::Given(x) | Value::Filled(x, _) => x.into(),
            Value::Queued(x, _) => x.into(),
        }
    }
    /// The sizes of this run.
    fn shape(&self, x: &TensorIr) -> &[usize] {
        self.context.tensors[&x.id].shape.as_slice()
    }
    /// The number of this run that has this place in the chain.
    fn number(&self, x: &ScalarIr) -> Scalar {
        match x {
            ScalarIr::UInt(value) => self.context.scalars[&ScalarId { value: *value }].into(),
            other => (*other).into(),
        }
    }
}

fn tensor(handle: HandleKind<Flex>) -> Tensor {
    match handle {
        HandleKind::Float(x) | HandleKind::Int(x) | HandleKind::Bool(x) => x.into_tensor(),
        HandleKind::Quantized(_) => panic!("a quantized tensor in a chain"),
    }
}

fn handle(tensor: Tensor, dtype: DType) -> HandleKind<Flex> {
    match dtype {
        DType::Bool(_) => HandleKind::Bool(FlexTensor::of_bool(tensor, dtype.into())),
        _ if dtype.is_float() => HandleKind::Float(tensor.into()),
        _ => HandleKind::Int(tensor.into()),
    }
}
