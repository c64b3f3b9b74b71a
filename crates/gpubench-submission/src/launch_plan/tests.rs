use gpubench::DeviceKind;
use gpubench::catalog::{DType, DeviceFacts, Fill, Params, Recording, Reference, Role, Tensor, Tolerance, Work};
use gpubench::plan::{BufferId, Span};

use super::*;
use crate::limits::Limits;

/// `matrix` of 48 floats, `sums` of 12, an unused `order` of 12 integers.
fn tensors() -> Vec<Tensor> {
    let tensor = |name: &str, dtype, shape: &[u64], role| Tensor {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        role,
        fill: match role {
            Role::Input => Fill::Uniform { low: 0.0, high: 1.0 },
            _ => Fill::Poison,
        },
        tolerance: Tolerance::Exact,
        record: None,
    };
    vec![
        tensor("matrix", DType::F32, &[12, 4], Role::Input),
        tensor("sums", DType::F32, &[12], Role::Output),
        tensor("order", DType::I32, &[12], Role::Scratch),
    ]
}

fn params() -> Params {
    vec![
        ("rows".to_owned(), AxisValue::Int(12)),
        ("cols".to_owned(), AxisValue::Int(4)),
        ("large".to_owned(), AxisValue::Int(5_000_000_000)),
        ("shift".to_owned(), AxisValue::Int(-3)),
        ("eps".to_owned(), AxisValue::Float(1e-5)),
        ("mode".to_owned(), AxisValue::Text("fast".to_owned())),
        ("causal".to_owned(), AxisValue::Bool(true)),
    ]
}

pub(crate) fn facts() -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cuda,
        name: "Test GPU".to_owned(),
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

fn launches(submission: &Submission) -> Result<Launches, Mistake> {
    let (tensors, params, facts) = (tensors(), params(), facts());
    let case = Case {
        tensors: &tensors,
        params: &params,
        facts: &facts,
    };
    submission.launches(&case, 7)
}

/// Plans a source with a description in its first comment.
fn planned(description: &str, source: &str) -> Result<Plan, String> {
    let text = format!("/* gpubench\n{description}\n*/\n{source}");
    let submission =
        Submission::from_bytes(text.into_bytes(), &Limits::default()).map_err(|error| error.to_string())?;
    match launches(&submission).map_err(|error| error.to_string())? {
        Launches::Sealed(plan) => Ok(plan),
        Launches::Hosted { .. } => panic!("a source has no host code"),
    }
}

fn error(description: &str, source: &str) -> String {
    planned(description, source).expect_err(description)
}

const SUM: &str = "__global__ void row_sums(const float *matrix, float *sums, int cols) {}";

/// The one launch of a plan.
fn launch(plan: Plan) -> Launch {
    match <[Planned; 1]>::try_from(plan.steps) {
        Ok([Planned::Launch(launch)]) => launch,
        other => panic!("{other:?}"),
    }
}

const fn pointer(buffer: BufferId) -> gpubench::plan::Argument {
    gpubench::plan::Argument::Pointer { buffer, offset: 0 }
}

fn value(bytes: &[u8]) -> gpubench::plan::Argument {
    gpubench::plan::Argument::Value(bytes.to_vec())
}

#[test]
fn a_short_description_is_one_launch_with_the_arguments_of_its_kernel() {
    let plan = planned("grid = \"rows\"\nblock = 256\nshared = \"4 * block\"", SUM).unwrap();
    let launch = launch(plan);
    assert_eq!(
        launch.kernel,
        KernelRef {
            source: 7,
            name: "row_sums".to_owned()
        }
    );
    assert_eq!(
        (launch.grid, launch.block, launch.cluster),
        ([12, 1, 1], [256, 1, 1], [1; 3])
    );
    assert_eq!(launch.dynamic_shared, 1024);
    let expected = [
        pointer(BufferId::Tensor(0)),
        pointer(BufferId::Tensor(1)),
        value(&[4, 0, 0, 0]),
    ];
    assert_eq!(launch.arguments, expected);
    let types: Vec<_> = launch.types.iter().map(|ty| &*ty.name).collect();
    assert_eq!(types, ["tensor of f32", "tensor of f32", "i32"]);
    assert_eq!(launch.place, "standard input:submission.cu:2");
}

#[test]
fn a_plan_passes_the_rules_of_all_plans() {
    let plan = planned("grid = \"rows\"\nblock = 256", SUM).unwrap();
    let recording = Recording {
        tensors: tensors(),
        work: Work::default(),
        plan,
        reference: Reference::Author,
        execution: Execution::Sealed,
        call: None,
    };
    gpubench::plan::check(&recording, &facts()).unwrap();
}

const STEPS: &str = r#"
[[scratch]]
name = "partial"
bytes = "8 * ceil_div(rows, 8)"

