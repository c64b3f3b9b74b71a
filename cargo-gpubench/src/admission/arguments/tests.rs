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
__global__ void counted(float *x, int n, size_t bytes) {}
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
    buffer_of(DType::F32)
}

fn buffer_of(element: DType) -> (Argument, ArgumentType) {
    let pointer = Argument::Pointer {
        buffer: BufferId::Tensor(0),
        offset: 0,
    };
    (pointer, argument(&format!("In<{element}>"), &[("", 0, element)]).1)
}

fn gain(fields: [(&str, DType); 3]) -> (Argument, ArgumentType) {
    let [a, b, c] = fields;
    argument("Gain", &[(a.0, 0, a.1), (b.0, 4, b.1), (c.0, 8, c.1)])
}

fn result(kernel: &str, given: Vec<(Argument, ArgumentType)>) -> String {
    result_of(KERNELS, &[], kernel, given)
}

fn result_of(text: &str, options: &[&str], kernel: &str, given: Vec<(Argument, ArgumentType)>) -> String {
    let catalog = Catalog {
        benchmarks: Vec::new(),
        problems: Vec::new(),
        sources: vec![Source {
            name: "a.cu".to_owned(),
            form: SourceForm::Cuda,
            files: vec![SourceFile {
                path: "a.cu".to_owned(),
                contents: text.into(),
            }],
            options: options.iter().map(|&option| option.to_owned()).collect(),
        }],
    };
    let (arguments, types) = given.into_iter().unzip();
    let launch = Launch {
        kernel: KernelRef {
            source: 0,
            name: kernel.to_owned(),
        },
        grid: [1; 3],
        block: [8, 4, 2],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments,
        types,
        place: "src/lib.rs:7".to_owned(),
    };
    let fitted = Declaration::of(&catalog, &launch.kernel).check(&launch);
    fitted.map_or_else(|message| message, |()| "fits".to_owned())
}

#[test]
fn a_block_with_more_threads_than_the_launch_bounds_is_refused() {
    let of = |bounds| {
        result_of(
            &format!("__global__ void __launch_bounds__({bounds}) k() {{}}"),
            &[],
            "k",
            Vec::new(),
        )
    };
    assert_eq!(of("64, 2"), "fits");
    assert_eq!(
        of("63"),
        "a block has 64 threads, more than the `__launch_bounds__(63)` of `k` allows"
    );
}

