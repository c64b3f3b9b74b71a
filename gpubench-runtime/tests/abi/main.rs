//! A kernel crate seen through its exported table.

mod client;

use client::{Memory, catalog, params, record};
use gpubench::abi::Status;
use gpubench::catalog::{DeviceKind, Fill, Requirement, Role, Selection, Tolerance, Work};
use gpubench::plan::{Argument, BufferId, Step};

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
        inputs = rgb_image,
        reference = grayscale_on_cpu,
        tolerance(rtol = 1e-5, atol = 1e-6),
        bytes = 16 * width * height,
        flops = 5 * width * height,
        cpu(axes(width = [256])),
    )]
    fn grayscale(cx: &mut Launcher, width: usize, height: usize, rgb: In<f32>, gray: Out<f32>) -> Result<()> {
        let pixels = width * height;
        cx.launch(
            IMAGE.kernel("grayscale"),
            Grid::covering(pixels, 256),
            (rgb, gray, pixels),
        )
    }
}

#[test]
fn a_benchmark_is_in_the_catalog_with_all_that_its_attribute_says() {
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
        "[Axis { name: \"width\", values: [Int(1024), Int(4096)] }, Axis { name: \"height\", values: [Int(1024), Int(4096)] }]"
    );
    assert_eq!(benchmark.device_axes.len(), 1);
    assert_eq!(benchmark.device_axes[0].0, DeviceKind::Cpu);
}

#[test]
fn a_source_travels_with_everything_it_includes() {
    let catalog = catalog();
    let source = catalog
        .sources
        .iter()
        .find(|source| source.name == "kernels/image.cu")
        .unwrap();
    let paths: Vec<&str> = source.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "tests/abi/kernels/image.cu",
            "tests/abi/kernels/pixel.cuh",
            "tests/abi/kernels/weights.cuh"
        ]
    );
    assert!(source.files[2].text.contains("#define RED"));
    assert_eq!(source.options, ["-DFAST"]);
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
            flops: Some(3000)
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
    let mut memory = Memory::of("image::grayscale", params([("width", 2), ("height", 1)]));
    memory.set_f32s("rgb", [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    memory.reference().unwrap();
    assert_eq!(memory.f32s("gray"), [0.2126, 0.0722]);
}

#[test]
fn an_axis_value_that_is_not_of_its_type_is_an_error() {
    let (status, message) = record("image::grayscale", params([("width", -1), ("height", 1)])).unwrap_err();
    assert_eq!(
        (status, message.as_str()),
        (Status::Failed, "axis `width`: `-1` is not a usize")
    );
    let (_, message) = record("image::grayscale", params([("width", 1), ("height", 1), ("depth", 1)])).unwrap_err();
    assert_eq!(message, "`image::grayscale` has no axis `depth`");
}