[[constant]]
symbol = "filter::weights"
type = "f32"
values = [0.25, "rows", 1]

[[step]]
memset = "sums"
value = 0xff

[[step]]
kernel = "first<4>"
grid = ["ceil_div(rows, 8)", 2, "block.y"]
block = [32, 4]
cluster = [2, 1, 1]
cooperative = true
arguments = ["matrix", "partial", { value = "rows * cols", type = "u64" }, { value = 1e-5, type = "f32" }, "null"]

[[step]]
kernel = "last"
grid = "multiprocessors * 2"
block = "if(mode == 'fast', 128, 256)"
programmatic = true
arguments = ["partial", "sums", "shift", "eps", "causal", 3, "if(causal, rows, 0)"]

[[step]]
copy = ["partial", "sums"]
bytes = "partial.bytes"
"#;

const TWO: &str = "template <int N> __global__ void first(const float *x, T *y, M m, E e, B bias) {}
__global__ void last(const double *x, float *y, long long shift, float eps, bool causal, unsigned char c, size_t n) {}";

#[test]
fn steps_are_planned_in_order() {
    let text = STEPS
        .replace("partial.bytes", "16")
        .replace("\nbytes = \"16\"", "\nbytes = 16");
    let plan = planned(&text, TWO).unwrap();
    assert_eq!(plan.scratch, [16]);
    let weights = [0.25_f32, 12.0, 1.0].map(f32::to_le_bytes).concat();
    assert_eq!(
        plan.constants,
        [ConstantValue {
            source: 7,
            symbol: "filter::weights".to_owned(),
            bytes: weights,
        }]
    );
    let span = |buffer, len| Span { buffer, offset: 0, len };
    let [memset, Planned::Launch(first), Planned::Launch(last), copy] = &*plan.steps else {
        panic!("{plan:?}");
    };
    let (sums, partial) = (BufferId::Tensor(1), BufferId::Scratch(0));
    assert_eq!(
        *memset,
        Planned::Memset {
            target: span(sums, 48),
            value: 255
        }
    );
    assert_eq!(
        *copy,
        Planned::Copy {
            source: span(partial, 16),
            target: span(sums, 16)
        }
    );
    assert_eq!(
        (first.grid, first.block, first.cluster),
        ([2, 2, 4], [32, 4, 1], [2, 1, 1])
    );
    assert_eq!(
        (first.cooperation, first.dependence),
        (Cooperation::Grid, Dependence::Complete)
    );
    let expected = [
        pointer(BufferId::Tensor(0)),
        pointer(partial),
        value(&48_u64.to_le_bytes()),
        value(&1e-5_f32.to_le_bytes()),
        value(&[0; 8]),
    ];
    assert_eq!(first.arguments, expected);
    assert_eq!((last.grid, last.block), ([264, 1, 1], [128, 1, 1]));
    assert_eq!(
        (last.cooperation, last.dependence),
        (Cooperation::Independent, Dependence::Programmatic)
    );
    let expected = [
        pointer(partial),
        pointer(sums),
        value(&(-3_i64).to_le_bytes()),
        value(&1e-5_f32.to_le_bytes()),
        value(&[1]),
        value(&[3]),
        value(&12_u64.to_le_bytes()),
    ];
    assert_eq!(last.arguments, expected);
    let types: Vec<_> = last.types.iter().map(|ty| (&*ty.name, ty.fields.len())).collect();
    let numbers = [("i64", 1), ("f32", 1), ("bool", 1), ("u8", 1), ("u64", 1)];
    assert_eq!(types[..2], [("scratch buffer", 0), ("tensor of f32", 1)]);
    assert_eq!(types[2..], numbers);
}

