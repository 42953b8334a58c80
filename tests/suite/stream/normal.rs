//! Spellings of one computation give one plan, and the bits of eager operations.

use super::bits;
use crate::common::{Rng, layouts, random, special, tensor};
use flex::op::Op;
use flex::stream::{Graph, Operand, Rounding, Value};
use flex::{DType, Scalar, Tensor, ops};

/// A step of a random program: an operation of earlier values, some of them in place of a number.
struct Step {
    op: Op,
    operands: Vec<Source>,
}
#[derive(Clone, Copy)]
enum Source {
    Value(usize),
    Number(f64),
}

const OPS: [Op; 14] = [
    Op::Add,
    Op::Subtract,
    Op::Multiply,
    Op::Divide,
    Op::Square,
    Op::Abs,
    Op::Negative,
    Op::Maximum,
    Op::Minimum,
    Op::Clip,
    Op::Less,
    Op::GreaterEqual,
    Op::Where,
    Op::Exp,
];
/// What floats and integers alike can be combined with.
const NUMBERS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 0.0, 7.0, 16.0, 5.0];

/// A program of one dtype, whose first values are computed from `inputs` inputs.
fn program(rng: &mut Rng, dtype: DType, inputs: usize, length: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut numbers, mut truths) = (Vec::new(), Vec::new());
    for k in 0..inputs {
        steps.push(Step {
            op: Op::Add,
            operands: vec![Source::Value(k), Source::Number(3.0)],
        });
        numbers.push(inputs + k);
    }
    while steps.len() < length {
        let op = OPS[rng.next() as usize % OPS.len()];
        let floats = dtype.is_float();
        let is_unsigned = dtype == DType::U8;
        if !floats && matches!(op, Op::Divide | Op::Exp) || op == Op::Where && truths.is_empty() {
            continue;
        }
        let mut value = || Source::Value(numbers[rng.next() as usize % numbers.len()]);
        let mut operands: Vec<Source> = (0..op.arity()).map(|_| value()).collect();
        let mut number = || {
            let x = NUMBERS[rng.next() as usize % NUMBERS.len()];
            let negative = rng.next().is_multiple_of(2) && !is_unsigned;
            if negative { -x } else { x }
        };
        match op {
            Op::Clip => {
                let (a, b) = (number(), number());
                operands[1] = Source::Number(a.min(b));
                operands[2] = Source::Number(a.max(b));
            }
            Op::Where => {
                operands[0] = Source::Value(truths[rng.next() as usize % truths.len()]);
            }
            _ if op.arity() == 2 && rng.next().is_multiple_of(2) => {
                let at = rng.next() as usize % 2;
                let x = NUMBERS[rng.next() as usize % NUMBERS.len()];
                // the zero of integers has no sign
                operands[at] = Source::Number(if floats || x != 0.0 { x } else { 9.0 });
            }
            _ => (),
        }
        let at = inputs + steps.len();
        match op {
            Op::Less | Op::GreaterEqual => truths.push(at),
            _ => numbers.push(at),
        }
        steps.push(Step { op, operands });
    }
    steps
}

fn number(x: f64, dtype: DType) -> Scalar {
    match dtype.is_float() {
        true => Scalar::Float(x),
        false => Scalar::Int(x as i128),
    }
}

/// The values of the inputs and of all steps, computed one by one.
fn eager(steps: &[Step], inputs: &[Tensor]) -> Vec<Tensor> {
    let (dtype, mut all) = (inputs[0].dtype(), inputs.to_vec());
    for Step { op, operands } in steps {
        let x: Vec<ops::Arg> = operands
            .iter()
            .map(|x| match x {
                Source::Value(k) => ops::Arg::Own(all[*k].clone()),
                Source::Number(x) => ops::Arg::Scalar(number(*x, dtype)),
            })
            .collect();
        let x = |k: usize| x[k].clone();
        let y = match op {
            Op::Add => ops::add(x(0), x(1)),
            Op::Subtract => ops::subtract(x(0), x(1)),
            Op::Multiply => ops::multiply(x(0), x(1)),
            Op::Divide => ops::divide(x(0), x(1)),
            Op::Square => ops::square(x(0)),
            Op::Abs => ops::abs(x(0)),
            Op::Negative => ops::negative(x(0)),
            Op::Maximum => ops::maximum(x(0), x(1)),
            Op::Minimum => ops::minimum(x(0), x(1)),
            Op::Clip => ops::clip(x(0), x(1), x(2)),
            Op::Less => ops::less(x(0), x(1)),
            Op::GreaterEqual => ops::greater_equal(x(0), x(1)),
            Op::Exp => ops::exp(x(0)),
            _ => ops::where_(x(0), x(1), x(2)),
        };
        all.push(y.unwrap());
    }
    all
}

