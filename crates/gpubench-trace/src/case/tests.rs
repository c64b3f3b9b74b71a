use gpubench::catalog::{AxisValue, DeviceFacts, DeviceKind, Execution, Mismatched, Recording, Reference, Work};
use gpubench::plan::{Plan, check};
use gpubench_diagnostic::{Expected as _, chain};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::workload::ScalarValue;

/// A definition of SOL-ExecBench with every kind of axis, and a scalar. `json!` sorts its names.
fn rope() -> Value {
    json!({
        "name": "rope",
        "op_type": "rope",
        "axes": {
            "batch": {"type": "var"},
            "head_dim": {"type": "const", "value": 128},
            "half": {"type": "expr", "expression": "head_dim // 2"},
            "pairs": {"type": "expr", "expression": "batch * half"},
        },
        "inputs": {
            "a": {"shape": ["batch", "head_dim"], "dtype": "bfloat16"},
            "b": {"shape": null, "dtype": "float32"},
            "c": {"shape": ["batch"], "dtype": "bool"},
            "d": {"shape": ["half", "2"], "dtype": "float32"},
        },
        "outputs": {
            "y": {"shape": ["pairs"], "dtype": "float16"},
            "z": {"shape": [], "dtype": "int64"},
        },
        "reference": "def run(a, b, c, d):\n    return a, 1\n",
    })
}

fn workload() -> Value {
    json!({
        "uuid": "w",
        "axes": {"batch": 3},
        "inputs": {
            "a": {"type": "random"},
            "b": {"type": "scalar", "value": 2},
            "d": {"type": "safetensors", "path": "blob/rope.safetensors", "tensor_key": "t"},
        },
    })
}

fn made(dialect: Dialect, definition: &Value, workload: &Value) -> Result<Case, CaseError> {
    let definition = Definition::parse(&definition.to_string()).expect("a definition");
    let workload = Workload::parse(&workload.to_string()).expect("a workload");
    Case::new(dialect, &definition, &workload, None)
}

/// Checks the tensors with the rules that a run has.
fn assert_is_accepted(case: &Case) {
    let facts = DeviceFacts {
        kind: DeviceKind::Cuda,
        name: String::new(),
        multiprocessors: 1,
        capability: 90,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_block: [1024; 3],
        max_grid: [65535; 3],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 227 << 10,
        l2_bytes: 1 << 20,
    };
    let recording = Recording {
        tensors: case.tensors.clone(),
        work: Work::default(),
        plan: Plan::default(),
        reference: Reference::Provider(Box::new(case.reference.provider("python3", "/", "call.json"))),
        execution: Execution::Hosted,
        call: None,
    };
    check(&recording, &facts).expect("the tool accepts the tensors");
}

#[test]
fn tensors_scalars_and_axes_of_a_definition_become_those_of_a_case() {
    let case = made(Dialect::SolExecBench, &rope(), &workload()).expect("a case");
    assert_is_accepted(&case);
    let tensors: Vec<_> = case
        .tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), tensor.dtype, tensor.shape.clone(), tensor.role))
        .collect();
    assert_eq!(
        tensors,
        [
            ("a", DType::BF16, vec![3, 128], Role::Input),
            ("c", DType::U8, vec![3], Role::Input),
            ("d", DType::F32, vec![64, 2], Role::Constant),
            ("y", DType::F16, vec![192], Role::Output),
            ("z", DType::I64, vec![], Role::Output),
        ]
    );
    assert_eq!(case.tensors[1].fill, Fill::Integers { low: 0, high: 2 });
    assert_eq!(case.element_types[1], ElementType::Bool);
    let scalar = Argument::Scalar {
        name: "b".to_owned(),
        element_type: ElementType::Float32,
        value: ScalarValue::Float(2.0),
    };
    let tensor = Argument::Tensor;
    assert_eq!(
        case.arguments,
        [tensor(0), scalar, tensor(1), tensor(2), tensor(3), tensor(4)]
    );
    let params: Vec<_> = case
        .params
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    assert_eq!(
        params,
        [
            ("batch", AxisValue::Int(3)),
            ("half", AxisValue::Int(64)),
            ("head_dim", AxisValue::Int(128)),
            ("pairs", AxisValue::Int(192)),
            ("b", AxisValue::Float(2.0)),
        ]
    );
    let file = InputFile {
        tensor: 2,
        path: "blob/rope.safetensors".to_owned(),
        tensor_key: "t".to_owned(),
    };
    assert_eq!(case.files, [file]);
    assert_eq!(case.unread_constraints, [""; 0]);
}

