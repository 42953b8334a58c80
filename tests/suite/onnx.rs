//! ONNX models that are written here, message by message; `tests/python/test_onnx.py` runs ONNX's
//! own tests.

use flex::onnx::{LoadOptions, Model, Size, read_tensor};
use flex::{DType, Error, Result, Tensor};

/// A field with a length: a message, a string, bytes.
fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![field << 3 | 2];
    let mut len = content.len();
    while len > 127 {
        out.push(len as u8 | 128);
        len >>= 7;
    }
    out.push(len as u8);
    [out, content.to_vec()].concat()
}
fn text(field: u8, content: &str) -> Vec<u8> {
    bytes(field, content.as_bytes())
}
fn number(field: u8, n: u8) -> Vec<u8> {
    assert!(n < 128);
    vec![field << 3, n]
}
fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut message = Vec::new();
    inputs.iter().for_each(|x| message.extend(text(1, x)));
    outputs.iter().for_each(|y| message.extend(text(2, y)));
    message.extend(text(4, op));
    attributes.iter().for_each(|a| message.extend(bytes(5, a)));
    bytes(1, &message)
}
fn int(name: &str, n: u8) -> Vec<u8> {
    // the type, in a field whose number takes two bytes of a key
    [text(1, name), number(3, n), vec![0xa0, 0x01, 2]].concat()
}
fn graph_of(name: &str, graph: &[u8]) -> Vec<u8> {
    [text(1, name), bytes(6, graph), vec![0xa0, 0x01, 5]].concat()
}
/// An input (11) or output (12): a size is a number or a name.
fn value(field: u8, name: &str, dtype: u8, shape: &[&str]) -> Vec<u8> {
    let dims: Vec<u8> = shape
        .iter()
        .flat_map(|s| {
            bytes(
                1,
                &match s.parse::<u8>() {
                    Ok(n) => number(1, n),
                    Err(_) => text(2, s),
                },
            )
        })
        .collect();
    let tensor = [number(1, dtype), bytes(2, &dims)].concat();
    bytes(
        field,
        &[text(1, name), bytes(2, &bytes(1, &tensor))].concat(),
    )
}
fn weight(name: &str, shape: &[u8], values: &[f32]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let shape: Vec<u8> = shape.iter().flat_map(|n| number(1, *n)).collect();
    bytes(
        5,
        &[shape, number(2, 1), text(8, name), bytes(9, &raw)].concat(),
    )
}
fn model_of(opset: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let graph = bytes(7, &parts.concat());
    [number(1, 8), graph, bytes(8, &number(2, opset))].concat()
}
fn failure(file: &[u8]) -> String {
    Model::from_bytes(file)
        .err()
        .expect("the model is wrong")
        .to_string()
}

/// `y = relu(x w + b)`, and the sum of its rows.
fn layer() -> Vec<u8> {
    model_of(
        13,
        &[
            node("MatMul", &["x", "w"], &["xw"], &[]),
            node("Add", &["xw", "b"], &["z"], &[]),
            node("Relu", &["z"], &["y"], &[]),
            node("ReduceSum", &["y"], &["s"], &[int("keepdims", 0)]),
            node("Exp", &["z"], &["unused"], &[]),
            weight("w", &[2, 2], &[1.0, -1.0, 2.0, 1.0]),
            weight("b", &[2], &[0.5, -0.5]),
            value(11, "x", 1, &["n", "2"]),
            value(12, "y", 1, &["n", "2"]),
            value(12, "s", 1, &[]),
        ],
    )
}

#[test]
fn a_layer_runs_for_any_size() -> Result<()> {
    let model = Model::from_bytes(&layer())?;
    let shape = model.inputs()[0].shape.as_ref().unwrap();
    assert_eq!(shape[..], [Size::Symbol("n".into()), Size::Fixed(2)]);
    assert_eq!(model.about().parameters, 6);
    let y = model.run(&[Tensor::from([[1.0f32, 1.0], [-1.0, 0.0], [0.0, 0.0]])])?;
    assert_eq!(y[0].to_vec::<f32>()?, [3.5, 0.0, 0.0, 0.5, 0.5, 0.0]);
    assert_eq!(y[1].item::<f32>()?, 4.5);
    assert_eq!(
        model.run(&[Tensor::zeros([0, 2], DType::F32)?])?[0].shape(),
        [0, 2]
    );
    // what nothing needs does not run
    let mut ran = Vec::new();
    let x = Tensor::zeros([1, 2], DType::F32)?;
    model.run_watched(vec![x], Some(&mut |step| ran.push(step.operator)))?;
    assert_eq!(ran, ["MatMul", "ReduceSum"]);
    Ok(())
}