/// A graph under construction, and how to spell its operations.
struct Speller {
    graph: Graph,
    dtype: DType,
    /// No other spellings than the plain ones if there is none.
    rng: Option<Rng>,
}

impl Speller {
    fn apply(&mut self, op: Op, operands: &[Operand]) -> Value {
        self.graph.apply(op, operands).unwrap()
    }
    fn choose(&mut self, n: u64) -> u64 {
        self.rng.as_mut().map_or(0, |rng| rng.next() % n)
    }
    fn negated(&mut self, x: Operand) -> Operand {
        match x {
            Operand::Number(Scalar::Float(x)) => (-x).into(),
            Operand::Number(Scalar::Int(x)) => Operand::Number(Scalar::Int(-x)),
            x => self.apply(Op::Negative, &[x]).into(),
        }
    }
    /// The same value, spelled in another way.
    fn same(&mut self, x: Value) -> Value {
        let (dtype, floats) = (self.dtype, self.dtype.is_float());
        let one = Operand::Number(number(1.0, dtype));
        let zero = Operand::Number(number(0.0, dtype));
        match self.choose(14) {
            1 => {
                let y = self.apply(Op::Negative, &[x.into()]);
                self.apply(Op::Negative, &[y.into()])
            }
            2 => self.apply(Op::Multiply, &[x.into(), one]),
            3 => self.apply(Op::Multiply, &[one, x.into()]),
            4 => self.apply(Op::Positive, &[x.into()]),
            5 => self.apply(Op::Subtract, &[x.into(), zero]),
            6 if floats => self.apply(Op::Divide, &[x.into(), one]),
            7 if floats => self.apply(Op::Add, &[x.into(), (-0.0).into()]),
            8 => {
                let c = self.apply(Op::Less, &[x.into(), one]);
                self.apply(Op::Where, &[c.into(), x.into(), x.into()])
            }
            9 if dtype != DType::F16 => {
                let wide = match dtype {
                    DType::I32 => DType::I64,
                    DType::U8 => DType::F32,
                    _ => DType::F64,
                };
                let y = self.graph.convert(x, wide).unwrap();
                self.graph.convert(y, dtype).unwrap()
            }
            _ => x,
        }
    }
    fn step(&mut self, op: Op, x: &[Operand]) -> Value {
        let is_number = |x: &Operand| matches!(x, Operand::Number(_));
        // the numbers of unsigned integers have no signs
        let signs = self.dtype != DType::U8 || !x.iter().any(is_number);
        let floats = self.dtype.is_float();
        let all: Vec<Operand> = (x.iter().enumerate())
            .map(|(k, x)| match signs && (op, k) != (Op::Where, 0) {
                true => self.negated(*x),
                false => *x,
            })
            .collect();
        let k = self.choose(4);
        let negated = match (op, k) {
            (Op::Multiply, 1) if signs => self.apply(op, &[all[0], x[1]]),
            (Op::Multiply, 2) if signs => self.apply(op, &[all[1], x[0]]),
            (Op::Divide, 1) => self.apply(op, &[all[0], x[1]]),
            (Op::Divide, 2) => self.apply(op, &[x[0], all[1]]),
            (Op::Maximum, 1) if floats => self.apply(Op::Minimum, &all),
            (Op::Minimum, 1) if floats => self.apply(Op::Maximum, &all),
            (Op::Clip, 1) if floats && !x[1..].contains(&0.0.into()) => {
                self.apply(op, &[all[0], all[2], all[1]])
            }
            (Op::Where, 1) if signs => self.apply(op, &[x[0], all[1], all[2]]),
            _ => {
                return match (op, k) {
                    (Op::Multiply, 3) if signs => self.apply(op, &all),
                    (Op::Multiply, _) if k > 0 => self.apply(op, &[x[1], x[0]]),
                    (Op::Divide, 3) => {
                        let factor = match x[1] {
                            Operand::Number(Scalar::Float(c)) if c == 2.0 || c == -16.0 => 1.0 / c,
                            _ => return self.apply(op, &all),
                        };
                        self.apply(Op::Multiply, &[x[0], factor.into()])
                    }
                    (Op::Square, 1) => self.apply(Op::Multiply, &[all[0], all[0]]),
                    (Op::Square, 2) => self.apply(Op::Multiply, &[x[0], x[0]]),
                    (Op::Square, 3) => self.apply(op, &all),
                    (Op::Abs, 3) if self.dtype != DType::U8 => self.apply(op, &all),
                    (Op::Add, 1 | 2) if signs => self.apply(Op::Subtract, &[x[0], all[1]]),
                    (Op::Add, 3) => self.apply(op, &[x[1], x[0]]),
                    (Op::Subtract, 1) if signs => self.apply(Op::Add, &[x[0], all[1]]),
                    (Op::Subtract, 2) if signs => self.apply(Op::Add, &[all[1], x[0]]),
                    (Op::Less, 1) => self.apply(Op::Greater, &[x[1], x[0]]),
                    (Op::Less, 2) if floats => self.apply(Op::Greater, &all),
                    (Op::GreaterEqual, 1) => self.apply(Op::LessEqual, &[x[1], x[0]]),
                    (Op::GreaterEqual, 2) if floats => self.apply(Op::LessEqual, &all),
                    _ => self.apply(op, x),
                };
            }
        };
        self.apply(Op::Negative, &[negated.into()])
    }
    /// The values of the inputs and of all steps.
    fn spell(&mut self, steps: &[Step], shape: &[usize], inputs: usize) -> Vec<Value> {
        let dtype = self.dtype;
        let inputs = (0..inputs).map(|_| self.graph.input(shape, dtype));
        let mut all: Vec<Value> = inputs.collect();
        for (k, Step { op, operands }) in steps.iter().enumerate() {
            let mut x: Vec<Operand> = Vec::new();
            for operand in operands {
                x.push(match operand {
                    Source::Number(n) => Operand::Number(number(*n, dtype)),
                    Source::Value(at) if *at >= all.len() - k && *op != Op::Where => {
                        self.same(all[*at]).into()
                    }
                    Source::Value(at) => all[*at].into(),
                });
            }
            let y = match x.iter().all(|x| matches!(x, Operand::Number(_))) || k == 0 {
                true => self.apply(*op, &x),
                false => self.step(*op, &x),
            };
            all.push(y);
        }
        all
    }
}