#[test]
fn a_reference_is_a_command_with_its_files_in_a_folder() {
    let case = made(Dialect::SolExecBench, &rope(), &workload()).expect("a case");
    let folder = tempfile::tempdir().expect("a folder");
    for call in ["call.json", "call.json", "call-2.json"] {
        case.reference.write(folder.path(), call).expect("room");
    }
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(text("reference.py"), "def run(a, b, c, d):\n    return a, 1\n");
    insta::assert_snapshot!(text("call.json"));
    let provider = case.reference.provider("/usr/bin/python3", "/somewhere", "call.json");
    assert_eq!(
        provider.command,
        ["/usr/bin/python3", "-B", "gpubench_reference.py", "call.json"]
    );
    assert!(text(&provider.command[2]).contains("def main():"));
    assert_eq!(
        (provider.folder.as_str(), &provider.params),
        ("/somewhere", &case.params)
    );
}

#[test]
fn scalars_have_the_values_of_their_types() {
    use ScalarValue::{Bool, Float, Int};
    for (value, element_type, expected) in [
        (Int(-128), ElementType::Int8, Some(Int(-128))),
        (Int(127), ElementType::Int8, Some(Int(127))),
        (Int(128), ElementType::Int8, None),
        (Int(-32769), ElementType::Int16, None),
        (Int(1 << 31), ElementType::Int32, None),
        (Int(i64::MIN), ElementType::Int64, Some(Int(i64::MIN))),
        (Float(2.0), ElementType::Int32, Some(Int(2))),
        (Float(2.5), ElementType::Int32, None),
        (Float(1e300), ElementType::Int64, None),
        (Int(3), ElementType::Bfloat16, Some(Float(3.0))),
        (Float(0.5), ElementType::Float64, Some(Float(0.5))),
        (Bool(true), ElementType::Bool, Some(Bool(true))),
        (Bool(true), ElementType::Int8, None),
        (Int(1), ElementType::Bool, None),
        (Bool(true), ElementType::Float32, None),
    ] {
        assert_eq!(
            scalar::converted(value, element_type),
            expected,
            "{value} as {}",
            element_type.name()
        );
    }
    let params = [Bool(true), Int(-1), Float(0.5)].map(scalar::param);
    assert_eq!(
        params,
        [AxisValue::Bool(true), AxisValue::Int(-1), AxisValue::Float(0.5)]
    );
}

#[test]
fn a_tensor_of_almost_too_many_bytes_is_accepted() {
    let definition = |extent: u64| with(rope(), "/inputs/a/shape", json!(["0", extent.to_string()]));
    let made = |extent| made(Dialect::FlashInfer, &definition(extent), &workload());
    assert_is_accepted(&made(1 << 45).expect("a case"));
    let error = made((1 << 45) + 1).expect_err("it is too large");
    assert!(matches!(error, CaseError::TooLarge { .. }), "{error}");
}

#[test]
fn formats_and_differences_have_words() {
    let words = [Dialect::FlashInfer, Dialect::SolExecBench].map(|dialect| dialect.to_string());
    assert_eq!(words, ["FlashInfer-Bench", "SOL-ExecBench"]);
    let differences = [
        Difference::SumOfBounds,
        Difference::NoErrorCap,
        Difference::ErrorCapGrows,
    ];
    for (difference, word) in differences
        .iter()
        .zip(["sum of both bounds", "a million times", "grows"])
    {
        assert!(difference.to_string().contains(word), "{difference}");
    }
}