#[test]
fn mistakes_name_their_place_and_what_would_be_right() {
    let short = |rest: &str| format!("grid = 1\nblock = 32\n{rest}");
    let kernel = |list: &str| format!("__global__ void k({list}) {{}}");
    let step = "[[step]]\nkernel = \"row_sums\"\ngrid = 1\nblock = 1\n[[step]]\n";
    let errors: Vec<String> = [
        error("grid = \"rows +\"\nblock = 256", SUM),
        error("grid = \"ceil_div(row, 2)\"\nblock = 256", SUM),
        error("grid = \"rows / (cols - 4)\"\nblock = 256", SUM),
        error("grid = -1\nblock = 256", SUM),
        error("grid = \"large\"\nblock = 256", SUM),
        error("grid = [\"eps\"]\nblock = 256", SUM),
        error("grid = [1, 2, 3, 4]\nblock = 256", SUM),
        error("block = 256", SUM),
        error("grid = true\nblock = 256", SUM),
        error("grid = 1\nblocks = 256", SUM),
        error("grid = 1\nblock = 256\nshared = \"4 * threads\"", SUM),
        error(&short("kernel = \"rowsums\""), SUM),
        error(&short(""), "__global__ void a(int n); __global__ void b(int n);"),
        error(
            &short("kernel = \"t\""),
            "template <int N> __global__ void t(float *sums) {}",
        ),
        error(&short("arguments = [\"matrix\", \"sums\"]"), SUM),
        error(&short("arguments = [\"matrix\", \"cols\", \"sums\"]"), SUM),
        error(&short("arguments = [\"matrix\", \"sums\", \"sums\"]"), SUM),
        error(&short("arguments = [\"matrix\", \"sum\", \"cols\"]"), SUM),
        error(&short("arguments = [\"matrix\", \"sums\", \"large\"]"), SUM),
        error(
            &short("arguments = [\"matrix\", \"sums\", \"rows - 13000000000\"]"),
            SUM,
        ),
        error(&short("arguments = [\"matrix\", \"sums\", 1.5]"), SUM),
        error(&short("arguments = [\"matrix\", \"sums\", \"mode\"]"), SUM),
        error(
            &short("arguments = [\"matrix\", \"sums\", { value = \"cols\", type = \"int\" }]"),
            SUM,
        ),
        error(&short("arguments = [\"matrix\", \"sums\", { value = \"cols\" }]"), SUM),
        error(&short(""), &kernel("const float *matrix, float *output")),
        error(&short(""), &kernel("const float *matrix, float *, int")),
        error(&short("arguments = [\"rows\"]"), &kernel("auto n")),
        error(
            &short("arguments = [\"rows\"]"),
            &format!("struct S {{ int a; }}; {}", kernel("S s")),
        ),
        error(&format!("{step}memset = \"sum\"\nvalue = 0"), SUM),
        error(&format!("{step}memset = \"sums\"\nvalue = 256"), SUM),
        error(&format!("{step}memset = \"sums\""), SUM),
        error(&format!("{step}memset = \"sums\"\nvalue = 0\ngrid = 1"), SUM),
        error(
            &format!("{step}memset = \"sums\"\nvalue = 0\nbytes = \"sums.bytes + 1\""),
            SUM,
        ),
        error(&format!("{step}copy = [\"matrix\", \"sums\"]"), SUM),
        error(&format!("{step}copy = \"matrix\""), SUM),
        error(&format!("{step}kernel = \"row_sums\"\ngrid = 1"), SUM),
        error(&format!("grid = 1\n{step}memset = \"sums\"\nvalue = 0"), SUM),
        error("[[scratch]]\nname = \"x\"\nbytes = 1", SUM),
        error(&short("[[scratch]]\nname = \"sums\"\nbytes = 1"), SUM),
        error(
            &short("[[scratch]]\nname = \"x\"\nbytes = 1\n[[scratch]]\nname = \"x\"\nbytes = 1"),
            SUM,
        ),
        error(&short("[[scratch]]\nname = \"x y\"\nbytes = 1"), SUM),
        error(&short("[[scratch]]\nname = \"x\"\nbytes = \"0 - rows\""), SUM),
        error(
            &short("[[constant]]\nsymbol = \"w\"\ntype = \"float\"\nvalues = 1"),
            SUM,
        ),
        error(
            &short("[[constant]]\nsymbol = \"w\"\ntype = \"u8\"\nvalues = [1, 256]"),
            SUM,
        ),
        error(&short("options = [\"-I/etc\"]"), SUM),
        error(&short("options = [\"-I\", \"../x\"]"), SUM),
        error(&short("name = \"a\\tb\""), SUM),
        error(&short("file = \"k.cu\""), SUM),
        error("grid = 1\nblock = 1\n[library]", SUM),
        error("name = \"x\"", SUM),
        error("grid = 1\ngrid = 2", SUM),
        error("grid = = 2", SUM),
        error("grid = \"\\u0072ows +\"\nblock = 1", SUM),
    ]
    .into();
    insta::assert_snapshot!(errors.join("\n"));
}