/// The text of a plan with the operations of each step sorted: a spelling decides which of those
/// that don't depend on each other comes first, and so are results numbered.
fn in_any_order(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let (step, names) = line.split_once(": ").unwrap_or((line, ""));
        if step.starts_with("returns") {
            return String::new();
        }
        let mut names: Vec<&str> = names.split(", ").collect();
        names.sort_unstable();
        format!("{step}: {}", names.join(", "))
    };
    text.lines().map(line).collect()
}

#[test]
fn spellings_of_a_program_are_one_plan_with_the_bits_of_eager_operations() {
    let dtypes = [
        DType::F32,
        #[cfg(feature = "f64")]
        DType::F64,
        #[cfg(feature = "half")]
        DType::F16,
        DType::I32,
        #[cfg(feature = "ints")]
        DType::U8,
    ];
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let dtype = dtypes[seed as usize % dtypes.len()];
        if dtype == DType::F16 && !dtype.is_available() {
            continue;
        }
        let (shape, inputs) = ([3, 35], 1 + seed as usize % 3);
        let length = inputs + 1 + rng.next() as usize % 24;
        let steps = program(&mut rng, dtype, inputs, length);
        let numbers = special(dtype);
        let mut input = || {
            let some = |_| numbers[rng.next() as usize % numbers.len()];
            let all: Vec<Scalar> = (0..shape[0] * shape[1]).map(some).collect();
            tensor(&all, &shape, dtype)
        };
        let tensors: Vec<Tensor> = (0..inputs).map(|_| input()).collect();
        let expected = eager(&steps, &tensors);
        let mut text = None;
        for spelling in 0..4 {
            let mut speller = Speller {
                graph: Graph::new(),
                dtype,
                rng: (spelling > 0).then(|| Rng(seed * 10 + spelling)),
            };
            let values = speller.spell(&steps, &shape, inputs);
            let outputs = [values[values.len() - 1], values[inputs + steps.len() / 2]];
            let program = speller.graph.compile(&outputs, Rounding::Each).unwrap();
            let own = in_any_order(&program.to_string());
            let first = text.get_or_insert_with(|| own.clone());
            assert_eq!(own, *first, "seed {seed}, spelling {spelling}, {dtype}");
            let results = program.run(&tensors).unwrap();
            for (y, k) in results
                .iter()
                .zip([values.len() - 1, inputs + steps.len() / 2])
            {
                let wide = |x: &Tensor| match x.dtype() {
                    DType::Bool | DType::F32 | DType::F64 => x.clone(),
                    d if d.is_float() => x.astype(DType::F32).unwrap(),
                    _ => x.astype(DType::I64).unwrap(),
                };
                let (y, expected) = (wide(y), wide(&expected[k]));
                assert_eq!(
                    bits(&y),
                    bits(&expected),
                    "seed {seed}, spelling {spelling}"
                );
            }
        }
    }
}

