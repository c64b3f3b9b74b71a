//! A kernel crate as its exported table shows it.

mod client;
mod hosted;
mod launched;
mod own_library;
mod signature;
mod sources;
mod types;

use client::{Memory, catalog, params, record, record_at};
use gpubench::abi::Status;
use gpubench::catalog::{
    Axis, AxisValue, Benchmark, Counter, DeviceKind, Draw, Fill, HiddenCases, Parameter, ParameterKind, Requirement,
    Role, Score, Selection, Source, SourceForm, SubmissionLimits, Tolerance, Work,
};
use gpubench::plan::{Argument, BufferId, Plan, Step};

/// The kernel crate.
mod image {
    use gpubench::prelude::*;

    cuda_source!(IMAGE = "kernels/image.cu", options = ["-DFAST"]);

    fn rgb_image(width: usize, height: usize) -> Tensors {
        Tensors::new()
            .input("rgb", f32::shape([height, width, 3]), Uniform(0.0..1.0))
            .output("gray", f32::shape([height, width]))
    }

    fn grayscale_on_cpu(_width: usize, _height: usize, rgb: &[f32], gray: &mut [f32]) {
        for (pixel, gray) in rgb.chunks_exact(3).zip(gray) {
            *gray = 0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2];
        }
    }

    pub(crate) const LINE_ABOVE: u32 = line!();
    #[gpubench(
        axes(width = [1024, 4096], height = [1024, 4096]),
        tensors = rgb_image,
        reference = grayscale_on_cpu,
        tolerance(rtol = 1e-5, atol = 1e-6),
        bytes = 16 * width * height,
        flops = 5 * width * height,
        counters(pixels = width * height, rows = height as f64),
        cpu(axes(width = [256])),
    )]
    fn grayscale(launcher: &mut Launcher, width: usize, height: usize, rgb: In<f32>, gray: Out<f32>) -> Result<()> {
        let pixels = width * height;
        launcher.launch(
            IMAGE.kernel("grayscale"),
            Grid::covering(pixels, 256),
            (rgb, gray, pixels),
        )
    }
}

/// A problem with two implementations.
/// Problems that are graded in other ways.
mod graded {
    use gpubench::prelude::*;

    #[problem(
        axes(rows = [1], cols = [1]),
        types(T = [f32, f64]),
        hidden(cases((rows, cols) = [(2, 3), (4, 5)])),
        exact,
    )]
    fn scale<T: Element>(
        rows: usize,
        cols: usize,
        #[constant(Uniform(0.0..1.0), 2 * rows)] factors: &[T],
        #[fill(Uniform(0.0..1.0), [rows, cols])] matrix: &mut [T],
    ) {
        let _ = (factors, matrix);
    }

    fn five() -> usize {
        5
    }

    #[problem(axes(n = [1]), hidden(n = draw(5..five()), count = 1), exact)]
    fn broken(n: usize, #[shape(n)] y: &mut [f32]) {
        y.fill(0.0);
    }
}

mod sums {
    use gpubench::prelude::*;

    cuda_source!(SUMS = "kernels/sums.cu");
    cuda_source!(pub(crate) SAME_SUMS = "kernels/sums.cu");
    cuda_source!(FOR_NVCC = "kernels/sums.cu", compiler = nvcc);
    cuda_source!(COMPILED = "kernels/affine.ptx");
    cuda_source!(
        BY_FOLDERS = "kernels/by_folders.cu",
        options = [
            "-Itests/abi/kernels/folders",
            "--include-path",
            "tests/abi/kernels/folders/deeper",
            "-I/nowhere"
        ],
    );
    cuda_image!(SHIPPED = crate::SHIPPED_PTX);
    cuda_image!(SHIPPED_BYTES = b"\x7fELF");

    fn numbers(len: usize) -> Tensors {
        Tensors::new()
            .input("x", f32::shape(len), ByKernel(SAME_SUMS.kernel("ramp")))
            .scratch("partial", f32::shape(len.div_ceil(256)))
            .output("sum", f32::shape(1))
    }