/// The operators that run, and the outputs.
fn steps_of(model: &Model, inputs: Vec<Tensor>) -> Result<(Vec<&'static str>, Vec<Tensor>)> {
    let mut ran = Vec::new();
    let outputs = model.run_watched(inputs, Some(&mut |step| ran.push(step.operator)))?;
    Ok((ran, outputs))
}

#[test]
fn a_bias_and_a_normalisation_join_what_is_before_them() -> Result<()> {
    let (model, x) = (Model::from_bytes(&layer())?, Tensor::from([[1.0f32, 1.0]]));
    let (ran, y) = steps_of(&model, vec![x])?;
    assert_eq!(
        (ran, y[0].to_vec::<f32>()?),
        (vec!["MatMul", "ReduceSum"], vec![3.5, 0.0])
    );
    // y = ((2 x + 1) - 3) / sqrt(4) * 10 + 7, but for epsilon
    let network = |more: &[Vec<u8>]| {
        let mut parts = vec![
            node("Conv", &["x", "w", "b"], &["c"], &[]),
            node(
                "BatchNormalization",
                &["c", "gamma", "beta", "mean", "var"],
                &["y"],
                &[],
            ),
            weight("w", &[1, 1, 1, 1], &[2.0]),
            weight("b", &[1], &[1.0]),
            weight("gamma", &[1], &[10.0]),
            weight("beta", &[1], &[7.0]),
            weight("mean", &[1], &[3.0]),
            weight("var", &[1], &[4.0]),
            value(11, "x", 1, &["1", "1", "1", "w"]),
            value(12, "y", 1, &["1", "1", "1", "w"]),
        ];
        parts.extend_from_slice(more);
        Model::from_bytes(&model_of(15, &parts))
    };
    let x = Tensor::from([1.0f32, -2.0]).reshape((1, 1, 1, 2))?;
    let (ran, y) = steps_of(&network(&[])?, vec![x.clone()])?;
    assert_eq!(ran, ["Conv"]);
    for (y, want) in y[0].to_vec::<f32>()?.into_iter().zip([7.0, -23.0]) {
        assert!((y - want).abs() < 1e-4, "{y} for {want}");
    }
    // another use of the convolution's result keeps both
    let more = [
        node("Relu", &["c"], &["r"], &[]),
        value(12, "r", 1, &["1", "1", "1", "w"]),
    ];
    let (ran, y) = steps_of(&network(&more)?, vec![x])?;
    assert_eq!(ran, ["Conv", "BatchNormalization", "Relu"]);
    assert_eq!(y[1].to_vec::<f32>()?, [3.0, 0.0]);
    Ok(())
}

#[test]
fn threads_share_a_model() -> Result<()> {
    let model = Model::from_bytes(&layer())?;
    let x = Tensor::from([[1.0f32, 1.0]]);
    std::thread::scope(|s| {
        let run = || {
            (0..50).all(|_| {
                model
                    .run(std::slice::from_ref(&x))
                    .is_ok_and(|y| y[0].at::<f32>((0, 0)) == Ok(3.5))
            })
        };
        let all: Vec<_> = (0..4).map(|_| s.spawn(run)).collect();
        all.into_iter().for_each(|t| assert!(t.join().unwrap()));
    });
    Ok(())
}

#[test]
fn inputs_are_not_written_to_and_memory_is_reused() -> Result<()> {
    let model = Model::from_bytes(&model_of(
        13,
        &[
            node("Neg", &["x"], &["a"], &[]),
            node("Abs", &["a"], &["b"], &[]),
            node("Neg", &["b"], &["y"], &[]),
            value(11, "x", 1, &["2"]),
            value(12, "y", 1, &["2"]),
        ],
    ))?;
    let x = Tensor::from([1.0f32, -2.0]);
    assert_eq!(
        model.run(std::slice::from_ref(&x))?[0].to_vec::<f32>()?,
        [-1.0, -2.0]
    );
    assert_eq!(x.to_vec::<f32>()?, [1.0, -2.0]);
    // given away, its memory becomes the result's
    let big = Tensor::zeros(1 << 20, DType::F32)?;
    let model = Model::from_bytes(&model_of(
        13,
        &[
            node("Exp", &["x"], &["a"], &[]),
            node("Neg", &["a"], &["y"], &[]),
            value(11, "x", 1, &["n"]),
            value(12, "y", 1, &["n"]),
        ],
    ))?;
    let memory = big.as_ptr();
    assert_eq!(model.run_watched(vec![big], None)?[0].as_ptr(), memory);
    Ok(())
}

