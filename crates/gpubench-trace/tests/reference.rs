//! References of definitions, run as the tool runs them: with the inputs of several calls.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::Command;

use gpubench::catalog::{DType, Role, Tensor};
use gpubench::tensor_file::{named, safetensors};
use gpubench_trace::{Case, Definition, Dialect, Workload};
use serde_json::{Value, json};

/// Debian's Python, which has NumPy and PyTorch as packages of the system.
const PYTHON: &str = "/usr/bin/python3";

/// Number of calls.
const CALLS: u64 = 3;

/// Fails with the words for a missing program, if Debian's Python lacks a module.
fn need(module: &str) {
    let ran = Command::new(PYTHON).args(["-c", &format!("import {module}")]).output();
    assert!(
        ran.is_ok_and(|ran| ran.status.success()),
        "this test needs Debian's python3-{module}, which this machine lacks"
    );
}

fn case(reference: &str, dtype: &str, tolerance: Value) -> Case {
    let definition = json!({
        "name": "scaled",
        "axes": {"n": {"type": "var"}},
        "inputs": {
            "a": {"shape": ["n"], "dtype": dtype},
            "b": {"shape": null, "dtype": "float32"},
            "c": {"shape": ["n"], "dtype": "bool"},
            "d": {"shape": ["n"], "dtype": dtype},
            "e": {"shape": [], "dtype": "int32"},
        },
        "outputs": {
            "y": {"shape": ["n"], "dtype": dtype},
            "z": {"shape": [], "dtype": "bool"},
        },
        "reference": reference,
    });
    let workload = json!({
        "uuid": "w",
        "axes": {"n": 2},
        "inputs": {
            "b": {"type": "scalar", "value": 0.5},
            "d": {"type": "safetensors", "path": "d.safetensors", "tensor_key": "d"},
        },
        "tolerance": tolerance,
    });
    let definition = Definition::parse(&definition.to_string()).expect("a definition");
    let workload = Workload::parse(&workload.to_string()).expect("a workload");
    Case::new(Dialect::SolExecBench, &definition, &workload, None).expect("a case")
}

/// Writes the file of inputs, as the tool does. Call `i` has the elements `2 i` and `2 i + 1` in
/// `a`, and `i` in `e`. `d` has 10 and 20 for all calls.
fn inputs(case: &Case) -> Vec<u8> {
    let read: Vec<&Tensor> = case.tensors.iter().filter(|tensor| tensor.role.is_input()).collect();
    let shape = |tensor: &Tensor| match tensor.role {
        Role::Constant => tensor.shape.clone(),
        _ => [vec![CALLS], tensor.shape.clone()].concat(),
    };
    let shapes: Vec<Vec<u64>> = read.iter().map(|tensor| shape(tensor)).collect();
    let listed = read.iter().zip(&shapes);
    let listed: Vec<_> = listed
        .map(|(tensor, shape)| (&*tensor.name, tensor.dtype, &**shape))
        .collect();
    let mut file = safetensors::header(&listed, &[("n", "2"), ("gpubench_sets", "3")]);
    for tensor in read {
        let numbers: Vec<f32> = match tensor.name.as_str() {
            "a" if tensor.elements() == 2 => (0_u8..6).map(f32::from).collect(),
            "d" => vec![10.0, 20.0],
            _ => Vec::new(),
        };
        match (tensor.name.as_str(), tensor.dtype) {
            ("c", _) => file.extend([0, 1, 1, 0, 1, 1]),
            ("e", _) => file.extend([0_i32, 1, 2].iter().flat_map(|number| number.to_le_bytes())),
            (_, DType::F32) => file.extend(numbers.iter().flat_map(|number| number.to_le_bytes())),
            // The upper half of a float with a short significand.
            (_, DType::BF16) => file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()[2..].to_vec())),
            (name, dtype) => panic!("{name} has {dtype}"),
        }
    }
    file
}

fn ran(case: &Case) -> Result<(Vec<f32>, Vec<u8>), String> {
    ran_with(case, &[2])
}