    /// Sums the numbers.
    ///
    /// In any order.
    #[problem(
        axes(len = [1 << 20]),
        tensors = numbers,
        tolerance(rtol = 1e-6),
        bytes = 4 * len,
        cpu(axes(len = [1 << 10])),
        requires(cuda),
        hidden(len = draw(1..=1 << 24), count = 3),
        score = last,
        limits(time = "10s", source = "64 KiB"),
    )]
    pub(crate) fn sum(_len: usize, x: &[f32], sum: &mut [f32]) {
        sum[0] = x.iter().map(|&x| f64::from(x)).sum::<f64>() as f32;
    }

    #[gpubench(problem = sum)]
    fn atomics(launcher: &mut Launcher, len: usize, x: In<f32>, sum: Out<f32>) -> Result<()> {
        launcher.memset(sum, 0)?;
        launcher.launch(SUMS.kernel("atomics"), Grid::covering(len, 256), (x, sum, len))
    }

    pub(crate) mod tree {
        use super::*;

        #[gpubench(
            problem = super::sum,
            axes(block = [64, 128]),
            name = "two-passes",
            ignore,
            requires(cuda, capability = 9.0),
            cpu(axes(len = [1 << 12], block = [32])),
        )]
        fn two_passes(
            launcher: &mut Launcher,
            block: u32,
            len: usize,
            x: In<f32>,
            partial: Scratch<f32>,
            sum: Out<f32>,
        ) -> Result<()> {
            let kernel = SUMS.kernel(format!("partial_sums<{block}>"));
            launcher.launch(kernel, Grid::covering(len, block), (x, partial, len))?;
            launcher.launch(SUMS.kernel("total"), Grid::new(1, 1), (partial, sum, partial.len()))
        }
    }
}

/// Axes of every kind, and a function that fails.
mod axes {
    use gpubench::prelude::*;

    const LENGTHS: [u16; 2] = [3, 4];

    #[gpubench(axes(
        len = LENGTHS,
        shift = (0..3).map(|shift| -shift),
        scale = [0.1, 1.0],
        ratio = [0.5],
        reverse = [false, true],
        order = ["rows", "columns"],
    ))]
    #[ignore]
    #[allow(clippy::too_many_arguments)]
    fn kinds(
        launcher: &mut Launcher,
        len: u16,
        shift: i32,
        scale: f32,
        ratio: f64,
        reverse: bool,
        order: &str,
    ) -> Result<()> {
        if order == "columns" {
            return Err(Error::new(format!(
                "no columns: {len} {shift} {scale} {ratio} {reverse}"
            )));
        }
        let scratch = launcher.scratch::<u8>(len.into())?;
        launcher.memset(scratch, 1)
    }

    #[gpubench]
    fn nothing(_cx: &mut Launcher) -> Result<()> {
        Ok(())
    }

    pub(super) const TOO_LARGE: u32 = line!() + 1;
    #[gpubench(axes(len = [4], seed = [1, 0xcbf2_9ce4_8422_2325]))]
    fn too_large(launcher: &mut Launcher, len: usize, seed: u64) -> Result<()> {
        let scratch = launcher.scratch::<u8>(len)?;
        launcher.memset(scratch, seed as u8)
    }

    pub(super) const COUNTED: u32 = line!() + 1;
    #[gpubench(axes(len = [4]), counters(tokens = len * len, rest = 5 - i64::from(len)))]
    fn counted(launcher: &mut Launcher, len: u32) -> Result<()> {
        let scratch = launcher.scratch::<u8>(len as usize)?;
        launcher.memset(scratch, 1)
    }

    #[gpubench(axes(r#type = ["a", "b"]))]
    fn raw(launcher: &mut Launcher, r#type: &str) -> Result<()> {
        let scratch = launcher.scratch::<u8>(r#type.len())?;
        launcher.memset(scratch, 1)
    }
}

/// Functions with the names that the macros' output might use.
mod names {
    use gpubench::prelude::*;

    fn tensors(params: usize, data: usize) -> Tensors {
        Tensors::new().output("outcome", u32::shape(params * data))
    }

    fn work(params: usize) -> usize {
        4 * params
    }

    fn reference(_params: usize, _data: usize, outcome: &mut [u32]) {
        outcome.fill(0);
    }