#[test]
fn an_argument_of_the_wrong_type_is_reported_with_its_position_and_declaration() {
    use DType::{F32, F64, I32, U32, U64};
    let n = || number("usize", U64);
    let messages = [
        result("scale", vec![buffer(), buffer(), number("i32", I32), n()]),
        result("scale", vec![buffer(), buffer(), number("f64", F64), n()]),
        result("scale", vec![buffer(), buffer(), buffer(), n()]),
        result("scale", vec![buffer(), n(), number("f32", F32), n()]),
        result(
            "scale",
            vec![buffer(), buffer(), number("f32", F32), number("f64", F64)],
        ),
        result(
            "blur",
            vec![buffer(), gain([("width", U32), ("gain", F32), ("height", U32)])],
        ),
        result(
            "blur",
            vec![buffer(), gain([("gain", F32), ("height", U32), ("width", U32)])],
        ),
        result(
            "any<float>",
            vec![buffer(), number("f32", F32), number("BF16", DType::BF16)],
        ),
        result("counted", vec![buffer(), n(), number("i32", I32)]),
        result("counted", vec![buffer(), number("i32", I32), number("i32", I32)]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_wrong_number_of_arguments_names_the_missing_or_surplus_one() {
    use DType::{F32, U64};
    let (factor, n) = (|| number("f32", F32), || number("usize", U64));
    let messages = [
        result("scale", vec![buffer(), buffer(), factor()]),
        result("scale", vec![buffer(), buffer(), n()]),
        result("scale", vec![buffer(), buffer(), factor(), factor(), n()]),
        result("scale", vec![buffer(), n()]),
        result("address", vec![]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn plausible_arguments_are_accepted() {
    use DType::{F32, I32, U16, U32, U64};
    let null = (Argument::Value(vec![0; 8]), argument("u64", &[("", 0, U64)]).1);
    let fitting = [
        result(
            "scale",
            vec![buffer(), null, number("f32", F32), number("i64", DType::I64)],
        ),
        result("any<int>", vec![buffer(), number("i32", I32), number("u16", U16)]),
        result("aliased", vec![buffer(), number("i32", I32)]),
        // A macro that expands to several parameters.
        result("made", vec![buffer(), number("i32", I32), number("i32", I32)]),
        result("address", vec![buffer()]),
        result("blur", vec![buffer(), gain([("a", F32), ("b", U32), ("c", I32)])]),
        result("nowhere", vec![buffer()]),
    ];
    assert_eq!(fitting, ["fits"; 7]);
}

/// Returns the error for one argument of a kernel with one parameter.
fn result_of_one(before: &str, parameter: &str, given: (Argument, ArgumentType)) -> String {
    let text = format!("{before}\n__global__ void k({parameter}) {{}}");
    result_of(&text, &["-Dreal=float", "-D", "number=int"], "k", vec![given])
}

#[test]
fn a_buffer_of_wider_or_narrower_floats_is_refused() {
    use DType::{BF16, Complex32, F8E4M3, F8E5M2, F16, F32, F64};
    let refused = [
        ("float *x", F64),
        ("const float * __restrict__ x", F16),
        ("double *", F32),
        ("float x[]", F64),
        ("float const x[4][4]", F64),
        ("__half *x", F32),
        ("const __nv_bfloat16 *x", F64),
        ("half *const x", F32),
        ("const __nv_fp8_e4m3 *x", F16),
        ("float *x", F8E5M2),
        ("double *x", Complex32),
        ("__half *x", Complex32),
    ];
    let messages = refused.map(|(parameter, element)| result_of_one("", parameter, buffer_of(element)));
    insta::assert_snapshot!(messages.join("\n"));
    for (parameter, element) in [
        ("float *x", F32),
        ("double *x", F64),
        ("half *x", BF16),
        ("__nv_bfloat16 *x", F16),
        ("__nv_fp8_e4m3 *x", F8E4M3),
        ("__nv_fp8_e5m2 *x", F8E5M2),
        ("float *x", Complex32),
        ("float2 *x", Complex32),
        ("const cuComplex *x", Complex32),
    ] {
        assert_eq!(result_of_one("", parameter, buffer_of(element)), "fits", "{parameter}");
    }
}

#[test]
fn a_template_and_an_alias_are_compared_as_what_they_stand_for() {
    use DType::{F16, F32, F64};
    let given = |factor| vec![buffer(), number("f32", factor), number("F16", F16)];
    assert_eq!(result("any<float>", given(F32)), "fits");
    let message = result("any<double>", given(F64));
    assert!(message.contains("argument 1"), "{message}");
    let message = result("any<float>", given(F64));
    assert!(message.contains("argument 2"), "{message}");
    let alias = "using real = float;\n__global__ void aliased(real *x) {}";
    assert_eq!(result_of(alias, &[], "aliased", vec![buffer()]), "fits");
    let message = result_of(alias, &[], "aliased", vec![buffer_of(F64)]);
    assert!(message.contains("argument 1"), "{message}");
}

/// Every way in which published kernels take elements of a type, or bits of any type.
#[test]
fn a_pointer_is_accepted_wherever_it_may_fit() {
    use DType::{BF16, Complex32, F8E4M3, F8E5M2, F16, F32, F64, I32, I64, U8, U16, U32, U64};
    let parameters = [
        "void *x",
        "const void *__restrict__ x",
        "char *x",
        "const unsigned char *x",
        "std::byte *x",
        "unsigned *x",
        "int *x",
        "unsigned long long *x",
        "uint16_t *x",
        "bool *x",
        "size_t *x",
        "float4 *x",
        "const half2 *x",
        "std::complex<float> *x",
        "thrust::complex<double> *x",
        "cuFloatComplex *x",
        "__nv_fp8_storage_t *x",
        "__nv_fp8x4_e4m3 *x",
        "struct Pixel *x",
        "Pixel *x",
        "enum Mode *x",
        "Mode *x",
        "T *x",
        "const typename T::element *x",
        "float **x",
        "float *const *x",
        "const float *const *__restrict__ x",
        "float *x[]",
        "float (*x)[4]",
        "float (&x)[4]",
        "real *x",
        "number x",
        "Vec<float> x",
        "long double *x",
        "long double",
        "unsigned long long x",
        "uintptr_t x",
        "Address x",
        "...",
        "Ts... xs",
        "Ts *... xs",
    ];
    let before =
        "struct Pixel { unsigned char r, g, b, a; };\nstruct Address { unsigned long long bits; };\nenum Mode { A };\n";
    for parameter in parameters {
        for element in [
            U8, U16, U32, U64, I32, I64, F16, BF16, F32, F64, F8E4M3, F8E5M2, Complex32,
        ] {
            let result = result_of_one(before, parameter, buffer_of(element));
            assert_eq!(result, "fits", "{parameter} given {element}");
        }
    }
    // Bits of floats, as integers of any size.
    for parameter in [
        "float *x",
        "double *x",
        "half *x",
        "__nv_bfloat16 *x",
        "__nv_fp8_e4m3 *x",
        "float x[]",
    ] {
        for element in [U8, U16, U32, U64, I32, I64] {
            assert_eq!(result_of_one("", parameter, buffer_of(element)), "fits", "{parameter}");
        }
    }
}

#[test]
fn a_number_is_accepted_wherever_it_may_fit() {
    use DType::{F16, F32, F64, I32, I64, U8, U16, U32, U64};
    let fitting = [
        ("", "[[maybe_unused]] int n", number("i32", I32)),
        ("", "int n [[maybe_unused]]", number("i32", I32)),
        ("", "__attribute__((unused)) float f", number("f32", F32)),
        ("", "enum Mode m", number("i32", I32)),
        ("", "const long n", number("i64", I64)),
        ("", "long int n", number("usize", U64)),
        ("", "size_t n", number("usize", U64)),
        ("", "std::uint32_t n", number("i32", I32)),
        ("", "::size_t n", number("usize", U64)),
        ("", "bool b", number("bool", U8)),
        ("", "half h", number("u16", U16)),
        ("", "__nv_fp8_e4m3 h", number("u8", U8)),
        ("", "half_float::half h", number("f32", F32)),
        ("", "real r", number("f64", F64)),
        ("", "number n", number("f32", F32)),
        ("#define float double\n", "float f", number("f64", F64)),
        (
            "#define WIDE double\n#define half float\n",
            "half h",
            number("f32", F32),
        ),
        ("#define Wide(x) x\n", "Wide(float) f", number("i32", I32)),
        ("typedef float half;\n", "half h", number("f32", F32)),
        ("using uint = float;\n", "const uint u", number("f32", F32)),
        ("struct half { float wide; };\n", "half h", number("f32", F32)),
        ("struct One { unsigned n; };\n", "One one", number("u32", U32)),
        (
            "typedef double uint;\nstruct S { uint n; };\n",
            "S s",
            argument("S", &[("n", 0, F64)]),
        ),
        (
            "#define int float\nstruct S { int n; };\n",
            "S s",
            argument("S", &[("n", 0, F32)]),
        ),
        ("", "half h", number("F16", F16)),
    ];
    for (before, parameter, given) in fitting {
        assert_eq!(result_of_one(before, parameter, given), "fits", "{before}{parameter}");
    }
    let mut halves = argument("[i32; 2]", &[("", 0, I32)]);
    halves.1.fields[0].count = 2;
    assert_eq!(result_of_one("", "double d", halves), "fits");
    let template = "template <typename half> __global__ void k(half *x, half h) {}";
    let result = result_of(template, &[], "k<float>", vec![buffer(), number("f32", F32)]);
    assert_eq!(result, "fits");
}

/// Parameters that may expand to none or several.
#[test]
fn an_undecidable_number_of_arguments_is_accepted() {
    let kernels = [
        "template <typename... Ts> __global__ void k(float *x, Ts... rest) {}",
        "template <typename... Ts> __global__ void k(float *x, const Ts *...rest) {}",
        "#define SIZES int rows,\n__global__ void k(float *x, SIZES int columns) {}",
        "#define SIZES , int rows, int columns\n__global__ void k(float *x SIZES) {}",
        "#define PAIR(T) T a, T b\n__global__ void k(float *x, PAIR(int)) {}",
    ];
    let count = || number("i32", DType::I32);
    for kernel in kernels {
        let result = result_of(kernel, &[], "k", vec![buffer(), count(), count()]);
        assert_eq!(result, "fits", "{kernel}");
    }
    let by_an_option = "__global__ void k(float *x, SIZES int columns) {}";
    let given = vec![buffer(), count(), count()];
    assert_eq!(result_of(by_an_option, &["-DSIZES=int rows,"], "k", given), "fits");
}
