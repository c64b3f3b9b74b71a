//! Documents that are read, refused and written.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    AxisKind, Definition, Dialect, InputSpec, MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, ScalarValue, Solution,
    SourceLanguage, Status, Submission, Trace, Workload, WrongDocument, read_traces, read_workloads,
};

const DEFINITION: &str = r#"{
  "name": "rms_norm",
  "op_type": "rmsnorm",
  "unknown": {"field": [1, null]},
  "tags": null,
  "axes": {
    "rows": {"type": "var"},
    "columns": {"value": 64}
  },
  "inputs": {
    "x": {"shape": ["rows", "columns"], "dtype": "bfloat16"},
    "a": {"shape": null, "dtype": "float32"}
  },
  "outputs": {
    "y": {"shape": ["rows", "columns"], "dtype": "bfloat16"}
  },
  "reference": "def run(x, a):\n    return x"
}"#;

const SOLUTION: &str = r#"{
  "name": "fast",
  "definition": "rms_norm",
  "author": "somebody",
  "spec": {
    "language": "cuda",
    "target_hardware": ["NVIDIA_H200"],
    "entry_point": "src/kernel.cu::run",
    "dependencies": ["cublas"]
  },
  "sources": [
    {"path": "src/kernel.cu", "content": "extern \"C\" void run();"},
    {"path": "kernel.h", "content": "int one();"}
  ]
}"#;

fn trace(status: &str, correctness: Value, performance: Value) -> Value {
    json!({
        "definition": "rms_norm",
        "solution": "fast",
        "workload": {"uuid": "w", "axes": {"rows": 2}, "inputs": {}},
        "evaluation": {
            "status": status,
            "environment": {"hardware": "NVIDIA H200", "libs": {"cuda": "12.8"}},
            "timestamp": "2026-01-01T00:00:00Z",
            "correctness": correctness,
            "performance": performance,
        },
    })
}