    #[gpubench(
        axes(params = [1], data = [1]),
        tensors = tensors,
        reference = reference,
        bytes = work(params) * data,
    )]
    fn record(launcher: &mut Launcher, params: usize, data: usize, outcome: Out<u32>) -> Result<()> {
        assert_eq!(params * data, outcome.len());
        launcher.memset(outcome, 0)
    }

    #[gpubench(axes(params = [1]), tensors = tensors(params, 2), reference = |_: usize| (), name = "forgotten")]
    fn forgets_the_output(_cx: &mut Launcher, _params: usize) -> Result<()> {
        Ok(())
    }
}

/// Generators, in-out tensors, constants, and functions that panic.
mod matrices {
    use gpubench::prelude::*;

    fn permuted(rows: usize) -> Tensors {
        Tensors::new()
            .input("order", u32::shape(rows), ByCpu)
            .inout("values", f32::shape(rows), ByCpu)
            .constant("weights", f32::shape(rows), ByCpu)
            .generate(move |rng: &mut Rng, data: &mut CpuData| {
                assert!(rows < 100, "{rows} rows are too many");
                let order = data.slice::<u32>("order");
                for (index, order) in order.iter_mut().enumerate() {
                    *order = index as u32;
                }
                rng.shuffle(order);
                data.slice::<f32>("weights").fill(2.0);
                for (value, order) in data.slice::<f32>("values").iter_mut().zip(order) {
                    *value = *order as f32;
                }
            })
    }

    fn scale(rows: usize, order: &[u32], values: &mut [f32], weights: &[f32]) -> Result<()> {
        let last: u8 = (rows - 1).try_into()?;
        if order.iter().any(|&order| order > last.into()) {
            return Err(Error::new("the order is no permutation"));
        }
        assert!(rows != 13, "{rows} is unlucky");
        for (value, weight) in values.iter_mut().zip(weights) {
            *value *= weight;
        }
        Ok(())
    }

    #[gpubench(axes(rows = [8]), tensors = permuted, reference = scale, exact)]
    fn scaling(
        launcher: &mut Launcher,
        rows: usize,
        order: In<u32>,
        values: InOut<f32>,
        weights: Constant<f32>,
    ) -> Result<()> {
        assert!(!order.is_empty());
        let all = rows / (rows - 5).min(1);
        launcher.copy(weights.range(..all), values)
    }
}

fn benchmark(path: &str) -> Benchmark {
    catalog()
        .benchmarks
        .into_iter()
        .find(|benchmark| benchmark.path == path)
        .expect(path)
}

/// Shaped like a constant that another crate ships.
const SHIPPED_PTX: &str = ".version 7.8\n.target sm_75\n";

#[test]
fn the_catalog_has_all_options_of_a_benchmark() {
    let catalog = catalog();
    let benchmark = catalog
        .benchmarks
        .iter()
        .find(|benchmark| benchmark.path == "image::grayscale")
        .unwrap();
    assert_eq!(benchmark.library, "abi");
    assert_eq!(benchmark.problem, "image::grayscale");
    assert!(benchmark.file.ends_with("tests/abi/main.rs"), "{}", benchmark.file);
    assert_eq!(benchmark.line, image::LINE_ABOVE + 1);
    assert_eq!(benchmark.selection, Selection::Default);
    assert_eq!(
        format!("{:?}", benchmark.axes),
        "[Axis { names: [\"width\"], values: [[Int(1024)], [Int(4096)]] }, Axis { names: [\"height\"], values: [[Int(1024)], [Int(4096)]] }]"
    );
    assert_eq!(benchmark.counters, ["pixels", "rows"]);
    assert_eq!(benchmark.device_axes.len(), 1);
    assert_eq!(benchmark.device_axes[0].0, DeviceKind::Cpu);
}

#[test]
fn an_axis_that_cannot_be_listed_fails_its_benchmark_alone() {
    assert_eq!(benchmark("axes::too_large").axes, []);
    let (status, message) = record("axes::too_large", Vec::new()).unwrap_err();
    assert_eq!(status, Status::Failed);
    let place = format!("tests/abi/main.rs:{} cannot be listed: ", axes::TOO_LARGE);
    let value = "the axis value 14695981039346656037 is larger than 9223372036854775807 (at ";
    assert!(message.contains(&(place + value)), "{message}");
    assert!(message.starts_with("the axes of `axes::too_large` at "), "{message}");
}