/// PTX says what an argument's size is, not its sign.
#[test]
fn ptx_takes_integers_of_its_sizes() {
    let ptx = ".version 8.0\n.visible .entry k(\n.param .u64 a,\n.param .u64 b,\n.param .u32 n, .param .f32 e, .param .b16 h) { }";
    let arguments = "arguments = [\"matrix\", \"large\", \"rows\", \"eps\", { value = 1.5, type = \"f16\" }]";
    let plan = planned(&format!("grid = 1\nblock = 1\n{arguments}"), ptx).unwrap();
    let expected = [
        pointer(BufferId::Tensor(0)),
        value(&5_000_000_000_u64.to_le_bytes()),
        value(&[12, 0, 0, 0]),
        value(&1e-5_f32.to_le_bytes()),
        value(&[0, 0x3e]),
    ];
    assert_eq!(launch(plan).arguments, expected);
    let refused = |list: &str| error(&format!("grid = 1\nblock = 1\narguments = [{list}]"), ptx);
    let errors = [
        refused("\"matrix\", \"sums\", \"large\", \"eps\", 1"),
        refused("\"matrix\", \"sums\", \"rows\", \"eps\", \"cols\""),
        refused("\"matrix\", \"sums\", \"sums\", \"eps\", \"cols\""),
        error("grid = 1\nblock = 1", ptx),
        error("grid = 1\nblock = 1\nkernel = \"kk\"", ptx),
        error("grid = 1\nblock = 1\noptions = [\"-DX\"]", ptx),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn empty_buffers_need_no_memset_and_no_copy() {
    let text = "[[step]]\nkernel = \"row_sums\"\ngrid = 1\nblock = 1\n[[step]]\nmemset = \"sums\"\nvalue = 0\n[[step]]\ncopy = [\"sums\", \"sums\"]";
    let submission = Submission::from_bytes(
        format!("/* gpubench\n{text}\n*/\n{SUM}").into_bytes(),
        &Limits::default(),
    )
    .unwrap();
    let (mut tensors, params, facts) = (tensors(), params(), facts());
    tensors[1].shape = vec![0, 7];
    let case = Case {
        tensors: &tensors,
        params: &params,
        facts: &facts,
    };
    let Launches::Sealed(plan) = submission.launches(&case, 0).unwrap() else {
        panic!("it is a plan");
    };
    assert_eq!(plan.steps.len(), 1);
    tensors[1].shape = vec![u64::MAX, 2];
    let case = Case {
        tensors: &tensors,
        params: &params,
        facts: &facts,
    };
    submission.launches(&case, 0).expect_err("its size has no number");
}

fn of_library(description: &str) -> Result<Launches, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.so");
    std::fs::write(&path, b"\x7fELF").unwrap();
    if !description.is_empty() {
        std::fs::write(folder.path().join("sum.toml"), description).unwrap();
    }
    let submission = Submission::read(&path, &Limits::default());
    let without_folder = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
    let submission = submission.map_err(|error| without_folder(error.to_string()))?;
    launches(&submission).map_err(|error| without_folder(error.to_string()))
}

#[test]
fn a_library_is_called_with_tensors_then_integer_axes() {
    let buffer = |tensor, elements| LibraryArgument::Buffer {
        tensor,
        start: 0,
        elements,
    };
    let number = |dtype, bits| LibraryArgument::Number { dtype, bits };
    let Launches::Hosted { call, execution } = of_library("").unwrap() else {
        panic!("a library has host code");
    };
    assert_eq!((&*call.function, execution), ("solution", Execution::HostedSync));
    let expected = [
        buffer(0, 48),
        buffer(1, 12),
        buffer(2, 12),
        number(DType::I64, 12),
        number(DType::I64, 4),
        number(DType::I64, 5_000_000_000),
        number(DType::I64, (-3_i64) as u64),
    ];
    assert_eq!(call.arguments, expected);
    let text = "[library]\nfunction = \"sum\"\nsynchronizes = false\narguments = [\"sums\", \"rows\", \"eps\", \"causal\", \"null\", { value = \"cols\", type = \"i32\" }, { value = 2, type = \"f32\" }]";
    let Launches::Hosted { call, execution } = of_library(text).unwrap() else {
        panic!("a library has host code");
    };
    assert_eq!((&*call.function, execution), ("sum", Execution::Hosted));
    let expected = [
        buffer(1, 12),
        number(DType::I64, 12),
        number(DType::F64, 1e-5_f64.to_bits()),
        number(DType::U8, 1),
        LibraryArgument::Null,
        number(DType::I32, 4),
        number(DType::F32, 2.0_f32.to_bits().into()),
    ];
    assert_eq!(call.arguments, expected);
    assert!(call.place.ends_with("/sum.toml:1"), "{}", call.place);
}

#[test]
fn mistakes_of_libraries_name_their_place() {
    let errors = [
        "grid = 1\nblock = 1\n",
        "[library]\narguments = [\"mode\"]",
        "[library]\nfunctions = \"f\"",
        "[library]\narguments = [{ value = \"large\", type = \"i32\" }]",
        "[library]\narguments = [\"missing\"]",
        "options = [\"-DX\"]\n[library]",
        "library = 1",
    ]
    .map(|text| of_library(text).expect_err(text));
    insta::assert_snapshot!(
        errors
            .join("\n")
            .replace(&std::env::temp_dir().display().to_string(), "")
    );
}