/// Runs the command of a case. Returns the outputs `y` as numbers and `z`, or what it printed.
/// `shape` is that of `y`.
fn ran_with(case: &Case, shape: &[u64]) -> Result<(Vec<f32>, Vec<u8>), String> {
    ran_by(&[], case, shape)
}

/// As [`ran_with`], with options of Python.
fn ran_by(python: &[&str], case: &Case, shape: &[u64]) -> Result<(Vec<f32>, Vec<u8>), String> {
    let folder = tempfile::tempdir().expect("a folder");
    case.reference.write(folder.path(), "call.json").expect("room");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("in"), inputs(case)).expect("room");
    let provider = case
        .reference
        .provider(PYTHON, folder.path().to_str().expect("text"), "call.json");
    let mut command = Command::new(&provider.command[0]);
    command
        .args(python)
        .args(&provider.command[1..])
        .args([path("in"), path("out")]);
    // From the folder alone, as another user would run it.
    let finished = command
        .current_dir(&provider.folder)
        .env_clear()
        .output()
        .expect("it starts");
    if !finished.status.success() {
        return Err(String::from_utf8_lossy(&finished.stderr).into_owned());
    }
    Ok(outputs(&path("out"), case, shape))
}

fn outputs(file: &Path, case: &Case, shape: &[u64]) -> (Vec<f32>, Vec<u8>) {
    let file = fs::read(file).expect("outputs");
    let stored = safetensors::tensors_of(&file).expect("a safetensors file");
    let data = |name: &str, shape: &[u64]| {
        let tensor = case.tensors.iter().find(|tensor| tensor.name == name).expect(name);
        let found = named(&stored, name).expect(name);
        gpubench::tensor_file::check(found, tensor.dtype, shape).expect(name);
        let start = found.start as usize;
        (tensor.dtype, &file[start..start + found.bytes as usize])
    };
    let (dtype, bytes) = data("y", &[&[CALLS], shape].concat());
    let y = match dtype {
        DType::F32 => bytes
            .chunks(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("4")))
            .collect(),
        _ => bytes
            .chunks(2)
            .map(|bytes| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]))
            .collect(),
    };
    (y, data("z", &[CALLS]).1.to_vec())
}

/// `a / 2` where `c`, plus `d`, plus `e`; and whether `e` is 1.
const EXPECTED: ([f32; 6], [u8; 3]) = ([10.0, 20.5, 12.0, 21.0, 14.0, 24.5], [0, 1, 0]);

const NUMPY: &str = "import numpy as np\n\ndef run(a, b, c, d, e):\n    assert isinstance(b, float)\n    a *= np.float32(b)\n    d += e\n    return np.where(c, a, 0).astype(a.dtype) + d, bool(e == 1)\n";
const TORCH: &str = "import torch\n\n@torch.no_grad()\ndef run(a, b, c, d, e):\n    a *= b\n    d += e\n    return {\"z\": e == 1, \"y\": torch.where(c, a, torch.zeros_like(a)) + d}\n";

fn assert_expected(case: &Case) {
    let (y, z) = ran(case).expect("it succeeds");
    assert_eq!((&y[..], &z[..]), (&EXPECTED.0[..], &EXPECTED.1[..]));
}

#[test]
fn a_reference_without_pytorch_gets_arrays_of_numpy() {
    need("numpy");
    assert_expected(&case(NUMPY, "float32", json!(null)));
}

#[test]
fn a_reference_with_pytorch_gets_its_tensors_for_each_call() {
    need("torch");
    assert_expected(&case(TORCH, "float32", json!(null)));
    assert_expected(&case(TORCH, "bfloat16", json!(null)));
}

#[test]
fn types_that_numpy_lacks_are_tensors_of_pytorch() {
    need("torch");
    let reference = "def run(a, b, c, d, e):\n    return a * b * c + d + e, e == 1\n";
    assert_expected(&case(reference, "bfloat16", json!(null)));
}