#[test]
fn an_axis_can_have_the_name_of_a_keyword() {
    let [axis] = &benchmark("axes::raw").axes[..] else {
        panic!("one axis")
    };
    assert_eq!(axis.names, ["type"]);
    record("axes::raw", vec![("type".to_owned(), AxisValue::Text("b".to_owned()))]).unwrap();
}

#[test]
fn a_counter_that_is_no_amount_fails_its_case() {
    let counted = |len| record("axes::counted", params([("len", len)]));
    let amounts: Vec<_> = counted(5)
        .unwrap()
        .work
        .counters
        .iter()
        .map(|counter| counter.amount)
        .collect();
    assert_eq!(amounts, [25, 0]);
    let (status, message) = counted(6).unwrap_err();
    assert_eq!(status, Status::Failed);
    assert!(
        message.contains("`rest` is `-1`, which is not a number from 0"),
        "{message}"
    );
    let (_, message) = counted(1 << 16).unwrap_err();
    let place = format!(
        "attempt to multiply with overflow (at gpubench/tests/abi/main.rs:{}",
        axes::COUNTED
    );
    assert!(message.contains(&place), "{message}");
}

#[test]
fn a_case_is_recorded_as_tensors_work_and_plan() {
    let recording = record("image::grayscale", params([("width", 20), ("height", 30)])).unwrap();
    let shapes: Vec<_> = recording
        .tensors
        .iter()
        .map(|tensor| (tensor.name.as_str(), &tensor.shape[..]))
        .collect();
    assert_eq!(shapes, [("rgb", &[30, 20, 3][..]), ("gray", &[30, 20][..])]);
    assert_eq!(recording.tensors[0].fill, Fill::Uniform { low: 0.0, high: 1.0 });
    assert_eq!(recording.tensors[1].role, Role::Output);
    assert_eq!(
        recording.tensors[1].tolerance,
        Tolerance::Close { rtol: 1e-5, atol: 1e-6 }
    );
    assert_eq!(
        recording.work,
        Work {
            bytes: Some(9600),
            flops: Some(3000),
            counters: vec![
                Counter {
                    name: "pixels".to_owned(),
                    amount: 600
                },
                Counter {
                    name: "rows".to_owned(),
                    amount: 30
                }
            ]
        }
    );
    let [Step::Launch(launch)] = &recording.plan.steps[..] else {
        panic!("{:?}", recording.plan)
    };
    assert_eq!((launch.grid, launch.block), ([3, 1, 1], [256, 1, 1]));
    assert_eq!(
        launch.arguments[1],
        Argument::Pointer {
            buffer: BufferId::Tensor(1),
            offset: 0
        }
    );
    assert_eq!(launch.arguments[2], Argument::Value(600u64.to_le_bytes().to_vec()));
}

