use super::*;
use crate::catalog::{DType, SourceForm};
use crate::element::{BF16, Element, Elements, F16};
use crate::source::CudaSource;

static SOURCE: CudaSource = CudaSource::embedded("image.cu", SourceForm::Cuda, &[], &[]);

fn describe(tensors: Tensors, stated: Option<Tolerance>) -> Result<Vec<Tensor>> {
    let comparison = stated.map_or(Comparison::OfType { terms: 1 }, Comparison::Stated);
    tensors.describe(comparison, |kernel| {
        Ok(KernelRef {
            source: 0,
            name: kernel.name.clone(),
        })
    })
}

fn rejection(tensors: Tensors) -> String {
    describe(tensors, Some(Tolerance::Exact)).unwrap_err().to_string()
}

#[test]
fn every_fill_is_described() {
    let tensors = Tensors::new()
        .input("a", f32::shape(1), Uniform(-1.0..1.0))
        .input("b", F16::shape(1), Normal { mean: 0.5, stddev: 2.0 })
        .input("c", u64::shape(1), Integers(0..=u64::MAX))
        .input("d", i8::shape(1), Integers(-128..128))
        .constant("e", i32::shape(1), Bits)
        .inout("f", BF16::shape(1), ByKernel(SOURCE.kernel("ramp")))
        .output("g", f64::shape(1))
        .scratch("h", u8::shape(1));
    let fills: Vec<Fill> = describe(tensors, Some(Tolerance::Exact))
        .unwrap()
        .into_iter()
        .map(|tensor| tensor.fill)
        .collect();
    let expected = [
        Fill::Uniform { low: -1.0, high: 1.0 },
        Fill::Normal { mean: 0.5, stddev: 2.0 },
        Fill::Integers { low: 0, high: 1 << 64 },
        Fill::Integers { low: -128, high: 128 },
        Fill::Bits,
        Fill::Kernel(KernelRef {
            source: 0,
            name: "ramp".into(),
        }),
        Fill::Poison,
        Fill::Poison,
    ];
    assert_eq!(fills, expected);
}

#[test]
fn an_output_has_its_own_comparison_or_the_benchmarks_and_integers_are_exact() {
    let close = Tolerance::Close { rtol: 1e-3, atol: 0.0 };
    let own = Tolerance::Close { rtol: 0.0, atol: 2.0 };
    let tensors = Tensors::new()
        .input("x", f32::shape(1), Uniform(0.0..1.0))
        .output("float", f32::shape(1))
        .output("index", u32::shape(1))
        .output("rough", u32::shape(1))
        .tolerance(0.0, 2.0)
        .output("copy", f32::shape(1))
        .exact();
    let tolerances: Vec<Tolerance> = describe(tensors, Some(close))
        .unwrap()
        .iter()
        .map(|tensor| tensor.tolerance)
        .collect();
    assert_eq!(
        tolerances,
        [Tolerance::Exact, close, Tolerance::Exact, own, Tolerance::Exact]
    );
}

#[test]
fn a_floating_point_output_without_a_tolerance_has_the_default_of_its_type() {
    let tensors = Tensors::new().output("y", f32::shape(1)).output("n", i32::shape(1));
    let described = describe(tensors, None).unwrap();
    assert_eq!(described[0].tolerance, Comparison::OfType { terms: 1 }.of(DType::F32));
    assert_eq!(described[1].tolerance, Tolerance::Exact);
}

#[test]
fn invalid_tensors_are_rejected() {
    let input = |shape, fill: fn(Tensors, Shape) -> Tensors| rejection(fill(Tensors::new(), shape));
    let uniform = |tensors: Tensors, shape| tensors.input("x", shape, Uniform(0.0..1.0));
    assert_eq!(
        input(f32::shape([1 << 62, 2]), uniform),
        "tensor `x`: the shape [4611686018427387904, 2] has more bytes than memory can hold"
    );
    assert_eq!(
        input(f32::shape([-1i32 as usize, 2]), uniform),
        "tensor `x`: the extent -1 of a shape is negative (hint: an axis or a difference below zero was converted to `usize`)"
    );
    // The rest of an empty shape has the same limits.
    assert_eq!(
        input(f32::shape([0, 1 << 62]), uniform),
        "tensor `x`: the shape [0, 4611686018427387904] has more bytes than memory can hold"
    );
    assert!(input(f32::shape([-1i32 as usize, 0]), uniform).contains("the extent -1 of a shape is negative"));
    assert_eq!(
        input(u32::shape(4), uniform),
        "tensor `x`: u32 elements cannot be filled with floating-point numbers: use `Integers(..)` or `Bits`"
    );
    assert_eq!(
        input(F16::shape(4), |tensors, shape| tensors.input(
            "x",
            shape,
            Uniform(0.0..1e6)
        )),
        "tensor `x`: `Uniform(0..1000000)` is empty, or not within the range of F16"
    );
    assert_eq!(
        input(f32::shape(4), |tensors, shape| tensors.input(
            "x",
            shape,
            Uniform(f64::NAN..1.0)
        )),
        "tensor `x`: `Uniform(NaN..1)` is empty, or not within the range of f32"
    );
    assert_eq!(
        input(u8::shape(4), |tensors, shape| tensors.input(
            "x",
            shape,
            Integers(0..257)
        )),
        "tensor `x`: `Integers(0..257)` is not a valid range: u8 holds the integers from 0 to 255 exactly"
    );
    assert_eq!(
        input(f32::shape(4), |tensors, shape| tensors.input(
            "x",
            shape,
            Normal {
                mean: 0.0,
                stddev: -1.0
            }
        )),
        "tensor `x`: `Normal` with mean 0 and standard deviation -1 is not a distribution"
    );
    assert!(input(f32::shape(4), |tensors, shape| tensors.input("x", shape, Bits)).contains("`Bits` is for integers"));
}