/// Changes one place of the definition or the workload.
fn with(mut document: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = document.pointer_mut(parent).expect("the parent");
    parent[key] = value;
    document
}

#[test]
fn what_cannot_be_expressed_is_named() {
    let in_definition = |pointer: &str, value: Value| (with(rope(), pointer, value), workload());
    let in_workload = |pointer: &str, value: Value| (rope(), with(workload(), pointer, value));
    let cases = [
        in_definition("/inputs/a/dtype", json!("float4_e2m1")),
        in_definition("/outputs/y/dtype", json!("float4_e2m1fn_x2")),
        in_definition("/op_type", json!("sampling")),
        in_definition("/outputs", json!({})),
        in_definition("/outputs/y/shape", json!(null)),
        in_definition("/axes/half/expression", json!("head_dim - 200")),
        in_definition("/axes/half/expression", json!("head_dim / 3")),
        in_definition("/axes/half/expression", json!("pairs // 2")),
        in_definition("/axes/half/expression", json!("half")),
        in_definition("/axes/half/expression", json!("().__class__")),
        in_definition("/axes/head_dim/value", json!(u64::MAX)),
        in_definition("/axes/head_dim/value", json!(1_u64 << 45)),
        in_definition("/inputs/d/shape", json!(["half", "99999999999999999999"])),
        in_definition("/constraints", json!(["head_dim == 2 * half", "batch > 3"])),
        in_definition("/axes/gpubench_sets", json!({"type": "const", "value": 1})),
        in_definition("/outputs/__metadata__", json!({"shape": [], "dtype": "int8"})),
        in_workload("/axes", json!({})),
        in_workload("/axes/rows", json!(3)),
        in_workload("/axes/head_dim", json!(64)),
        in_workload("/inputs/other", json!({"type": "random"})),
        in_workload("/inputs/a", json!({"type": "custom"})),
        in_workload("/inputs/a", json!({"type": "scalar", "value": 1})),
        in_workload("/inputs/b", json!({"type": "random"})),
        in_workload("/inputs/b", json!({"type": "scalar", "value": true})),
        in_workload(
            "/inputs/b",
            json!({"type": "safetensors", "path": "a", "tensor_key": "b"}),
        ),
        in_workload("/inputs/d/path", json!("../../etc/passwd")),
        in_workload("/inputs/d/path", json!("/etc/passwd")),
        in_workload("/tolerance", json!({"required_matched_ratio": 0})),
        in_workload("/tolerance", json!({"max_atol": 0, "max_rtol": 0})),
        in_workload("/tolerance", json!({"max_atol": 0, "max_error_cap": 1})),
        in_workload("/tolerance", json!({"max_atol": 1e308})),
    ];
    let messages = cases.map(|(definition, workload)| {
        let error = made(Dialect::SolExecBench, &definition, &workload).expect_err("it cannot be expressed");
        let hint = error.hint().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
        format!("{}{hint}", chain(&error))
    });
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_constraint_that_names_more_than_axes_is_listed() {
    let definition = with(rope(), "/constraints", json!(["batch == a.shape[0]", "batch <= 3"]));
    let case = made(Dialect::FlashInfer, &definition, &workload()).expect("a case");
    assert_eq!(case.unread_constraints, ["batch == a.shape[0]"]);
}

#[test]
fn each_format_has_its_own_tolerance() {
    let tolerance = |dialect, spec: Value| {
        let case = made(dialect, &rope(), &with(workload(), "/tolerance", spec)).expect("a case");
        assert_is_accepted(&case);
        (case.tensors[3].tolerance, case.differences)
    };
    let sol = |spec| tolerance(Dialect::SolExecBench, spec);
    let close = |rtol, atol| Tolerance::Close { rtol, atol };
    let mostly = |rtol, atol, share, cap| Tolerance::Mostly {
        rtol,
        atol,
        mismatched: Mismatched { share, cap },
    };
    assert_eq!(
        tolerance(Dialect::FlashInfer, json!(null)),
        (close(0.01, 0.01), vec![Difference::SumOfBounds])
    );
    assert_eq!(
        sol(json!(null)),
        (mostly(0.01, 0.01, 1.0 - 0.99, 1e6), vec![Difference::NoErrorCap])
    );
    assert_eq!(
        sol(json!({"max_error_cap": 0.25, "max_atol": 0.125, "max_rtol": 0, "required_matched_ratio": 0.5})),
        (mostly(0.0, 0.125, 0.5, 2.0), vec![])
    );
    assert_eq!(
        sol(json!({"max_error_cap": 1, "max_atol": 0.5})),
        (mostly(0.01, 0.5, 1.0 - 0.99, 2.0), vec![Difference::ErrorCapGrows])
    );
    assert_eq!(sol(json!({"max_error_cap": 0.001})), (close(0.0, 0.001), vec![]));
    assert_eq!(sol(json!({"required_matched_ratio": 1})), (close(0.01, 0.01), vec![]));
}

#[test]
fn a_tolerance_without_a_share_loosens_no_share() {
    let plain = with(rope(), "/axes/half", json!({"type": "const", "value": 64}));
    let plain = with(plain, "/axes/pairs", json!({"type": "var"}));
    let parsed = Definition::parse(&plain.to_string()).expect("a definition");
    let dialect = Dialect::of_definition(&parsed);
    assert_eq!(dialect, Dialect::FlashInfer);
    let tolerance = |spec: Value| {
        let workload = with(workload(), "/axes/pairs", json!(192));
        let case = made(dialect, &plain, &with(workload, "/tolerance", spec)).expect("a case");
        case.tensors[3].tolerance
    };
    let close = |rtol, atol| Tolerance::Close { rtol, atol };
    assert_eq!(tolerance(json!({"max_atol": 1e-3, "max_rtol": 0})), close(0.0, 1e-3));
    assert_eq!(tolerance(json!({})), close(0.01, 0.01));
    assert!(matches!(
        tolerance(json!({"required_matched_ratio": 0.9})),
        Tolerance::Mostly { .. }
    ));
    let of_sol = Definition::parse(&rope().to_string()).expect("a definition");
    assert_eq!(Dialect::of_definition(&of_sol), Dialect::SolExecBench);
}

#[test]
fn a_tolerance_of_the_caller_comes_first() {
    let definition = Definition::parse(&rope().to_string()).expect("a definition");
    let given = with(workload(), "/tolerance", json!({"max_atol": 0.5}));
    let workload = Workload::parse(&given.to_string()).expect("a workload");
    let made = |tolerance| Case::new(Dialect::SolExecBench, &definition, &workload, Some(tolerance));
    let exact = ToleranceSpec {
        max_atol: 0.0,
        max_rtol: 0.0,
        required_matched_ratio: Some(1.0),
        ..ToleranceSpec::default()
    };
    let case = made(exact).expect("a case");
    assert_eq!(case.tensors[3].tolerance, Tolerance::Close { rtol: 0.0, atol: 0.0 });
    for wrong in [
        ToleranceSpec {
            required_matched_ratio: Some(1.5),
            ..exact
        },
        ToleranceSpec {
            max_atol: -1.0,
            ..exact
        },
        ToleranceSpec {
            max_rtol: f64::NAN,
            ..exact
        },
        ToleranceSpec {
            max_error_cap: Some(f64::INFINITY),
            ..exact
        },
    ] {
        made(wrong).expect_err("it is no tolerance");
    }
}

#[test]
fn inputs_of_sol_execbench_are_filled_by_their_names() {
    let fill = |name: &str, shape: Value| {
        let definition = json!({
            "name": "d",
            "axes": {},
            "inputs": {name: {"shape": shape, "dtype": "float32"}},
            "outputs": {"out": {"shape": ["2"], "dtype": "float32"}},
            "reference": "def run(x): return x",
        });
        let workload = json!({"uuid": "w", "axes": {}, "inputs": {}});
        made(Dialect::SolExecBench, &definition, &workload).map(|case| {
            assert_is_accepted(&case);
            case.tensors[0].fill.clone()
        })
    };
    let row = || json!(["4", "16"]);
    for (name, expected) in [
        ("x", normal(0.0, 1.0)),
        ("q_norm2_weight", normal(1.0, 0.1)),
        ("layernorm_bias", normal(0.0, 0.1)),
        ("gate_proj", normal(0.0, 0.25)),
        ("weight1", normal(0.0, 0.25)),
        ("drop_mask", Fill::Integers { low: 0, high: 2 }),
        ("cos", Fill::Uniform { low: -1.0, high: 1.0 }),
        ("x_rstd", Fill::Uniform { low: 0.1, high: 2.1 }),
        ("A_log", Fill::Uniform { low: -5.0, high: -1.0 }),
    ] {
        assert_eq!(fill(name, row()), Ok(expected), "{name}");
    }
    assert_eq!(
        fill("gate_proj", json!(["16"])),
        Ok(normal(0.0, 1.0)),
        "a vector is no matrix"
    );
    let described = |description: &str, dtype: &str| {
        let definition = json!({
            "name": "d",
            "axes": {},
            "inputs": {"some_proj": {"shape": ["4", "4"], "dtype": dtype, "description": description}},
            "outputs": {"out": {"shape": ["2"], "dtype": "float32"}},
            "reference": "def run(x): return x",
        });
        let workload = json!({"uuid": "w", "axes": {}, "inputs": {}});
        made(Dialect::SolExecBench, &definition, &workload).map(|case| case.tensors[0].fill.clone())
    };
    assert_eq!(described("causal", "float32"), Ok(normal(0.0, 0.5)));
    assert_eq!(described("", "float8_e4m3fn"), Ok(normal(0.0, 1.0)));
    assert!(described("the causal Attention Mask", "float32").is_err());
    assert!(described("the output of a softmax", "float32").is_err());
    for (name, shape) in [
        ("causal_mask", json!(["4", "4"])),
        ("attn_weights", row()),
        ("A_cumsum", row()),
    ] {
        let error = fill(name, shape).expect_err(name);
        assert!(matches!(error, CaseError::Distribution { .. }), "{error}");
    }
}

const fn normal(mean: f64, stddev: f64) -> Fill {
    Fill::Normal { mean, stddev }
}

proptest! {
    #[test]
    fn any_extents_make_a_case_that_the_tool_accepts_or_an_error(batch: u64, head: u64, numbers in prop::collection::vec(any::<u64>(), 0..6)) {
        let mut shape = vec!["head_dim".to_owned()];
        shape.extend(numbers.iter().map(u64::to_string));
        let definition = with(rope(), "/axes/head_dim/value", json!(head));
        let definition = with(definition, "/inputs/a/shape", json!(shape));
        let workload = with(workload(), "/axes/batch", json!(batch));
        if let Ok(case) = made(Dialect::FlashInfer, &definition, &workload) {
            assert_is_accepted(&case);
        }
    }

    #[test]
    fn small_extents_are_accepted(batch in 0_u64..1000, head in 0_u64..1000) {
        let definition = with(rope(), "/axes/head_dim/value", json!(head));
        let case = made(Dialect::FlashInfer, &definition, &with(workload(), "/axes/batch", json!(batch)));
        let case = case.expect("a case");
        prop_assert_eq!(&case.tensors[3].shape, &vec![batch * (head / 2)]);
        assert_is_accepted(&case);
    }
}