#[test]
fn inputs_that_do_not_fit_are_errors() -> Result<()> {
    let model = Model::from_bytes(&layer())?;
    let of = |x: Tensor| model.run(&[x]).unwrap_err().to_string();
    assert!(
        of(Tensor::zeros([2, 3], DType::F32)?).contains("does not fit input x: float32 [n, 2]")
    );
    assert!(of(Tensor::zeros([2, 2], DType::F64)?).contains("the tensor is float64"));
    assert!(
        model
            .run(&[])
            .unwrap_err()
            .to_string()
            .contains("0 inputs where the model takes 1")
    );
    // an error of a node names it
    let model = Model::from_bytes(&model_of(
        13,
        &[
            node("Add", &["x", "y"], &["z"], &[]),
            value(11, "x", 1, &["n"]),
            value(11, "y", 1, &["m"]),
            value(12, "z", 1, &["n"]),
        ],
    ))?;
    let e = model
        .run(&[Tensor::from([1.0f32; 2]), Tensor::from([1.0f32; 3])])
        .unwrap_err();
    assert!(e.to_string().starts_with("onnx: node \"z\" (Add): add: "));
    assert!(
        matches!(&e, Error::Node { operator: "Add", node, error }
            if **node == *"z" && matches!(**error, Error::Shape { .. })),
        "{e}"
    );
    Ok(())
}

#[test]
fn all_missing_operators_are_named() {
    let body = [node("Foo", &["x"], &["q"], &[]), value(12, "q", 1, &[])].concat();
    let branches = [
        graph_of("then_branch", &body),
        graph_of("else_branch", &body),
    ];
    let message = failure(&model_of(
        13,
        &[
            node("Bar", &["x"], &["a"], &[]),
            node("Foo", &["a"], &["b"], &[]),
            node("If", &["b"], &["y"], &branches),
            value(11, "x", 9, &[]),
            value(12, "y", 1, &[]),
        ],
    ));
    assert_eq!(
        message,
        "onnx.load: no such operators: Bar (operator set 13, first as \"a\"); Foo (operator set 13, 3 times, first as \"b\")"
    );
}

#[test]
fn what_is_wrong_with_a_node_is_found_at_load() {
    let of = |node: Vec<u8>| {
        failure(&model_of(
            13,
            &[node, value(11, "x", 1, &["2"]), value(12, "y", 1, &["2"])],
        ))
    };
    assert!(
        of(node("Relu", &["x"], &["y"], &[int("axis", 1)]))
            .contains("node \"y\" (Relu): Relu: no attribute \"axis\"")
    );
    assert!(of(node("Relu", &["x", "x"], &["y"], &[])).contains("2 inputs: it takes 1 to 1"));
    assert!(
        of(node("Relu", &["q"], &["y"], &[])).contains("\"q\" is used before a node computes it")
    );
    assert!(of(node("Concat", &["x"], &["y"], &[])).contains("the attribute axis is missing"));
    assert!(of(node("Relu", &["y"], &["y"], &[])).contains("used before"));
    assert!(
        of([
            node("Relu", &["x"], &["y"], &[]),
            node("Abs", &["x"], &["y"], &[])
        ]
        .concat())
        .contains("two values are called \"y\"")
    );
    let late = model_of(99, &[node("Relu", &["x"], &["y"], &[])]);
    assert!(failure(&late).contains("operator set 99"));
}