#[test]
fn a_definition_keeps_the_order_of_its_tensors() {
    let definition = Definition::parse(DEFINITION).expect("a definition");
    assert_eq!(definition.inputs.names().collect::<Vec<_>>(), ["x", "a"]);
    assert_eq!(
        definition.axes.get("columns").map(|axis| &axis.kind),
        Some(&AxisKind::Const(64))
    );
    let written = serde_json::to_string(&definition).expect("it is written");
    assert_eq!(Definition::parse(&written).expect("it is read again"), definition);
    assert!(written.contains(r#""a":{"shape":null,"#), "{written}");
}

/// Replaces a part of a document, reads it, and returns the error.
fn refused<T: std::fmt::Debug>(
    document: &str,
    part: &str,
    by: &str,
    read: impl Fn(&str) -> Result<T, WrongDocument>,
) -> String {
    assert!(document.contains(part), "{part}");
    let changed = document.replacen(part, by, 1);
    read(&changed).expect_err(&changed).to_string()
}

#[test]
fn an_error_names_the_line_and_the_way_to_the_value() {
    let mut errors = String::new();
    for (part, by) in [
        (r#""rows": {"type": "var"}"#, r#""rows": {"type": "range"}"#),
        (r#""value": 64"#, r#""value": -64"#),
        (r#""value": 64"#, r#""type": "const""#),
        (r#""value": 64"#, r#""value": 99999999999999999999"#),
        (
            r#"["rows", "columns"], "dtype": "bfloat16"},"#,
            r#"["rows", "cols"], "dtype": "bfloat16"},"#,
        ),
        (
            r#"["rows", "columns"], "dtype": "bfloat16"},"#,
            r#"["rows", 5], "dtype": "bfloat16"},"#,
        ),
        (r#""shape": null, "#, ""),
        (r#""dtype": "float32""#, r#""dtype": "float128""#),
        (r#""a": {"#, r#""x": {"#),
        (r#""a": {"#, r#""y": {"#),
        (r#""a": {"#, r#""rows": {"#),
        (r#""a": {"#, r#""": {"#),
        (r#""a": {"#, "\"\\u001b[2J\": {"),
        (r#""name": "rms_norm","#, ""),
        (r#""name": "rms_norm""#, r#""name": "a\nb""#),
        (r#""outputs""#, r#""inputs""#),
        (r#""outputs""#, r#""custom_inputs_entrypoint": "", "outputs""#),
        (r#""columns": {"value": 64}"#, r#""": {"value": 64}"#),
        (r#""reference": "def run(x, a):\n    return x""#, r#""reference": """#),
        ("return x\"\n}", "return x\"\n"),
        ("bfloat16", "bfloat\u{1b}[2J"),
    ] {
        let error = refused(DEFINITION, part, by, Definition::parse);
        assert!(!error.contains(['\u{1b}', '\n']), "{error}");
        writeln!(errors, "{error}").expect("room");
    }
    for (part, by) in [
        ("src/kernel.cu::run", "kernel.cu::run"),
        ("src/kernel.cu::run", "src/kernel.cu"),
        ("src/kernel.cu::run", "src/kernel.cu::a::b"),
        ("\"kernel.h\"", "\"../kernel.h\""),
        ("\"kernel.h\"", "\"/etc/passwd\""),
        ("\"kernel.h\"", r#""a\\..\\kernel.h""#),
        ("\"kernel.h\"", "\"src//kernel.cu\""),
        ("\"kernel.h\"", "\"src\""),
        ("\"kernel.h\"", "\".\""),
        ("int one();", ""),
        (r#""language": "cuda""#, r#""language": "rust""#),
        (r#""language": "cuda","#, ""),
        (
            r#""language": "cuda""#,
            r#""language": "cuda", "languages": ["cuda_cpp"]"#,
        ),
        (r#"["NVIDIA_H200"]"#, "[]"),
        (r#"["cublas"]"#, r#"["a\u0007"]"#),
    ] {
        let error = refused(SOLUTION, part, by, Solution::parse);
        writeln!(errors, "{error}").expect("room");
    }
    insta::assert_snapshot!(errors);
}

#[test]
fn what_must_be_null_follows_from_the_status() {
    let (some, none) = (json!({}), json!(null));
    for status in Status::ALL {
        for correctness in [&some, &none] {
            for performance in [&some, &none] {
                let trace = trace(status.word(), correctness.clone(), performance.clone());
                let is_right = correctness.is_null() != status.has_correctness()
                    && performance.is_null() != status.has_performance();
                let read = Trace::parse(&trace.to_string());
                assert_eq!(read.is_ok(), is_right, "{status:?}: {read:?}");
                if let Ok(mut trace) = read {
                    let line = trace.to_line().expect("a line");
                    assert_eq!(Trace::parse(&line).expect("it is read again"), trace);
                    let evaluation = trace.evaluation.as_mut().expect("an evaluation");
                    evaluation.performance = match evaluation.performance {
                        Some(_) => None,
                        None => Some(Default::default()),
                    };
                    let error = trace.to_line().expect_err("it is not written").to_string();
                    assert!(error.contains("`evaluation.performance`: it must"), "{error}");
                }
            }
        }
    }
}

#[test]
fn errors_of_outputs_may_be_no_numbers() {
    let figures = json!({"max_relative_error": "NaN", "max_absolute_error": "Infinity", "extra": {"a": [1]}});
    let read = Trace::parse(&trace("INCORRECT_NUMERICAL", figures, json!(null)).to_string()).expect("a trace");
    let line = read.to_line().expect("a line");
    assert!(
        line.contains(r#""max_relative_error":"NaN","max_absolute_error":"Infinity","extra":{"a":[1]}"#),
        "{line}"
    );
    for (figure, performance) in [
        (json!(-1.0), json!(null)),
        (json!("-Infinity"), json!(null)),
        (json!("1"), json!(null)),
    ] {
        let figures = json!({ "max_relative_error": figure });
        Trace::parse(&trace("INCORRECT_NUMERICAL", figures, performance).to_string()).expect_err("no error of outputs");
    }
    let negative = json!({"latency_ms": -1});
    let error = Trace::parse(&trace("PASSED", json!({}), negative).to_string()).expect_err("a negative time");
    assert_eq!(error.path, "evaluation.performance.latency_ms");
}

#[test]
fn a_file_of_workloads_has_workloads_or_traces() {
    let text = r#"{"uuid": "a", "axes": {"n": 1}, "inputs": {"s": {"type": "scalar", "value": 1e-6}, "t": {}}, "tolerance": {"max_atol": 0.5}}

{"definition": "d", "solution": null, "workload": {"uuid": "b", "axes": {}, "inputs": {}}, "evaluation": null}
"#;
    let workloads = read_workloads(text).expect("two workloads");
    let [first, second] = &workloads[..] else {
        panic!("{workloads:?}")
    };
    assert_eq!((first.line, &first.definition), (1, &None));
    let scalar = InputSpec::Scalar(ScalarValue::Float(1e-6));
    assert_eq!(first.workload.inputs.get("s"), Some(&scalar));
    assert_eq!(first.workload.inputs.get("t"), Some(&InputSpec::Random));
    let tolerance = first.workload.tolerance.expect("a tolerance");
    assert_eq!((tolerance.max_atol, tolerance.required_matched_ratio), (0.5, None));
    assert_eq!((second.line, second.definition.as_deref()), (3, Some("d")));
    let error = read_workloads(&text.replace(r#"{"n": 1}"#, r#"{"n": 1.5}"#)).expect_err("no integer");
    assert_eq!((error.line, error.path.as_str()), (1, "axes.n"));
    let error = read_workloads(&text.replace(r#""uuid": "b""#, r#""uuid": """#)).expect_err("no name");
    assert_eq!((error.line, error.path.as_str()), (3, "workload.uuid"));
    for wrong in [
        r#"{"type": "scalar"}"#,
        r#"{"type": "scalar", "value": "1"}"#,
        r#"{"type": "scalar", "value": 9223372036854775808}"#,
        r#"{"type": "safetensors", "path": "a"}"#,
        r#"{"type": "file"}"#,
    ] {
        let changed = text.replace(r#"{"type": "scalar", "value": 1e-6}"#, wrong);
        let error = read_workloads(&changed).expect_err(wrong);
        assert!(error.path.starts_with("inputs.s"), "{error}");
    }
}

#[test]
fn rules_of_all_documents_are_checked() {
    let refused = |document: &Value, path: &str, value: Value, read: &dyn Fn(&str) -> Option<WrongDocument>| {
        let mut changed = document.clone();
        *changed.pointer_mut(path).expect(path) = value;
        let error = read(&changed.to_string()).expect(path);
        let expected = path[1..].replace('/', ".");
        assert!(error.path.starts_with(&expected), "{path}: {error}");
    };
    let workload = json!({
        "uuid": "w",
        "axes": {},
        "inputs": {"a": {"type": "safetensors", "path": "p", "tensor_key": "k"}},
        "tolerance": {"max_atol": 0, "max_rtol": 0, "required_matched_ratio": 1, "max_error_cap": 0},
    });
    let read = |text: &str| Workload::parse(text).err();
    for path in ["/inputs/a/path", "/inputs/a/tensor_key"] {
        refused(&workload, path, json!("a\tb"), &read);
    }
    for field in ["max_atol", "max_rtol", "required_matched_ratio", "max_error_cap"] {
        refused(&workload, &format!("/tolerance/{field}"), json!(-0.5), &read);
    }
    refused(&workload, "/tolerance/required_matched_ratio", json!(1.5), &read);
    let trace = trace("TIMEOUT", json!(null), json!(null));
    let read = |text: &str| Trace::parse(text).err();
    for path in [
        "/definition",
        "/solution",
        "/workload/uuid",
        "/evaluation/environment/hardware",
        "/evaluation/timestamp",
    ] {
        refused(&trace, path, json!(""), &read);
        refused(&trace, path, json!("x".repeat(513)), &read);
    }
    let mut solution: Value = serde_json::from_str(SOLUTION).expect("JSON");
    let read = |text: &str| Solution::parse(text).err();
    refused(&solution, "/sources", json!([]), &read);
    solution["spec"]["language"] = json!("cpp");
    let cpp = Solution::parse(&solution.to_string()).expect("a solution");
    let compiler = |solution: &Solution| Submission::new(solution, "rms_norm").expect("a submission").compiler;
    assert_eq!(compiler(&cpp), SourceLanguage::Cpp);
    assert_eq!(
        compiler(&Solution::parse(SOLUTION).expect("a solution")),
        SourceLanguage::Cuda
    );
    let definition: Value = serde_json::from_str(DEFINITION).expect("JSON");
    let read = |text: &str| Definition::parse(text).err();
    refused(&definition, "/inputs/x/shape", json!(vec!["rows"; 17]), &read);
    let mut deep = definition.clone();
    deep["inputs"]["x"]["shape"] = json!(vec!["rows"; 16]);
    assert!(Definition::parse(&deep.to_string()).is_ok());
}

#[test]
fn an_error_in_a_file_of_lines_has_the_line_of_the_file() {
    let good = trace("TIMEOUT", json!(null), json!(null)).to_string();
    for bad in ["{", r#"{"definition": 1}"#, &good.replace("\"w\"", "\"\"")] {
        let error = read_traces(&format!("{good}\n\n{bad}\n{good}")).expect_err(bad);
        assert_eq!(error.line, 3, "{error}");
    }
    let long = " ".repeat(MOST_FILE_BYTES + 1);
    let error = read_traces(&long).expect_err("it is too long").to_string();
    assert!(error.contains("the limit is 268435456"), "{error}");
}

#[test]
fn long_and_deep_documents_are_refused() {
    let long = format!("{}{}", " ".repeat(MOST_DOCUMENT_BYTES), DEFINITION);
    let error = Definition::parse(&long).expect_err("it is too long").to_string();
    assert!(error.contains("the limit is 16777216"), "{error}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for field in ["extra", "unknown", "correctness"] {
        let document = trace("PASSED", json!({}), json!({})).to_string();
        let document = document.replacen("\"correctness\":{}", &format!("\"{field}\":{deep}"), 1);
        Trace::parse(&document).expect_err("it lacks a field, or is too deep");
    }
    let extra = trace("PASSED", json!({"extra": {}}), json!({})).to_string();
    let extra = extra.replacen(r#""extra":{}"#, &format!(r#""extra":{{"a":{deep}}}"#), 1);
    let error = Trace::parse(&extra).expect_err("it is too deep").to_string();
    assert!(error.contains("recursion limit"), "{error}");
    let axes: Value = (0..2000).map(|axis| (format!("a{axis}"), json!({}))).collect();
    let mut definition: Value = serde_json::from_str(DEFINITION).expect("JSON");
    definition["axes"] = axes;
    let error = Definition::parse(&definition.to_string())
        .expect_err("too many axes")
        .to_string();
    assert!(error.contains("more than 1024 names"), "{error}");
}

#[test]
fn a_solution_gives_what_a_grader_needs_or_says_why_not() {
    let solution = Solution::parse(SOLUTION).expect("a solution");
    assert_eq!(solution.dialect(), Dialect::FlashInfer);
    let submission = Submission::new(&solution, "rms_norm").expect("a submission");
    assert_eq!(
        (submission.file.as_str(), submission.function.as_str()),
        ("src/kernel.cu", "run")
    );
    assert_eq!(submission.sources.len(), 2);
    assert_eq!(submission.dependencies, ["cublas"]);
    let mut errors = String::new();
    for (part, by) in [
        (r#""definition": "rms_norm""#, r#""definition": "other""#),
        (r#""language": "cuda""#, r#""language": "triton""#),
        (r#""language": "cuda""#, r#""language": "python""#),
        (r#""language": "cuda""#, r#""language": "cuda", "binding": "torch""#),
        (r#""language": "cuda""#, r#""languages": ["cuda_cpp"]"#),
        (r#""language": "cuda""#, r#""languages": ["cuda_cpp", "cute_dsl"]"#),
        (
            r#""language": "cuda""#,
            r#""language": "cpp", "destination_passing_style": false"#,
        ),
    ] {
        let solution = Solution::parse(&SOLUTION.replacen(part, by, 1)).expect("a solution");
        let error = Submission::new(&solution, "rms_norm").expect_err(by);
        let hint = gpubench_diagnostic::Expected::hint(&error);
        writeln!(errors, "{error} (hint: {})", hint.unwrap_or_default()).expect("room");
    }
    insta::assert_snapshot!(errors);
}

proptest! {
    #[test]
    fn any_change_of_a_byte_is_read_or_refused(at in 0..DEFINITION.len(), byte in 0_u8..128) {
        let mut changed = DEFINITION.as_bytes().to_vec();
        changed[at] = byte;
        let changed = String::from_utf8(changed).expect("ASCII");
        if let Err(error) = Definition::parse(&changed) {
            // The end of a text that ends with a line's end is on the next line.
            let lines = changed.matches('\n').count() + 1;
            prop_assert!((1..=lines).contains(&error.line), "{error:?} of {lines} lines");
        }
    }

    #[test]
    fn what_is_read_is_written_and_read_again(
        rows in any::<u64>(),
        value in prop_oneof![any::<i64>().prop_map(Value::from), any::<bool>().prop_map(Value::from), (-1e300..1e300).prop_map(Value::from)],
        name in "[a-z \u{e4}\"\\\\]{1,20}",
    ) {
        let text = json!({"uuid": name, "axes": {name.as_str(): rows}, "inputs": {"s": {"type": "scalar", "value": value}}});
        let workload = Workload::parse(&text.to_string()).expect("a workload");
        let written = serde_json::to_string(&workload).expect("it is written");
        prop_assert_eq!(Workload::parse(&written).expect("it is read again"), workload);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read_traces(&text);
        let _ = read_workloads(&text);
    }
}