#[test]
fn a_reference_computes_the_outputs_from_the_inputs() {
    let mut memory = Memory::new("image::grayscale", params([("width", 2), ("height", 1)]));
    memory.set_f32s("rgb", [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    memory.reference().unwrap();
    assert_eq!(memory.f32s("gray"), [0.2126, 0.0722]);
}

#[test]
fn an_axis_value_of_another_type_is_an_error() {
    let (status, message) = record("image::grayscale", params([("width", -1), ("height", 1)])).unwrap_err();
    assert_eq!(
        (status, message.as_str()),
        (Status::Failed, "axis `width`: `-1` is not a usize")
    );
    let (_, message) = record("image::grayscale", params([("width", 1), ("height", 1), ("depth", 1)])).unwrap_err();
    assert_eq!(message, "`image::grayscale` has no axis `depth`");
}

#[test]
fn benchmarks_are_listed_by_path() {
    let paths: Vec<String> = catalog()
        .benchmarks
        .into_iter()
        .map(|benchmark| benchmark.path)
        .collect();
    let expected = [
        "axes::counted",
        "axes::kinds",
        "axes::nothing",
        "axes::raw",
        "axes::too_large",
        "hosted::cases::counts_on",
        "hosted::cases::declares_nothing",
        "image::grayscale",
        "launched::cases::persistent",
        "launched::cases::sum",
        "matrices::scaling",
        "names::forgotten",
        "names::record",
        "own_library::cases::declares_nothing",
        "own_library::cases::ignores_the_second_error",
        "own_library::cases::leaves_a_buffer",
        "own_library::cases::may_wait",
        "own_library::cases::of_every_kind",
        "own_library::cases::passes_a_half",
        "own_library::cases::passes_an_array",
        "signature::norms::every_role",
        "signature::norms::function_of_a_kernel",
        "signature::norms::generated",
        "signature::norms::one_launch",
        "signature::norms::shared",
        "sums::atomics",
        "sums::tree::two-passes",
        "types::scaling::from_half",
        "types::scaling::scale",
        "types::scaling::to_a_foreign_type",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn implementations_share_the_options_of_their_problem_and_add_axes() {
    let (atomics, tree) = (benchmark("sums::atomics"), benchmark("sums::tree::two-passes"));
    assert_eq!(
        (atomics.problem.as_str(), tree.problem.as_str()),
        ("sums::sum", "sums::sum")
    );
    assert_eq!(
        (atomics.selection, tree.selection),
        (Selection::Default, Selection::Ignored)
    );
    let cuda = Requirement::Device(DeviceKind::Cuda);
    assert_eq!(atomics.requirements, std::slice::from_ref(&cuda));
    assert_eq!(tree.requirements, [cuda, Requirement::Capability(90)]);
    let names: Vec<&str> = tree
        .axes
        .iter()
        .flat_map(|axis| &axis.names)
        .map(String::as_str)
        .collect();
    assert_eq!(names, ["len", "block"]);
    let of_cpu = |benchmark: &Benchmark| {
        let [(DeviceKind::Cpu, axes)] = &benchmark.device_axes[..] else {
            panic!("{:?}", benchmark.device_axes)
        };
        axes.iter()
            .map(|axis| (axis.title(), axis.values.concat()))
            .collect::<Vec<_>>()
    };
    assert_eq!(of_cpu(&atomics), [("len".to_owned(), vec![AxisValue::Int(1024)])]);
    let replaced = [
        ("len".to_owned(), vec![AxisValue::Int(4096)]),
        ("block".to_owned(), vec![AxisValue::Int(32)]),
    ];
    assert_eq!(of_cpu(&tree), replaced);
}

#[test]
fn problems_follow_the_benchmarks_with_their_statements_and_without_plans() {
    let catalog = catalog();
    let position = |path: &str| catalog.problems.iter().position(|problem| problem.outline.path == path);
    let position = position("sums::sum").expect("listed");
    let problem = &catalog.problems[position];
    assert_eq!(problem.statement, "Sums the numbers.\n\nIn any order.");
    assert_eq!(problem.outline.problem, "sums::sum");
    let number = (catalog.benchmarks.len() + position) as u32;
    let recording = record_at(number, params([("len", 64)])).expect("a recording");
    assert_eq!(recording.plan, Plan::default());
    let names: Vec<_> = recording.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["x", "partial", "sum"]);
}

#[test]
fn a_problem_states_its_signature_its_work_and_how_it_is_graded() {
    let catalog = catalog();
    let problem = |path: &str| {
        let mut problems = catalog.problems.iter();
        problems.find(|problem| problem.outline.path == path).expect("listed")
    };
    let sum = problem("sums::sum");
    let parameter = |name: &str, type_name: &str, kind| Parameter {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        kind,
    };
    let made = |role| ParameterKind::Tensor { role, shape: None };
    assert_eq!(
        sum.signature,
        [
            parameter("len", "usize", ParameterKind::Axis),
            parameter("x", "f32", made(Role::Input)),
            parameter("sum", "f32", made(Role::Output)),
        ]
    );
    assert_eq!(sum.work, [("bytes".to_owned(), "4 * len".to_owned())]);
    let draw = Draw {
        name: "len".to_owned(),
        least: 1,
        most: 1 << 24,
    };
    assert_eq!(
        (&sum.hidden.axes[..], &sum.hidden.draws[..], sum.hidden.count),
        (&[][..], &[draw][..], 3)
    );
    assert_eq!(sum.score, Score::Last);
    let limits = SubmissionLimits {
        call_ns: Some(10_000_000_000),
        source_bytes: Some(64 << 10),
    };
    assert_eq!(sum.limits, limits);
    let declared = problem("graded::scale");
    let tensor = |role, shape: &str| {
        let shape = Some(shape.to_owned());
        ParameterKind::Tensor { role, shape }
    };
    assert_eq!(
        declared.signature,
        [
            parameter("rows", "usize", ParameterKind::Axis),
            parameter("cols", "usize", ParameterKind::Axis),
            parameter("factors", "T", tensor(Role::Constant, "2 * rows")),
            parameter("matrix", "T", tensor(Role::InOut, "[rows, cols]")),
        ]
    );
    let values = [[2, 3], [4, 5]].map(|pair| pair.map(AxisValue::Int).to_vec()).to_vec();
    let names = ["rows", "cols"].map(str::to_owned).to_vec();
    assert_eq!(declared.hidden.axes, [Axis { names, values }]);
    assert_eq!(
        (declared.score, declared.limits),
        (Score::default(), SubmissionLimits::default())
    );
    // The axes of one whose hidden cases cannot be listed cannot be listed either.
    let broken = problem("graded::broken");
    assert_eq!(
        (&broken.outline.axes[..], &broken.hidden),
        (&[][..], &HiddenCases::default())
    );
    let position = catalog.benchmarks.len() + catalog.problems.iter().position(|other| other == broken).expect("one");
    let (_, message) = record_at(position as u32, Vec::new()).expect_err("no axes");
    assert!(message.contains("the range of `n` is empty: from 5 to 5"), "{message}");
}

#[test]
fn a_plan_names_scratch_tensors_templates_and_sources_by_position() {
    let recording = record("sums::tree::two-passes", params([("len", 512), ("block", 64)])).unwrap();
    let Fill::Kernel(ramp) = &recording.tensors[0].fill else {
        panic!("{:?}", recording.tensors[0])
    };
    let is_sums = |source: &Source| source.name == "kernels/sums.cu" && source.form == SourceForm::Cuda;
    let sums = catalog().sources.iter().position(is_sums).expect("it is embedded") as u32;
    assert_eq!((ramp.source, ramp.name.as_str()), (sums, "ramp"));
    assert_eq!(recording.tensors[1].role, Role::Scratch);
    let [Step::Launch(partial), Step::Launch(total)] = &recording.plan.steps[..] else {
        panic!("{:?}", recording.plan)
    };
    assert_eq!(
        (partial.kernel.source, partial.kernel.name.as_str()),
        (sums, "partial_sums<64>")
    );
    assert_eq!(partial.grid, [8, 1, 1]);
    assert_eq!(total.arguments[2], Argument::Value(2u64.to_le_bytes().to_vec()));
}

#[test]
fn axes_have_the_types_of_the_parameters() {
    let values: Vec<Vec<AxisValue>> = benchmark("axes::kinds")
        .axes
        .into_iter()
        .map(|axis| axis.values.concat())
        .collect();
    let text = |text: &str| AxisValue::Text(text.to_owned());
    let expected = [
        vec![AxisValue::Int(3), AxisValue::Int(4)],
        vec![AxisValue::Int(0), AxisValue::Int(-1), AxisValue::Int(-2)],
        vec![AxisValue::Float(0.1), AxisValue::Float(1.0)],
        vec![AxisValue::Float(0.5)],
        vec![AxisValue::Bool(false), AxisValue::Bool(true)],
        vec![text("rows"), text("columns")],
    ];
    assert_eq!(values, expected);
    assert_eq!(benchmark("axes::kinds").selection, Selection::Ignored);
}

#[test]
fn every_kind_of_value_reaches_the_function() {
    let kinds = |order: &str| {
        let values = [
            ("len", AxisValue::Int(3)),
            ("shift", AxisValue::Int(-1)),
            ("scale", AxisValue::Float(0.1)),
            ("ratio", AxisValue::Int(2)),
            ("reverse", AxisValue::Bool(true)),
            ("order", AxisValue::Text(order.to_owned())),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).to_vec()
    };
    assert_eq!(record("axes::kinds", kinds("rows")).unwrap().plan.scratch, [3]);
    let failed = (Status::Failed, "no columns: 3 -1 0.1 2 true".to_owned());
    assert_eq!(record("axes::kinds", kinds("columns")).unwrap_err(), failed);
}

#[test]
fn a_benchmark_without_axes_and_tensors_is_one_empty_case() {
    let recording = record("axes::nothing", vec![]).unwrap();
    assert!(recording.tensors.is_empty() && recording.plan.steps.is_empty());
    assert_eq!(recording.work, Work::default());
}

#[test]
fn user_names_do_not_conflict_with_names_in_the_macros_output() {
    let recording = record("names::record", params([("params", 3), ("data", 2)])).unwrap();
    assert_eq!(recording.work.bytes, Some(24));
    assert_eq!(recording.plan.steps.len(), 1);
    let mut memory = Memory::new("names::record", params([("params", 1), ("data", 1)]));
    memory.bytes("outcome").fill(1);
    memory.reference().unwrap();
    assert_eq!(memory.u32s("outcome"), [0]);
}

#[test]
fn an_output_that_is_not_a_parameter_of_the_reference_is_rejected() {
    let (status, message) = record("names::forgotten", params([("params", 1)])).unwrap_err();
    assert_eq!(status, Status::Failed);
    assert_eq!(
        message,
        "the tensor `outcome` is an output of `names::forgotten`, but the reference has no parameter of that name"
    );
}

#[test]
fn recording_twice_gives_the_same() {
    let once = || record("sums::tree::two-passes", params([("len", 512), ("block", 64)])).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn a_generator_fills_its_tensors_from_the_seed_and_the_reference_reads_them() {
    let mut memory = Memory::new("matrices::scaling", params([("rows", 8)]));
    memory.generate(5).unwrap();
    let order = memory.u32s("order");
    let values: Vec<f32> = order.iter().map(|&order| order as f32).collect();
    assert_eq!(memory.f32s("values"), values);
    assert_eq!(memory.f32s("weights"), [2.0; 8]);
    memory.reference().unwrap();
    assert_eq!(
        memory.f32s("values"),
        values.iter().map(|value| 2.0 * value).collect::<Vec<_>>()
    );

    let mut again = Memory::new("matrices::scaling", params([("rows", 8)]));
    again.generate(5).unwrap();
    assert_eq!(again.u32s("order"), order);
    again.generate(6).unwrap();
    assert_ne!(again.u32s("order"), order);
}

#[test]
fn a_references_error_is_reported_with_its_message() {
    let mut memory = Memory::new("matrices::scaling", params([("rows", 8)]));
    memory.bytes("order").fill(9);
    assert_eq!(
        memory.reference().unwrap_err(),
        (Status::Failed, "the order is no permutation".to_owned())
    );
}

#[test]
fn a_panic_of_user_code_is_reported_with_message_and_location() {
    let mut memory = Memory::new("matrices::scaling", params([("rows", 13)]));
    memory.generate(0).unwrap();
    let (status, message) = memory.reference().unwrap_err();
    assert_eq!(status, Status::Panicked);
    assert!(
        message.starts_with("13 is unlucky (at ") && message.contains("tests/abi/main.rs:"),
        "{message}"
    );

    let mut memory = Memory::new("matrices::scaling", params([("rows", 100)]));
    let (status, message) = memory.generate(0).unwrap_err();
    assert!(
        status == Status::Panicked && message.starts_with("100 rows are too many (at "),
        "{message}"
    );

    let (status, message) = record("matrices::scaling", params([("rows", 5)])).unwrap_err();
    assert!(
        status == Status::Panicked && message.starts_with("attempt to divide by zero (at "),
        "{message}"
    );
}

#[test]
fn memory_of_the_wrong_size_is_rejected() {
    let mut memory = Memory::new("image::grayscale", params([("width", 2), ("height", 1)]));
    let failed = (
        Status::Failed,
        "memory of tensor `rgb`: 23 bytes instead of 24".to_owned(),
    );
    assert_eq!(memory.reference_with_short_memory().unwrap_err(), failed);
}