#[test]
fn branches_and_loops() -> Result<()> {
    let branch = |op: &str, name: &str| {
        graph_of(
            name,
            &[node(op, &["x"], &["q"], &[]), value(12, "q", 1, &["2"])].concat(),
        )
    };
    let model = Model::from_bytes(&model_of(
        13,
        &[
            node(
                "If",
                &["c"],
                &["y"],
                &[branch("Neg", "then_branch"), branch("Abs", "else_branch")],
            ),
            value(11, "c", 9, &[]),
            value(11, "x", 1, &["2"]),
            value(12, "y", 1, &["2"]),
        ],
    ))?;
    let x = Tensor::from([1.0f32, -2.0]);
    let run =
        |c: bool| model.run(&[Tensor::scalar(c, DType::Bool)?, x.clone()])?[0].to_vec::<f32>();
    assert_eq!((run(true)?, run(false)?), (vec![-1.0, 2.0], vec![1.0, 2.0]));
    // v = v + x, as often as n says; and the list of all v
    let body = graph_of(
        "body",
        &[
            node("Add", &["v", "x"], &["v2"], &[]),
            node("Identity", &["go"], &["go2"], &[]),
            node("Identity", &["v2"], &["item"], &[]),
            value(11, "i", 7, &[]),
            value(11, "go", 9, &[]),
            value(11, "v", 1, &["2"]),
            value(12, "go2", 9, &[]),
            value(12, "v2", 1, &["2"]),
            value(12, "item", 1, &["2"]),
        ]
        .concat(),
    );
    let model = Model::from_bytes(&model_of(
        13,
        &[
            node("Loop", &["n", "", "x"], &["y", "all"], &[body]),
            value(11, "n", 7, &[]),
            value(11, "x", 1, &["2"]),
            value(12, "y", 1, &["2"]),
            value(12, "all", 1, &["k", "2"]),
        ],
    ))?;
    let run = |n: i64| model.run(&[Tensor::scalar(n, DType::I64)?, x.clone()]);
    assert_eq!(run(3)?[0].to_vec::<f32>()?, [4.0, -8.0]);
    assert_eq!(
        run(3)?[1].to_vec::<f32>()?,
        [2.0, -4.0, 3.0, -6.0, 4.0, -8.0]
    );
    assert_eq!(run(0)?[1].shape(), [0, 2]);
    Ok(())
}

#[test]
fn damaged_files_are_errors() {
    let file = layer();
    for end in 0..file.len() {
        let _ = Model::from_bytes(&file[..end]);
    }
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            if let Ok(model) = Model::from_bytes(&file) {
                let _ = model.run(&[Tensor::zeros([1, 2], DType::F32).unwrap()]);
            }
        }
    }
    // messages in messages
    let mut deep = Vec::new();
    for _ in 0..2000 {
        deep = bytes(1, &bytes(5, &graph_of("body", &deep)));
    }
    assert!(failure(&bytes(7, &deep)).contains("nested"));
    // a function of itself
    let inner = node("f", &["x"], &["y"], &[]);
    let function = [
        text(1, "f"),
        text(4, "x"),
        text(5, "y"),
        [vec![7 << 3 | 2], inner[1..].to_vec()].concat(),
    ]
    .concat();
    let call = model_of(
        13,
        &[
            node("f", &["x"], &["y"], &[]),
            value(11, "x", 1, &[]),
            value(12, "y", 1, &[]),
        ],
    );
    let recursive = [call, vec![0xca, 0x01, function.len() as u8], function].concat();
    assert!(
        failure(&recursive).contains("nested more than"),
        "{}",
        failure(&recursive)
    );
    // sizes beyond the data
    let huge = bytes(
        5,
        &[
            vec![8, 0xff, 0xff, 0xff, 0xff, 0x7f],
            number(2, 1),
            text(8, "w"),
            bytes(9, &[0; 4]),
        ]
        .concat(),
    );
    let e = failure(&model_of(13, &[huge, value(12, "w", 1, &[])]));
    assert!(e.contains("4 bytes of data where"), "{e}");
}

