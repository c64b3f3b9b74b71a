//! The functions that `cuda_source!` makes of a source's kernels. A kernel whose declaration is not
//! understood gets none.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use gpubench_declarations::{Declarations, DeclaredKernel, Parameter, Texts};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, Visibility};

use crate::kernel_parameters::{Taken, names_of, rust_name};
use crate::source_files::File;

/// A static of `cuda_source!`.
pub(crate) struct Source<'a> {
    pub(crate) attributes: &'a [Attribute],
    pub(crate) visibility: &'a Visibility,
    pub(crate) name: &'a Ident,
    /// As in the macro call.
    pub(crate) path: &'a str,
    pub(crate) options: &'a [String],
    /// The path of the library.
    pub(crate) library: &'a TokenStream,
}

impl Source<'_> {
    /// Returns a type with the name of the static, whose functions launch the kernels. In
    /// Rust, a type and a static may share a name.
    pub(crate) fn kernel_functions(&self, files: &[File]) -> TokenStream {
        let Source { visibility, name, .. } = self;
        let files = files.iter().map(|file| (&*file.inside, Cow::Borrowed(&*file.text)));
        let texts = Texts::of(files);
        let declarations = texts.declarations(definitions_in(self.options));
        let kernels = readable(&declarations);
        let functions = kernels
            .iter()
            .map(|(kernel, parameters)| self.function(kernel, parameters));
        let conditions = self.attributes.iter();
        let conditions: Vec<&Attribute> = conditions.filter(|one| one.path().is_ident("cfg")).collect();
        let about = about_all(self.path, &declarations.kernels(), &kernels);
        quote! {
            #(#conditions)*
            #[doc = #about]
            #[allow(dead_code, missing_debug_implementations, non_camel_case_types, clippy::upper_case_acronyms)]
            #visibility struct #name {}

            #(#conditions)*
            #[allow(dead_code, non_snake_case, clippy::too_many_arguments)]
            impl #name {
                #(#functions)*
            }
        }
    }

    fn function(&self, kernel: &DeclaredKernel, parameters: &[Parameter]) -> TokenStream {
        let Source {
            visibility,
            name,
            library,
            ..
        } = self;
        // Hygiene: the kernel may have parameters with these names.
        let launcher = Ident::new("launcher", Span::mixed_site());
        let grid = Ident::new("grid", Span::mixed_site());
        let names = names_of(parameters, &name.to_string());
        let taken: Vec<Taken> = parameters.iter().map(Taken::of).collect();
        let types = taken.iter().map(|taken| taken.rust_type(library));
        let arguments = names.iter().zip(&taken).zip(parameters);
        let arguments = arguments.map(|((name, taken), parameter)| taken.argument(name, &parameter.written, library));
        let function = rust_name(last_name(&kernel.name));
        let (path, about) = (&kernel.name, documentation(kernel, parameters));
        quote! {
            #[doc = #about]
            #[track_caller]
            #visibility fn #function(
                #launcher: &mut #library::Launcher,
                #grid: #library::Grid,
                #(#names: #types),*
            ) -> #library::Result<()> {
                #library::__private::launch(
                    #launcher,
                    (&#name, #path),
                    #grid,
                    #library::__private::Vec::from([#(#arguments),*]),
                )
            }
        }
    }
}

/// Returns the kernels whose declarations are understood, with their parameters.
fn readable(declarations: &Declarations<'_>) -> Vec<(DeclaredKernel, Vec<Parameter>)> {
    let kernels = declarations.kernels();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for kernel in &kernels {
        *count.entry(last_name(&kernel.name).to_owned()).or_default() += 1;
    }
    let is_clear = |kernel: &DeclaredKernel| {
        let name = last_name(&kernel.name);
        !kernel.is_template && count[name] == 1 && !declarations.redefine(name) && rust_name(name).is_some()
    };
    let clear = kernels.into_iter().filter(is_clear);
    let read = clear.filter_map(|kernel| {
        let parameters = declarations.parameters(&kernel.name)?;
        parameters.iter().all(Parameter::is_one).then_some((kernel, parameters))
    });
    read.collect()
}

fn last_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Returns the documentation of the functions, with the kernels that have none.
fn about_all(path: &str, kernels: &[DeclaredKernel], readable: &[(DeclaredKernel, Vec<Parameter>)]) -> String {
    let readable: HashSet<&str> = readable.iter().map(|(kernel, _)| &*kernel.name).collect();
    let others = kernels.iter().filter(|kernel| !readable.contains(&*kernel.name));
    let listed: String = others
        .map(|DeclaredKernel { name, file, line, .. }| format!("\n- `{name}`, at `{file}:{line}`"))
        .collect();
    match &*listed {
        "" => format!("Launches the kernels of `{path}`."),
        listed => format!(
            "Launches the kernels of `{path}`.\n\n`Launcher::launch` launches those without a function by their names:\n{listed}"
        ),
    }
}

