//! Benchmarks over several types.

use crate::client::{catalog, record};
use gpubench::abi::Status;
use gpubench::catalog::{AxisValue, DType, Params, Recording};
use gpubench::plan::Step;

/// The kernel crate.
mod scaling {
    use gpubench::prelude::*;

    cuda_source!(SCALE = "kernels/sums.cu");

    fn scale_on_cpu<T: Number>(_n: usize, x: &[T], y: &mut [T]) {
        for (x, y) in x.iter().zip(y) {
            *y = T::from_f64(2.0 * x.to_f64());
        }
    }

    #[gpubench(
        types(T = [f32, gpubench::F16, BF16]),
        axes(n = [64]),
        reference = scale_on_cpu::<T>,
        bytes = 2 * size_of::<T>() * n,
        requires(if = n * size_of::<T>() < 1000),
        launch = SCALE.kernel(format!("scale<{}>", T::CUDA_TYPE))<<<Grid::covering(n, 64)>>>(x, y, n),
    )]
    fn scale<T: Element>(n: usize, #[fill(Normal::STANDARD, n)] x: In<T>, #[shape(n)] y: Out<T>);

    /// A copy that changes the type.
    #[problem(types(From = [f32, F16], To = [f32, f64]), axes(n = [8]))]
    fn converted<To, From>(n: usize, #[fill(Integers(0..100), n)] x: &[From], #[shape(n)] y: &mut [To])
    where
        From: Number,
        To: Number,
    {
        for (x, y) in x.iter().zip(y) {
            *y = To::from_f64(x.to_f64());
        }
    }

    #[gpubench(problem = converted, types(To = [f32, F16], From = [F16]))]
    fn to_a_foreign_type<From: Element, To: Element>(
        launcher: &mut Launcher,
        _n: usize,
        x: In<From>,
        y: Out<To>,
    ) -> Result<()> {
        launcher.copy(x, y)
    }

    #[gpubench(problem = converted, types(To = [f32, f64], From = [F16]))]
    fn from_half<From: Element, To: Element>(launcher: &mut Launcher, n: usize, x: In<From>, y: Out<To>) -> Result<()> {
        let kernel = format!("convert<{}, {}>", From::CUDA_TYPE, To::CUDA_TYPE);
        launcher.launch(SCALE.kernel(kernel), Grid::covering(n, 64), (x, y, n))
    }
}

fn with_types<const N: usize>(types: [(&str, &str); N], n: i64) -> Params {
    let types = types.map(|(name, ty)| (name.to_owned(), AxisValue::Text(ty.to_owned())));
    types.into_iter().chain([("n".to_owned(), AxisValue::Int(n))]).collect()
}

fn kernel(recording: &Recording) -> &str {
    match &recording.plan.steps[..] {
        [Step::Launch(launch)] => &launch.kernel.name,
        steps => panic!("{steps:?}"),
    }
}

fn dtypes(recording: &Recording) -> Vec<DType> {
    recording.tensors.iter().map(|tensor| tensor.dtype).collect()
}

#[test]
fn types_are_an_axis_of_their_names() {
    let axes = |path: &str| {
        let benchmark = catalog()
            .benchmarks
            .into_iter()
            .find(|benchmark| benchmark.path == path);
        format!("{:?}", benchmark.expect(path).axes)
    };
    let scale = axes("types::scaling::scale");
    assert!(
        scale.contains("[[Text(\"f32\")], [Text(\"F16\")], [Text(\"BF16\")]]"),
        "{scale}"
    );
    let from_half = axes("types::scaling::from_half");
    assert!(from_half.contains("[[Text(\"f32\")], [Text(\"F16\")]]"), "{from_half}");
}

#[test]
fn a_case_is_recorded_with_its_types() {
    for (ty, dtype, cuda, bytes) in [
        ("f32", DType::F32, "scale<float>", 512),
        ("F16", DType::F16, "scale<__half>", 256),
        ("BF16", DType::BF16, "scale<__nv_bfloat16>", 256),
    ] {
        let recording = record("types::scaling::scale", with_types([("T", ty)], 64)).unwrap();
        assert_eq!(dtypes(&recording), [dtype; 2]);
        assert_eq!(kernel(&recording), cuda);
        assert_eq!(recording.work.bytes, Some(bytes));
    }
}

#[test]
fn a_condition_can_depend_on_a_type() {
    assert!(record("types::scaling::scale", with_types([("T", "F16")], 400)).is_ok());
    let (_, message) = record("types::scaling::scale", with_types([("T", "f32")], 400)).unwrap_err();
    assert!(message.contains("requires `n * size_of"), "{message}");
}

#[test]
fn several_types_are_combined_and_named_in_any_order() {
    let types = with_types([("From", "F16"), ("To", "f64")], 8);
    let recording = record("types::scaling::from_half", types).unwrap();
    assert_eq!(dtypes(&recording), [DType::F16, DType::F64]);
    assert_eq!(kernel(&recording), "convert<__half, double>");
}

#[test]
fn a_type_that_the_problem_does_not_have_is_an_error() {
    let (status, message) = record("types::scaling::to_a_foreign_type", Vec::new()).unwrap_err();
    assert_eq!(status, Status::Failed);
    assert!(
        message.ends_with("cannot be listed: the problem is not for `To=F16`"),
        "{message}"
    );
}

#[test]
fn types_that_a_kernel_does_not_have_are_skipped() {
    let types = with_types([("From", "f32"), ("To", "f64")], 8);
    let (status, message) = record("types::scaling::from_half", types).unwrap_err();
    assert_eq!(status, Status::Skipped);
    assert!(
        message.contains("its `types(..)` do not have `To=f64`, `From=f32`"),
        "{message}"
    );
}
