//! Submissions to a problem.

use gpubench::catalog::{AxisValue, DType, DeviceFacts, DeviceKind, Fill, Params, Role, Tensor, Tolerance};
use gpubench::plan::{Argument, Step};
use gpubench_submission::{Case, Launches, Limits, Submission};

/// Reads a submission and plans it for a case. Whatever it says, the files of its source are its
/// own, and each argument of a launch has a type.
pub fn run(data: &[u8]) {
    for bytes in [data.to_vec(), crate::archive::with_checksums(data)] {
        let Ok(submission) = Submission::from_bytes(bytes, &limits()) else {
            continue;
        };
        for file in submission.source().iter().flat_map(|source| &source.files) {
            let parts = || file.path.split('/');
            assert!(!parts().any(|part| matches!(part, "" | "." | "..")), "{:?}", file.path);
        }
        let (tensors, params, facts) = (tensors(), params(), facts());
        let case = Case {
            tensors: &tensors,
            params: &params,
            facts: &facts,
        };
        if let Ok(Launches::Sealed(plan)) = submission.launches(&case, 0) {
            for step in &plan.steps {
                let Step::Launch(launch) = step else { continue };
                assert_eq!(launch.arguments.len(), launch.types.len());
                let values = launch.arguments.iter().zip(&launch.types);
                for (argument, ty) in values {
                    if let (Argument::Value(bytes), [field]) = (argument, &*ty.fields) {
                        assert_eq!(bytes.len(), field.dtype.size());
                    }
                }
            }
        }
    }
}

/// Small ones, so that inputs reach them.
fn limits() -> Limits {
    Limits {
        text: 1 << 16,
        total: 1 << 18,
        entries: 32,
        depth: 4,
        description: 1 << 12,
    }
}

fn tensors() -> Vec<Tensor> {
    let tensor = |name: &str, role| Tensor {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: vec![12, 4],
        role,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    };
    vec![tensor("matrix", Role::Input), tensor("sums", Role::Output)]
}

fn params() -> Params {
    let axes = [
        ("rows", AxisValue::Int(12)),
        ("cols", AxisValue::Int(i64::MAX)),
        ("eps", AxisValue::Float(1e-5)),
        ("mode", AxisValue::Text("fast".to_owned())),
        ("causal", AxisValue::Bool(true)),
    ];
    axes.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn facts() -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cuda,
        name: "GPU".to_owned(),
        multiprocessors: 132,
        capability: 90,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_block: [1024, 1024, 64],
        max_grid: [i32::MAX as u32, 65535, 65535],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 227 << 10,
        l2_bytes: 50 << 20,
    }
}

/// Returns a source with one launch, one with all keys, PTX, and a tarball of each.
pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [ONE, ALL, PTX].map(|text| text.as_bytes().to_vec());
    let description = ALL.split("/* gpubench").nth(1).and_then(|rest| rest.split("*/").next());
    let files: [(&str, &[u8]); 3] = [
        ("sum/k.cu", b"#include \"inc/tile.cuh\"\n"),
        (
            "sum/inc/tile.cuh",
            ONE.rsplit("*/").next().unwrap_or_default().as_bytes(),
        ),
        ("sum/submission.toml", description.unwrap_or_default().as_bytes()),
    ];
    let tarball = crate::archive::packed(&files);
    for seed in &texts {
        let read = Submission::from_bytes(seed.clone(), &limits());
        assert!(
            read.is_ok(),
            "a seed that no change has reached must be a submission: {read:?}"
        );
    }
    texts.into_iter().chain([tarball]).collect()
}

const ONE: &str = r#"/* gpubench
name = "one block a row"
grid = "rows"
block = 256
shared = "4 * block"
*/
__global__ void row_sums(const float *matrix, float *sums, int rows) {}
"#;

const ALL: &str = r#"
/* gpubench
options = ["-DTILE=16", "-Iinclude"]
compiler = "nvcc"
[[scratch]]
name = "partial"
bytes = "8 * ceil_div(rows, 1024)"
[[constant]]
symbol = "weights"
type = "f32"
values = [0.25, 1, "rows"]
[[step]]
kernel = "first<4>"
grid = ["ceil_div(matrix.len, 1024)", "if(mode == 'fast', 2, multiprocessors)", 1]
block = [32, "warp_size"]
cluster = [2, 1, 1]
cooperative = true
programmatic = true
arguments = ["matrix", "partial", "rows * 2 - 1", "causal", "eps", { value = 1e-5, type = "f16" }, "null"]
[[step]]
memset = "sums"
value = 0
[[step]]
copy = ["matrix", "sums"]
bytes = "min(sums.bytes, next_power_of_two(7) % 5)"
*/
template <int N> __global__ void first(const float *m, void *p, long long n, bool c, double e, __half h, int *x) {}
"#;

const PTX: &str = r#"/* gpubench
grid = 1
block = 32
arguments = ["matrix", "sums", "rows", { value = 3, type = "u16" }]
*/
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .b16 h) { ret; }
"#;