#[test]
fn a_tensor_may_be_empty() {
    let empty = Tensors::new()
        .input("x", f32::shape([4, 0]), Uniform(0.0..1.0))
        .output("y", u8::shape(0));
    let described = describe(empty, None).unwrap();
    let elements: Vec<u64> = described.iter().map(Tensor::elements).collect();
    assert_eq!(elements, [0, 0]);
    assert!(!described[1].is_compared());
}

#[test]
fn contradictory_declarations_are_rejected() {
    let two = Tensors::new().output("x", u8::shape(1)).output("x", u8::shape(1));
    assert_eq!(rejection(two), "two tensors are named `x`");
    let early = Tensors::new().input("x", u8::shape(1), Bits).exact();
    assert_eq!(
        rejection(early),
        "`.exact(..)` must follow an `.output(..)` or `.inout(..)`"
    );
    let negative = Tensors::new().output("x", f32::shape(1)).tolerance(-1.0, 0.0);
    assert!(rejection(negative).contains("a tolerance must be finite and not negative"));
    let unfilled = Tensors::new().input("x", u8::shape(1), ByCpu);
    assert_eq!(
        rejection(unfilled),
        "tensor `x` is filled `ByCpu`, but there is no `.generate(..)` to fill it"
    );
    let idle = Tensors::new().input("x", u8::shape(1), Bits).generate(|_, _| ());
    assert_eq!(
        rejection(idle),
        "`.generate(..)` has nothing to fill: no tensor is `ByCpu`"
    );
}

/// Runs the generators of `tensors` on memory for `a` (u32) and `b` (f32).
fn generate(tensors: &Tensors, seed: u64) -> Result<(Vec<u32>, Vec<f32>)> {
    let (mut a, mut b) = (vec![0; 8], vec![0.0; 8]);
    let tensor = |name, elements| CpuTensor {
        name,
        role: Role::Input,
        elements: Some(elements),
    };
    let mut data = CpuData::new(vec![
        tensor("a", Elements::U32(&mut a)),
        tensor("b", Elements::F32(&mut b)),
    ]);
    tensors.run_generators(seed, &mut data)?;
    Ok((a, b))
}

#[test]
fn a_generator_fills_tensors_that_depend_on_each_other_from_the_seed() {
    let tensors = Tensors::new().generate(|rng: &mut Rng, data: &mut CpuData| {
        let (a, b) = (data.slice::<u32>("a"), data.slice::<f32>("b"));
        for (a, b) in a.iter_mut().zip(b) {
            *a = rng.next_u32() % 100;
            *b = *a as f32;
        }
    });
    let (a, b) = generate(&tensors, 1).unwrap();
    assert!(a.iter().zip(&b).all(|(&a, &b)| a as f32 == b));
    assert_eq!(generate(&tensors, 1).unwrap(), (a.clone(), b));
    assert_ne!(generate(&tensors, 2).unwrap().0, a);
}

#[test]
fn generators_run_in_order_and_see_earlier_writes() {
    let tensors = Tensors::new()
        .generate(|_: &mut Rng, data: &mut CpuData| data.slice::<u32>("a").fill(3))
        .generate(|_: &mut Rng, data: &mut CpuData| -> Result<()> {
            let three = data.slice::<u32>("a")[0] as f32;
            data.slice::<f32>("b").fill(three);
            Ok(())
        });
    assert_eq!(generate(&tensors, 0).unwrap(), (vec![3; 8], vec![3.0; 8]));
}

#[test]
fn a_tensor_that_no_generator_fills_is_named() {
    let tensors = Tensors::new().generate(|_: &mut Rng, data: &mut CpuData| data.slice::<u32>("a").fill(3));
    assert_eq!(
        generate(&tensors, 0).unwrap_err().to_string(),
        "no `.generate(..)` fills the tensor `b`"
    );
}

#[test]
fn cpu_data_rejects_other_types_unknown_names_and_taking_a_tensor_twice() {
    let mut a = [0u32; 2];
    let elements = Some(Elements::U32(&mut a));
    let mut data = CpuData::new(vec![CpuTensor {
        name: "a",
        role: Role::Input,
        elements,
    }]);
    assert_eq!(
        data.take::<u32>("c").unwrap_err().to_string(),
        "no tensor is called `c`: the tensors are `a`"
    );
    assert_eq!(
        data.reborrow().take::<f32>("a").unwrap_err().to_string(),
        "the tensor `a` holds u32, not f32"
    );
    assert_eq!(data.take::<u32>("a").unwrap().len(), 2);
    assert_eq!(
        data.take::<u32>("a").unwrap_err().to_string(),
        "the tensor `a` is already taken"
    );
}

#[test]
fn every_element_type_has_its_dtype() {
    let sizes = [u8::DTYPE, i16::DTYPE, F16::DTYPE, BF16::DTYPE, f32::DTYPE, u64::DTYPE].map(DType::size);
    assert_eq!(sizes, [1, 2, 2, 2, 4, 8]);
    assert_eq!(BF16::DTYPE.to_string(), "BF16");
}
