//! Tensors declared in the signature, and benchmarks that are one launch.

use crate::client::{params, record};
use gpubench::catalog::{Fill, Role, Tensor, Tolerance, Work};
use gpubench::plan::{Plan, Step};

/// The kernel crate.
mod norms {
    use gpubench::prelude::*;

    cuda_source!(SUMS = "kernels/sums.cu");

    fn nothing(
        _rows: usize,
        _cols: usize,
        _x: &[f32],
        _weight: &[f32],
        y: &mut [f32],
        _sums: &mut [f64],
        _n: &mut [u8],
    ) {
        y.fill(0.0);
    }

    #[gpubench(axes(rows = [2], cols = [3]), reference = nothing, reduction = cols)]
    #[allow(clippy::too_many_arguments)]
    fn every_role(
        launcher: &mut Launcher,
        rows: usize,
        cols: usize,
        #[fill(Normal::STANDARD, [rows, cols])] x: In<f32>,
        #[constant(Uniform(0.5..1.5), cols)] weight: Constant<f32>,
        #[fill(Normal { mean: 0.0, stddev: 1.0 }, rows, cols)] y: InOut<f32>,
        #[shape(rows)]
        #[tolerance(rtol = 1e-3)]
        sums: Out<f64>,
        #[exact]
        #[shape([2 * rows])]
        n: Out<u8>,
        #[shape(7)] partial: Scratch<u32>,
    ) -> Result<()> {
        assert_eq!([x.len(), weight.len(), partial.len()], [6, 3, 7]);
        launcher.memset(sums, 0)?;
        launcher.memset(n, 0)?;
        launcher.memset(partial, 0)?;
        launcher.memset(y, 0)
    }

    fn csr(rows: usize) -> impl Fn(&mut Rng, &mut CpuData) {
        move |_, data| data.slice::<u32>("start").fill(rows as u32)
    }

    #[gpubench(axes(rows = [4]), generate = csr(rows), reference = |_, _: &[u32], _: &mut [f32]| ())]
    fn generated(
        launcher: &mut Launcher,
        rows: usize,
        #[fill(ByCpu, rows + 1)] start: In<u32>,
        #[shape(rows)] y: Out<f32>,
    ) -> Result<()> {
        assert_eq!(start.len(), 5);
        launcher.memset(y, 0)
    }

    #[gpubench(
        axes(len = [64]),
        reference = |_, x: &[f32], total: &mut [f32]| total[0] += x.iter().sum::<f32>(),
        launch = SUMS::atomics<<<Grid::covering(len, 64)>>>(x, total, len),
    )]
    pub(crate) fn function_of_a_kernel(
        len: usize,
        #[fill(Uniform(0.0..1.0), len)] x: In<f32>,
        #[fill(Uniform(0.0..1.0), 1)] total: InOut<f32>,
    );

    /// A problem whose signature declares a constant, an input and an output.
    #[problem(axes(len = [64]), tolerance(rtol = 1e-6))]
    pub(crate) fn scaled(
        len: usize,
        #[fill(Uniform(0.0..1.0), len)] x: &[f32],
        #[constant(Uniform(0.0..1.0), 1)] factor: &[f32],
        #[shape(len)] y: &mut [f32],
        #[fill(Uniform(0.0..1.0), len)] total: &mut [f32],
    ) {
        for ((x, y), total) in x.iter().zip(y).zip(total) {
            *y = x * factor[0];
            *total += *y;
        }
    }

    #[gpubench(problem = scaled, launch = SUMS.kernel("scale")<<<Grid::covering(len, 64)>>>(x, factor, y, total, len))]
    fn one_launch(len: usize, x: In<f32>, factor: Constant<f32>, y: Out<f32>, total: InOut<f32>);

    #[gpubench(
        axes(rows = [2], cols = [8]),
        reference = |rows: usize, cols: usize, x: &[u8], sums: &mut [f32]| {
            assert_eq!(x.len(), rows * cols);
            sums.fill(1.0);
        },
        reduction = cols,
        launch = SUMS.kernel("rows")<<<(rows, 2), 32, 4 * cols>>>(x, sums),
    )]
    pub(crate) fn shared(
        rows: usize,
        cols: usize,
        #[fill(Bits, [rows, cols])] x: In<u8>,
        #[shape(rows)] sums: Out<f32>,
    );
}