fn documentation(kernel: &DeclaredKernel, parameters: &[Parameter]) -> String {
    let DeclaredKernel { name, file, line, .. } = kernel;
    let written: Vec<&str> = parameters.iter().map(|parameter| &*parameter.written).collect();
    let written = match &written[..] {
        [] => String::new(),
        written => format!("\n    {}\n", written.join(",\n    ")),
    };
    format!(
        "Launches the kernel at `{file}:{line}`:\n\n```cpp\n__global__ void {name}({written});\n```\n\n# Errors\n\
         As of `Launcher::launch`, or if an integer does not fit."
    )
}

/// Returns what compiler options define: `NAME` or `NAME=value`.
fn definitions_in(options: &[String]) -> Vec<&str> {
    let mut definitions = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let names = ["--define-macro", "-D"];
        match names.iter().find_map(|name| option.strip_prefix(name)) {
            Some("") => definitions.extend(rest.next().map(String::as_str)),
            Some(attached) => definitions.push(attached.trim_start_matches('=')),
            None => {}
        }
    }
    definitions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the signatures of the functions of a file, a line each, without what all have.
    fn signatures(text: &str, options: &[&str]) -> String {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let source = Source {
            attributes: &[],
            visibility: &Visibility::Inherited,
            name: &Ident::new("KERNELS", Span::call_site()),
            path: "k.cu",
            options: &options,
            library: &quote!(gb),
        };
        let file = File {
            inside: "src/k.cu".to_owned(),
            absolute: String::new(),
            text: text.to_owned(),
        };
        let output = source.kernel_functions(&[file]).to_string();
        let functions = output.split("fn ").skip(1);
        let signatures = functions.filter_map(|function| {
            let (name, rest) = function.split_once("(launcher : & mut gb :: Launcher , grid : gb :: Grid ,")?;
            let (parameters, _) = rest.split_once(") -> gb :: Result < () >")?;
            let parameters = parameters.replace(":: core :: primitive :: ", "").replace("gb :: ", "");
            let parameters = parameters
                .replace(" < ", "<")
                .replace(" >", ">")
                .replace(" : ", ": ")
                .replace(" ,", ",");
            Some(format!("{}({})\n", name.trim(), parameters.trim()))
        });
        signatures.collect()
    }

    #[test]
    fn declarations_of_published_kernels_have_signatures() {
        let text = r#"
            template <class T> struct SharedMemory { };
            struct soft_max_params { int64_t nheads; float scale; };
            typedef unsigned int uint;
            #define RESTRICT __restrict__
            extern "C" __global__ void rms_norm(const float *__restrict__ x, float* RESTRICT y, int rows, int cols);
            __global__ void __launch_bounds__(256, 2) sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {}
            static __global__ void reduce6(int *g_idata, int *g_odata, unsigned int n) {}
            __global__ void vectorAdd(const float4 *A, float4 *C, size_t numElements) {}
            __global__ void soft_max(const float * x, const __half * mask, float * dst, const soft_max_params p) {}
            __global__ void quantize_q8_1(const void * __restrict__ vx, void * __restrict__ vy, const int64_t ne00) {}
            __global__ void d_bisect(float *d, double const *e, uint n, unsigned long long *count, bool verbose) {}
            __global__ void bitonic(uint *d_DstKey, uint *d_DstVal, uint arrayLength, uint dir) {}
            __global__ void gray(const uchar3 *in, unsigned char *out, char c, signed char s, unsigned short u) {}
            __global__ void bf16(const __nv_bfloat16 *x, nv_bfloat16 *y, __half h, __nv_bfloat16 b) {}
            __global__ void tma(const __grid_constant__ CUtensorMap map, float *__restrict__ out) {}
            __global__ void pointers(float **rows, const float *const *columns, uintptr_t address) {}
            __global__ void arrays(const int x[], float y[4], bool *flags, const char *text) {}
            __global__ void complex(const thrust::complex<float> *x, cuda::std::array<float, 4> a) {}
            __global__ void rng(curandState *state, const curandState *other, uint64_t seed, long offset, short s) {}
            __global__ void keywords(int type, int match, int self, int crate, float3 move) {}
            __global__ void unnamed(int, const float *, float4 v = make_float4(0), int n = 3) {}
            __global__ void nothing(void) {}
            namespace image { namespace { __global__ void blur(float *x) {} } }
        "#;
        let expected = "\
rms_norm(x: impl ConstPointer<f32>, y: impl MutPointer<f32>, rows: impl IntegerArg<i32>, cols: impl IntegerArg<i32>)
sgemm(m: impl IntegerArg<i32>, n: impl IntegerArg<i32>, k: impl IntegerArg<i32>, alpha: f32, a: impl ConstPointer<f32>, b: impl ConstPointer<f32>, beta: f32, c: impl MutPointer<f32>)
reduce6(g_idata: impl MutPointer<i32>, g_odata: impl MutPointer<i32>, n: impl IntegerArg<u32>)
vectorAdd(a: impl ConstPointer<AnyElement>, c: impl MutPointer<AnyElement>, numElements: impl IntegerArg<u64>)
soft_max(x: impl ConstPointer<f32>, mask: impl ConstPointer<F16>, dst: impl MutPointer<f32>, p: impl KernelArg)
quantize_q8_1(vx: impl ConstPointer<AnyElement>, vy: impl MutPointer<AnyElement>, ne00: impl IntegerArg<i64>)
d_bisect(d: impl MutPointer<f32>, e: impl ConstPointer<f64>, n: impl IntegerArg<u32>, count: impl MutPointer<u64>, verbose: bool)
bitonic(d_DstKey: impl MutPointer<u32>, d_DstVal: impl MutPointer<u32>, arrayLength: impl IntegerArg<u32>, dir: impl IntegerArg<u32>)
gray(r#in: impl ConstPointer<AnyElement>, out: impl MutPointer<u8>, c: impl IntegerArg<Byte>, s: impl IntegerArg<i8>, u: impl IntegerArg<u16>)
bf16(x: impl ConstPointer<BF16>, y: impl MutPointer<BF16>, h: F16, b: BF16)
tma(map: TensorMap, out: impl MutPointer<f32>)
pointers(rows: impl KernelArg, columns: impl KernelArg, address: impl KernelArg)
arrays(x: impl ConstPointer<i32>, y: impl MutPointer<f32>, flags: impl MutPointer<Byte>, text: impl ConstPointer<Byte>)
complex(x: impl ConstPointer<AnyElement>, a: impl KernelArg)
rng(state: impl MutPointer<AnyElement>, other: impl ConstPointer<AnyElement>, seed: impl IntegerArg<u64>, offset: impl IntegerArg<i64>, s: impl IntegerArg<i16>)
keywords(r#type: impl IntegerArg<i32>, r#match: impl IntegerArg<i32>, self_: impl IntegerArg<i32>, crate_: impl IntegerArg<i32>, r#move: impl KernelArg)
unnamed(arg0: impl IntegerArg<i32>, arg1: impl ConstPointer<f32>, v: impl KernelArg, n: impl IntegerArg<i32>)
nothing()
blur(x: impl MutPointer<f32>)
";
        assert_eq!(signatures(text, &[]), expected);
    }

    #[test]
    fn kernels_that_are_not_understood_have_no_function() {
        let text = r#"
            template <typename T, int N> __global__ void of_template(T *x) {}
            #define DEFINE(NAME) __global__ void NAME(float *x) {}
            DEFINE(by_macro)
            #define NAMED_BY_MACRO real_name
            __global__ void NAMED_BY_MACRO(float *x) {}
            #define PARAMETERS float *x, int n
            __global__ void with_macro(PARAMETERS) {}
            #if A
            __global__ void by_branch(float *x) {}
            #else
            __global__ void by_branch(double *x) {}
            #endif
            __global__ void with_branch(float *x
            #if A
                , int n
            #endif
            ) {}
            namespace a { __global__ void twice(float *x) {} }
            namespace b { __global__ void twice(float *x) {} }
            __global__ void self(float *x) {}
            __global__ void by_option(float *x) {}
            // __global__ void in_comment(float *x) {}
            const char *text = "__global__ void in_string(float *x) {}";
            __global__ void with_function(void (*function)(int), int n) {}
            __global__ void unfinished(float *x
        "#;
        assert_eq!(signatures(text, &["-Dby_option=other"]), "");
    }

    #[test]
    fn prototypes_may_have_no_names_and_types_may_be_macros() {
        let text =
            "__global__ void k(const float *, REAL *, int);\n__global__ void k(const float *x, REAL *y, int n) {}";
        let defined = "k(x: impl ConstPointer<f32>, y: impl KernelArg, n: impl IntegerArg<i32>)\n";
        for options in [
            &["-DREAL=float"][..],
            &["-D", "REAL=float"],
            &["--define-macro=REAL"],
            &["--define-macro", "REAL"],
        ] {
            assert_eq!(signatures(text, options), defined, "{options:?}");
        }
    }

    #[test]
    fn documentation_has_the_declaration_and_its_place() {
        let parameters = |text: &str| {
            let texts = Texts::of([("src/k.cu", Cow::Borrowed(text))]);
            let found = readable(&texts.declarations([]));
            documentation(&found[0].0, &found[0].1)
        };
        assert_eq!(
            parameters("\nextern \"C\" __global__ void k(const  float* x, int n) {}"),
            "Launches the kernel at `src/k.cu:2`:\n\n```cpp\n__global__ void k(\n    const float *x,\n    int n\n);\n```\n\n\
             # Errors\nAs of `Launcher::launch`, or if an integer does not fit."
        );
        assert!(parameters("__global__ void k();").contains("void k();"));
    }

    #[test]
    fn documentation_names_the_kernels_without_a_function() {
        let about = |text: &str| {
            let texts = Texts::of([("src/k.cu", Cow::Borrowed(text))]);
            let declarations = texts.declarations([]);
            about_all("k.cu", &declarations.kernels(), &readable(&declarations))
        };
        let k = "__global__ void k(int n);\n";
        assert_eq!(about(k), "Launches the kernels of `k.cu`.");
        assert_eq!(
            about(&format!("{k}template <int N> __global__ void sum() {{}}")),
            "Launches the kernels of `k.cu`.\n\n`Launcher::launch` launches those without a function by their names:\n\n\
             - `sum`, at `src/k.cu:2`"
        );
    }
}
