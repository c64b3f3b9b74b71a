use gpubench::catalog::{DType, Source, SourceFile, SourceForm};
use gpubench::plan::{BufferId, KernelRef};

use super::*;

const KERNELS: &str = "
struct Gain { float gain; unsigned int width, height; };
__global__ void scale(const float *x, float *y, float factor, size_t n) {}
__global__ void blur(const float *x, Gain gain) {}
template <typename T> __global__ void any(T *x, T factor, __half h) {}
__global__ void aliased(float *x, real factor) {}
__global__ void made(COMMON, float factor) {}
__global__ void address(unsigned long long x) {}
";

fn argument(name: &str, fields: &[(&str, u32, DType)]) -> (Argument, ArgumentType) {
    let fields = fields.iter().map(|(name, offset, dtype)| FieldType {
        name: (*name).to_owned(),
        offset: *offset,
        dtype: *dtype,
        count: 1,
    });
    let ty = ArgumentType {
        name: name.to_owned(),
        fields: fields.collect(),
    };
    let bytes = match ty.fields.as_slice() {
        [number] => number.dtype.size(),
        fields => 4 * fields.len(),
    };
    (Argument::Value(vec![1; bytes]), ty)
}

fn number(name: &str, dtype: DType) -> (Argument, ArgumentType) {
    argument(name, &[("", 0, dtype)])
}

fn buffer() -> (Argument, ArgumentType) {
    let pointer = Argument::Pointer {
        buffer: BufferId::Tensor(0),
        offset: 0,
    };
    (pointer, argument("In<f32>", &[]).1)
}

fn gain(fields: [(&str, DType); 3]) -> (Argument, ArgumentType) {
    let [a, b, c] = fields;
    argument("Gain", &[(a.0, 0, a.1), (b.0, 4, b.1), (c.0, 8, c.1)])
}

fn said(kernel: &str, given: Vec<(Argument, ArgumentType)>) -> String {
    let catalog = Catalog {
        benchmarks: Vec::new(),
        sources: vec![Source {
            name: "a.cu".to_owned(),
            form: SourceForm::Cuda,
            files: vec![SourceFile {
                path: "a.cu".to_owned(),
                contents: KERNELS.into(),
            }],
            options: Vec::new(),
        }],
    };
    let (arguments, types) = given.into_iter().unzip();
    let launch = Launch {
        kernel: KernelRef {
            source: 0,
            name: kernel.to_owned(),
        },
        grid: [1; 3],
        block: [1; 3],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments,
        types,
        place: "src/lib.rs:7".to_owned(),
    };
    let parameters = parameters_of(&catalog, &launch.kernel);
    let fitted = parameters.map_or(Ok(()), |parameters| fit(&launch, &parameters));
    fitted.map_or_else(|message| message, |()| "fits".to_owned())
}

#[test]
fn an_argument_of_another_kind_is_named_with_its_place_and_the_declaration() {
    use DType::{F32, F64, I32, U32, U64};
    let n = || number("usize", U64);
    let messages = [
        said("scale", vec![buffer(), buffer(), number("i32", I32), n()]),
        said("scale", vec![buffer(), buffer(), number("f64", F64), n()]),
        said("scale", vec![buffer(), buffer(), buffer(), n()]),
        said("scale", vec![buffer(), n(), number("f32", F32), n()]),
        said(
            "scale",
            vec![buffer(), buffer(), number("f32", F32), number("f64", F64)],
        ),
        said(
            "blur",
            vec![buffer(), gain([("width", U32), ("gain", F32), ("height", U32)])],
        ),
        said(
            "blur",
            vec![buffer(), gain([("gain", F32), ("height", U32), ("width", U32)])],
        ),
        said(
            "any<float>",
            vec![buffer(), number("f32", F32), number("BF16", DType::BF16)],
        ),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_launch_with_too_few_or_too_many_arguments_says_which() {
    use DType::{F32, U64};
    let (factor, n) = (|| number("f32", F32), || number("usize", U64));
    let messages = [
        said("scale", vec![buffer(), buffer(), factor()]),
        said("scale", vec![buffer(), buffer(), n()]),
        said("scale", vec![buffer(), buffer(), factor(), factor(), n()]),
        said("scale", vec![buffer(), n()]),
        said("address", vec![]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn what_may_be_meant_is_not_refused() {
    use DType::{F32, I32, U16, U32, U64};
    let null = (Argument::Value(vec![0; 8]), argument("u64", &[("", 0, U64)]).1);
    let fitting = [
        said(
            "scale",
            vec![buffer(), null, number("f32", F32), number("i64", DType::I64)],
        ),
        said("any<int>", vec![buffer(), number("i32", I32), number("u16", U16)]),
        said("aliased", vec![buffer(), number("i32", I32)]),
        // A macro that stands for several parameters.
        said("made", vec![buffer(), number("i32", I32), number("i32", I32)]),
        said("address", vec![buffer()]),
        said("blur", vec![buffer(), gain([("a", F32), ("b", U32), ("c", I32)])]),
        said("nowhere", vec![buffer()]),
    ];
    assert_eq!(fitting, ["fits"; 7]);
}