fn tensor<'a>(tensors: &'a [Tensor], name: &str) -> &'a Tensor {
    tensors.iter().find(|tensor| tensor.name == name).expect(name)
}

#[test]
fn the_signature_declares_shape_role_contents_and_comparison() {
    let recording = record("signature::norms::every_role", params([("rows", 2), ("cols", 3)])).unwrap();
    let tensors = &recording.tensors;
    let roles: Vec<(&str, Role, &[u64])> = tensors
        .iter()
        .map(|tensor| (&*tensor.name, tensor.role, &*tensor.shape))
        .collect();
    let expected: [(&str, Role, &[u64]); 6] = [
        ("x", Role::Input, &[2, 3]),
        ("weight", Role::Constant, &[3]),
        ("y", Role::InOut, &[2, 3]),
        ("sums", Role::Output, &[2]),
        ("n", Role::Output, &[4]),
        ("partial", Role::Scratch, &[7]),
    ];
    assert_eq!(roles, expected);
    let normal = Fill::Normal { mean: 0.0, stddev: 1.0 };
    assert_eq!(tensor(tensors, "x").fill, normal);
    assert_eq!(tensor(tensors, "weight").fill, Fill::Uniform { low: 0.5, high: 1.5 });
    assert_eq!(
        tensor(tensors, "sums").tolerance,
        Tolerance::Close { rtol: 1e-3, atol: 0.0 }
    );
    assert_eq!(tensor(tensors, "n").tolerance, Tolerance::Exact);
    let by_default = tensor(tensors, "y").tolerance;
    assert!(matches!(by_default, Tolerance::Default { .. }), "{by_default:?}");
    assert_eq!(recording.work, Work::default());
}

#[test]
fn a_generator_fills_declared_tensors() {
    let recording = record("signature::norms::generated", params([("rows", 4)])).unwrap();
    assert_eq!(tensor(&recording.tensors, "start").fill, Fill::Cpu);
}

fn only_launch(plan: &Plan) -> &gpubench::plan::Launch {
    match &plan.steps[..] {
        [Step::Launch(launch)] => launch,
        steps => panic!("{steps:?}"),
    }
}

#[test]
fn a_function_without_a_body_makes_its_launch() {
    let recording = record("signature::norms::one_launch", params([("len", 100)])).unwrap();
    let launch = only_launch(&recording.plan);
    assert_eq!(launch.kernel.name, "scale");
    assert_eq!((launch.grid, launch.block), ([2, 1, 1], [64, 1, 1]));
    assert_eq!(launch.arguments.len(), 5);
    let roles = recording.tensors.iter().map(|tensor| tensor.role);
    assert!(roles.eq([Role::Input, Role::Constant, Role::Output, Role::InOut]));
}

#[test]
fn a_launch_can_be_that_of_a_kernels_function() {
    let recording = record("signature::norms::function_of_a_kernel", params([("len", 100)])).unwrap();
    let launch = only_launch(&recording.plan);
    assert_eq!((&*launch.kernel.name, launch.arguments.len()), ("atomics", 3));
}

#[test]
fn a_launch_can_have_shared_memory_and_a_grid_of_two_dimensions() {
    let recording = record("signature::norms::shared", params([("rows", 2), ("cols", 8)])).unwrap();
    let launch = only_launch(&recording.plan);
    assert_eq!((launch.grid, launch.block), ([2, 2, 1], [32, 1, 1]));
    assert_eq!(launch.dynamic_shared, 32);
}