#[cfg(feature = "std")]
#[test]
fn external_data_stays_in_the_folder() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("flex-onnx-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("part")).unwrap();
    std::fs::write(
        folder.join("part/w.bin"),
        [0u8; 4]
            .into_iter()
            .chain(2.5f32.to_le_bytes())
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let with = |location: &str, offset: &str, length: &str| {
        let entry = |key: &str, value: &str| bytes(13, &[text(1, key), text(2, value)].concat());
        let entries = [
            entry("location", location),
            entry("offset", offset),
            entry("length", length),
        ]
        .concat();
        let w = bytes(
            5,
            &[
                number(1, 1),
                number(2, 1),
                text(8, "w"),
                entries,
                number(14, 1),
            ]
            .concat(),
        );
        let path = folder.join("model.onnx");
        std::fs::write(&path, model_of(13, &[w, value(12, "w", 1, &["1"])])).unwrap();
        Model::load(path)
    };
    assert_eq!(
        with("part/w.bin", "4", "4")?.run(&[])?[0].to_vec::<f32>()?,
        [2.5]
    );
    let wrong =
        |location, offset, length| with(location, offset, length).err().unwrap().to_string();
    for outside in [
        "../w.bin",
        "/etc/passwd",
        "part/../../w.bin",
        "",
        "part\\w.bin",
    ] {
        assert!(
            wrong(outside, "0", "4").contains("must be in the model's folder"),
            "{outside}"
        );
    }
    assert!(wrong("part/w.bin", "8", "4").contains("truncated"));
    assert!(wrong("part/w.bin", "4", "8").contains("of 8 bytes where"));
    assert!(wrong("part/w.bin", "-1", "4").contains("which is no size"));
    assert!(wrong("part", "0", "4").contains("not a file"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hosts", folder.join("link")).unwrap();
        assert!(wrong("link", "0", "4").contains("leads out"));
    }
    std::fs::remove_dir_all(folder).unwrap();
    Ok(())
}

#[test]
fn tensors_have_raw_or_listed_numbers() -> Result<()> {
    let of = |fields: &[Vec<u8>]| read_tensor(&fields.concat());
    let bits = 1.5f32.to_le_bytes();
    let raw = of(&[number(1, 1), number(2, 1), bytes(9, &bits)])?;
    let listed = of(&[number(1, 1), number(2, 1), bytes(4, &bits)])?;
    let single = of(&[number(1, 1), number(2, 1), vec![4 << 3 | 5], bits.to_vec()])?;
    assert_eq!(
        [raw, listed, single].map(|t| t.to_vec::<f32>()),
        [const { [1.5] }; 3].map(|v| Ok(v.to_vec()))
    );
    // four-bit integers, two a byte
    let packed = of(&[number(1, 3), number(2, 22), bytes(9, &[0x7f, 0x08])])?;
    assert_eq!(
        (packed.dtype(), packed.to_vec::<i8>()?),
        (DType::I8, vec![-1, 7, -8])
    );
    let booleans = of(&[number(1, 2), number(2, 9), bytes(5, &[0, 1])])?;
    assert_eq!(booleans.to_vec::<bool>()?, [false, true]);
    let e = of(&[number(1, 2), number(2, 8)]).unwrap_err();
    assert!(
        e.to_string()
            .contains("element type 8 (string) is not supported"),
        "{e}"
    );
    assert!(of(&[number(1, 2), number(2, 1), bytes(4, &bits)]).is_err());
    Ok(())
}

#[test]
fn operators_are_unique() {
    let mut all: Vec<_> = flex::onnx::operators()
        .map(|o| (o.domain, o.name, o.since))
        .collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
    assert!(count > 200);
}

#[test]
fn initializers_are_overridden() -> Result<()> {
    let file = flex::onnx::example_with_weight(); // y = x * w
    let x = Tensor::from([1.0f32, 2.0]);
    let plain = Model::from_bytes(&file)?;
    assert_eq!(
        (plain.inputs().len(), &*plain.about().overridable[0]),
        (1, "w")
    );
    assert!(plain.default_of(0).is_none());
    let model = LoadOptions {
        overridable: &["w"],
    }
    .from_bytes(&file)?;
    assert_eq!(model.inputs()[1].shape, Some(vec![Size::Fixed(1)]));
    let w = model.default_of(1).map(Tensor::to_vec::<f32>);
    assert_eq!(w.transpose()?, Some(vec![3.0]));
    for (inputs, wanted) in [
        (vec![x.clone()], [3.0f32, 6.0]),
        (vec![x.clone(), Tensor::from([-1.0f32])], [-1.0, -2.0]),
        (vec![x.clone()], [3.0, 6.0]),
    ] {
        assert_eq!(model.run(&inputs)?[0].to_vec::<f32>()?, wanted);
    }
    assert!(model.run(&[]).is_err());
    assert!(model.run(&[x.clone(), x]).is_err()); // two weights
    let wrong = |overridable: &[&str]| LoadOptions { overridable }.from_bytes(&file).is_err();
    assert!(wrong(&["x"]) && wrong(&["w", "w"]));
    Ok(())
}