#[test]
fn a_reference_that_is_wrong_is_refused_by_what_is_wrong_with_it() {
    need("numpy");
    let numpy = |body: &str| format!("import numpy as np\n\ndef run(a, b, c, d, e):\n    {body}\n");
    let infinite = "error: `run` returned an infinity for `y` in call 0, which no solution may";
    for (reference, expected) in [
        ("x = 1".to_owned(), "error: the reference has no function `run`"),
        ("def run(".to_owned(), "SyntaxError"),
        (
            numpy("return a"),
            "error: `run` returned one output, and the definition has 2",
        ),
        (
            numpy("return a, a, a"),
            "error: `run` returned 3 outputs, and the definition has 2",
        ),
        (numpy("return {\"y\": a}"), "error: `run` returned no output `z`"),
        (
            numpy("return a.astype(\"float64\"), True"),
            "error: `run` returned float64 of the shape [2] for `y`, not float32 of the shape [2]",
        ),
        (
            numpy("return a[:1], True"),
            "error: `run` returned float32 of the shape [1] for `y`, not float32 of the shape [2]",
        ),
        (numpy("return a + np.float32(np.inf), True"), infinite),
        (numpy("return a - np.float32(np.inf), True"), infinite),
        (numpy("raise ValueError(\"no\")"), "ValueError: no"),
        ("def run(a, b):\n    return a, True".to_owned(), "TypeError"),
    ] {
        let printed = ran(&case(&reference, "float32", json!(null))).expect_err(&reference);
        assert!(printed.contains(expected), "{reference}: {printed}");
    }
    let below = numpy("return a - np.float32(np.inf), e == 1");
    let allowed = case(&below, "float32", json!({"allow_negative_inf": true}));
    let (y, _) = ran(&allowed).expect("a negative infinity is allowed");
    assert_eq!(y[0], f32::NEG_INFINITY);
}

#[test]
fn the_package_that_a_python_lacks_is_named() {
    // Without the packages of the system.
    let printed = |reference: &str, dtype: &str| {
        ran_by(&["-S"], &case(reference, dtype, json!(null)), &[2]).expect_err("a package is missing")
    };
    let neither = printed(NUMPY, "float32");
    assert!(
        neither.contains("has no NumPy, and the reference gets its arrays"),
        "{neither}"
    );
    for (reference, dtype, why) in [
        (TORCH, "float32", "the reference imports it"),
        (NUMPY, "bfloat16", "the tensors need it"),
    ] {
        let printed = printed(reference, dtype);
        assert!(printed.contains(&format!("has no PyTorch, and {why}")), "{printed}");
    }
}

#[test]
fn tensors_may_be_empty() {
    need("numpy");
    need("torch");
    for module in ["numpy", "torch"] {
        let definition = json!({
            "name": "nothing",
            "axes": {"n": {"type": "const", "value": 0}},
            "inputs": {"a": {"shape": ["n"], "dtype": "float32"}},
            "outputs": {"y": {"shape": ["n"], "dtype": "float32"}, "z": {"shape": [], "dtype": "bool"}},
            "reference": format!("import {module}\n\ndef run(a):\n    return a + a, len(a) == 0\n"),
        });
        let definition = Definition::parse(&definition.to_string()).expect("a definition");
        let workload = Workload::parse(r#"{"uuid": "w", "axes": {}, "inputs": {}}"#).expect("a workload");
        let case = Case::new(Dialect::FlashInfer, &definition, &workload, None).expect("a case");
        assert_eq!(ran_with(&case, &[0]).map(|(_, z)| z), Ok(vec![1; 3]), "{module}");
    }
}

#[test]
fn outputs_of_pytorch_are_checked_too() {
    need("torch");
    let torch = |y: &str| format!("import torch\n\ndef run(a, b, c, d, e):\n    return {y}, True\n");
    for (y, expected) in [
        (
            "a.double()",
            "error: `run` returned float64 of the shape [2] for `y`, not bfloat16 of the shape [2]",
        ),
        (
            "-a.log().abs()",
            "error: `run` returned an infinity for `y` in call 0, which no solution may",
        ),
        ("a.cuda()", "Error"),
    ] {
        let printed = ran(&case(&torch(y), "bfloat16", json!(null))).expect_err(y);
        assert!(printed.contains(expected), "{y}: {printed}");
    }
}
