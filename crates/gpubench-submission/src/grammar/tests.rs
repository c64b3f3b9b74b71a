//! The page about submissions says what the reader does.

use gpubench::catalog::{AxisValue, DType, Execution, Fill, Recording, Reference, Role, Tensor, Tolerance, Work};
use gpubench::plan::Plan;

use super::{OF_CONSTANT, OF_DESCRIPTION, OF_LIBRARY, OF_SCRATCH, OF_STEP};
use crate::case::Case;
use crate::expression::FUNCTIONS;
use crate::launch_plan::Launches;
use crate::launch_plan::tests::facts;
use crate::limits::Limits;
use crate::number_type::NAMES;
use crate::submission::{MOST_KERNELS, Submission};

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/submissions.md");
    std::fs::read_to_string(path).expect("the page is there")
}

/// Returns the code blocks of a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("\n```{language}\n");
    let blocks = page.split(&opening).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

/// The kernels of the examples that show only a description.
const KERNELS: &str = "__constant__ float weights[3];
template <int N> __global__ void first(const float *matrix, float *partial, size_t n) {}
__global__ void second(const float *partial, float *sums, float eps) {}";

/// The problem of the examples: sums of the rows of a matrix.
fn checked(submission: &Submission) {
    let tensor = |name: &str, shape: &[u64], role, fill| Tensor {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: shape.to_vec(),
        role,
        fill,
        tolerance: Tolerance::Exact,
        record: None,
    };
    let tensors = vec![
        tensor(
            "matrix",
            &[4096, 1024],
            Role::Input,
            Fill::Uniform { low: 0.0, high: 1.0 },
        ),
        tensor("sums", &[4096], Role::Output, Fill::Poison),
    ];
    let params = [("rows", 4096), ("cols", 1024)].map(|(name, value)| (name.to_owned(), AxisValue::Int(value)));
    let params = params.to_vec();
    let facts = facts();
    let case = Case {
        tensors: &tensors,
        params: &params,
        facts: &facts,
    };
    let (plan, execution, call) = match submission.launches(&case, 0).expect("it fits the problem") {
        Launches::Sealed(plan) => (plan, Execution::Sealed, None),
        Launches::Hosted { call, execution } => (Plan::default(), execution, Some(Box::new(call))),
    };
    let recording = Recording {
        tensors,
        work: Work::default(),
        plan,
        reference: Reference::Author,
        execution,
        call,
    };
    gpubench::plan::check(&recording, &facts).expect("it keeps to the rules");
}

#[test]
fn the_examples_are_submissions_to_one_problem() {
    let page = page();
    let (sources, descriptions) = (blocks(&page, "cuda"), blocks(&page, "toml"));
    assert_eq!((sources.len(), descriptions.len()), (1, 2));
    for source in sources {
        checked(&Submission::from_bytes(source.into_bytes(), &Limits::default()).expect("a submission"));
    }
    for description in descriptions {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, contents: &[u8]| std::fs::write(folder.path().join(name), contents).expect("room");
        write("submission.toml", description.as_bytes());
        if description.contains("[library]") {
            write("sum.so", b"\x7fELF");
        } else {
            write("sum.cu", KERNELS.as_bytes());
        }
        checked(&Submission::read(folder.path(), &Limits::default()).expect("a submission"));
    }
}

#[test]
fn every_key_function_and_type_is_on_the_page() {
    let page = page();
    let keys = [&OF_DESCRIPTION[..], &OF_STEP, &OF_SCRATCH, &OF_CONSTANT, &OF_LIBRARY].concat();
    let is_named = |key: &&str| {
        let written = [format!("`{key}`"), format!("`[[{key}]]`"), format!("[{key}]")];
        !written.iter().any(|written| page.contains(written))
    };
    assert_eq!(keys.into_iter().filter(is_named).collect::<Vec<_>>(), [""; 0]);
    let missing = FUNCTIONS
        .iter()
        .filter(|(name, _)| !page.contains(&format!("`{name}(")));
    assert_eq!(missing.count(), 0);
    let missing = NAMES.iter().filter(|(name, _)| !page.contains(&format!("`{name}`")));
    assert_eq!(missing.count(), 0);
}

#[test]
fn the_limits_are_on_the_page() {
    let (page, limits) = (page(), Limits::default());
    for row in [
        format!("| text of the main file and its headers | {} MiB |", limits.text >> 20),
        format!(
            "| compiled code, and everything in a tarball | {} MiB |",
            limits.total >> 20
        ),
        format!("| files and folders | {} |", limits.entries),
        format!("| folders inside of each other | {} |", limits.depth),
        format!("| the description | {} KiB |", limits.description >> 10),
        format!("| kernels that it names | {MOST_KERNELS} |"),
    ] {
        assert!(page.contains(&row), "{row}");
    }
}