/// Signs and copies of inputs decide layouts, and these the bits of sums.
#[test]
fn negated_inputs_keep_the_layouts_of_results() {
    let mut rng = Rng(5);
    let mut given = Vec::new();
    for shape in [[6, 5], [6, 1], [1, 5]] {
        let x = random(&mut rng, &shape, DType::F32);
        for (_, x) in layouts(&x) {
            given.push(x.broadcast_to([6, 5]).unwrap());
        }
    }
    let line = random(&mut rng, &[10], DType::F32);
    given.push(line.unfold(0, 5, 1).unwrap()); // windows that overlap
    given.push(line.unfold(0, 6, 1).unwrap().transpose(0, 1).unwrap());
    for x in &given {
        for y in &given {
            let mut g = Graph::new();
            let (a, b) = (g.input(&[6, 5], DType::F32), g.input(&[6, 5], DType::F32));
            let minus = g.apply(Op::Negative, &[a.into()]).unwrap();
            let same = g.apply(Op::Multiply, &[a.into(), 1.0.into()]).unwrap();
            let mut all = vec![(minus, ops::negative(x).unwrap())];
            all.push((same, ops::multiply(x, 1.0).unwrap()));
            let less = g.apply(Op::Less, &[b.into(), 0.0.into()]).unwrap();
            let either = [less.into(), minus.into(), minus.into()];
            let either = g.apply(Op::Where, &either).unwrap();
            let of_y = ops::less(y, 0.0).unwrap();
            let negated = ops::negative(x).unwrap();
            all.push((either, ops::where_(&of_y, &negated, &negated).unwrap()));
            for k in [0, 1] {
                let (value, tensor) = all[k].clone();
                let product = g.apply(Op::Multiply, &[value.into(), b.into()]).unwrap();
                all.push((product, ops::multiply(&tensor, y).unwrap()));
                let sum = g.apply(Op::Add, &[b.into(), value.into()]).unwrap();
                all.push((sum, ops::add(y, &tensor).unwrap()));
            }
            let outputs: Vec<Value> = all.iter().map(|x| x.0).collect();
            let program = g.compile(&outputs, Rounding::Each).unwrap();
            let results = program.run(&[x.clone(), y.clone()]).unwrap();
            for (y, (_, expected)) in results.iter().zip(&all) {
                assert_eq!(bits(y), bits(expected));
                assert_eq!(y.strides(), expected.strides());
            }
        }
    }
}
