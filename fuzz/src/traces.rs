//! Trace files of FlashInfer-Bench and SOL-ExecBench.

use gpubench_trace::{
    Case, Definition, Dialect, Solution, Submission, Trace, Workload, expression, read_traces, read_workloads,
};

/// Reads the text as each kind of document. What can be read is written and read again, and two
/// lines that are a definition and a workload become a case.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = expression::evaluate(text, &|name| u64::try_from(name.len()).ok());
    if let Ok(definition) = Definition::parse(text) {
        let again = serde_json::to_string(&definition).expect("it is written");
        assert_eq!(Definition::parse(&again), Ok(definition));
    }
    if let Ok(solution) = Solution::parse(text) {
        let again = serde_json::to_string(&solution).expect("it is written");
        assert_eq!(Solution::parse(&again).as_ref(), Ok(&solution));
        if let Ok(submission) = Submission::new(&solution, &solution.definition) {
            assert!(submission.sources.iter().any(|source| source.path == submission.file));
        }
    }
    for trace in read_traces(text).unwrap_or_default() {
        let line = trace.to_line().expect("it was read");
        assert!(!line.contains('\n') && Trace::parse(&line).is_ok(), "{line}");
    }
    let _ = read_workloads(text);
    let mut lines = text.lines();
    let (Some(definition), Some(workload)) = (lines.next(), lines.next()) else {
        return;
    };
    let (Ok(definition), Ok(workload)) = (Definition::parse(definition), Workload::parse(workload)) else {
        return;
    };
    for dialect in [Dialect::FlashInfer, Dialect::SolExecBench] {
        let Ok(case) = Case::new(dialect, &definition, &workload, None) else {
            continue;
        };
        for tensor in &case.tensors {
            let elements = tensor
                .shape
                .iter()
                .try_fold(1_u64, |product, extent| product.checked_mul(*extent));
            let bytes = elements.and_then(|elements| elements.checked_mul(tensor.dtype.size() as u64));
            assert!(bytes.is_some_and(|bytes| bytes < 1 << 47), "{tensor:?}");
        }
    }
}

const DEFINITION: &str = r#"{"name": "d", "op_type": "rope", "axes": {"n": {"type": "var"}, "k": {"type": "const", "value": 128}, "half": {"type": "expr", "expression": "(k + n) // 2"}}, "inputs": {"x": {"shape": ["n", "k"], "dtype": "bfloat16"}, "eps": {"shape": null, "dtype": "float32"}}, "outputs": {"y": {"shape": ["half", "2"], "dtype": "float32"}}, "reference": "def run(x, eps): return x", "constraints": ["n <= k"]}"#;
const WORKLOAD: &str = r#"{"uuid": "w", "axes": {"n": 64}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}}, "tolerance": {"max_atol": 0.01, "max_error_cap": 1.5}}"#;
const SOLUTION: &str = r#"{"name": "s", "definition": "d", "author": "a", "spec": {"language": "cuda", "target_hardware": ["B200"], "entry_point": "a/k.cu::run", "binding": "tvm-ffi"}, "sources": [{"path": "a/k.cu", "content": "int x;"}, {"path": "a/b.h", "content": "int y;"}]}"#;
const EVALUATION: &str = r#"{"status": "PASSED", "environment": {"hardware": "NVIDIA H200", "libs": {"cuda": "12.8"}}, "timestamp": "t", "log": "", "correctness": {"max_relative_error": "NaN", "max_absolute_error": 0.5, "extra": {"a": [1]}}, "performance": {"latency_ms": 0.5}}"#;

/// Returns a document of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let trace =
        format!(r#"{{"definition": "d", "solution": "s", "workload": {WORKLOAD}, "evaluation": {EVALUATION}}}"#);
    assert!(read_traces(&trace).is_ok(), "the seed is a trace");
    assert!(Solution::parse(SOLUTION).is_ok(), "the seed is a solution");
    let documents = [
        DEFINITION.to_owned(),
        format!("{DEFINITION}\n{WORKLOAD}"),
        SOLUTION.to_owned(),
        trace.clone(),
        format!("{WORKLOAD}\n\n{trace}\n"),
        "(k + 63) // 64 * -2 ** n % 7.5".to_owned(),
    ];
    documents.map(String::into_bytes).to_vec()
}
