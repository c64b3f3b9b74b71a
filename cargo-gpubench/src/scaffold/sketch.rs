//! A benchmark for each kernel of a source: what its declaration tells, and a `todo` for the rest.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use gpubench_declarations::{Access, Declarations, DeclaredKernel, Number, Parameter, ParameterType};

use super::names::{self, raw, unraw};

/// The benchmarks of a file as Rust, with what cannot be a benchmark yet.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    pub(super) text: String,
    /// How many benchmarks there are.
    pub(super) benchmarks: usize,
    /// Kernels that are left out, each with the reason.
    pub(super) left_out: Vec<String>,
}

/// Sketches a benchmark for each kernel that `source`, the name of a `cuda_source!`, declares.
/// `taken` are names of other benchmarks.
pub(super) fn sketch(source: &str, declarations: &Declarations<'_>, taken: &mut HashSet<String>) -> Sketch {
    let mut sketch = Sketch::default();
    let kernels = declarations.kernels();
    let mut of_name: HashMap<&str, usize> = HashMap::new();
    for kernel in &kernels {
        *of_name.entry(last_name(&kernel.name)).or_default() += 1;
    }
    for kernel in &kernels {
        let name = last_name(&kernel.name);
        let is_alone = of_name[name] == 1;
        let is_clear = is_alone && !declarations.redefine(name);
        let called = match names::kernel_function(name).filter(|_| is_clear) {
            Some(function) => Called::Function(format!("{source}::{function}")),
            None => Called::Kernel(format!("{source}.kernel({:?})", kernel.name)),
        };
        match KernelSketch::of(kernel, declarations) {
            Ok(of_kernel) => {
                let name = names::benchmark(name, taken);
                let _ = write!(sketch.text, "\n{}", of_kernel.text(&called, &name));
                sketch.benchmarks += 1;
            }
            Err(reason) => sketch.left_out.push(format!(
                "`{}` in {}:{}: {reason}",
                kernel.name, kernel.file, kernel.line
            )),
        }
    }
    sketch
}

/// Returns the name without its namespaces.
fn last_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// What a launch names.
enum Called {
    /// A function, which takes any integer for any other.
    Function(String),
    /// A kernel, whose arguments have exactly its types.
    Kernel(String),
}

/// What is known of a kernel.
struct KernelSketch {
    /// The kernel's name, with its namespaces.
    path: String,
    place: String,
    parameters: Vec<Argument>,
}

/// A parameter of the kernel, as one of the benchmark.
struct Argument {
    name: String,
    ty: &'static str,
    /// The kernel's own type, as one of Rust.
    kernel_type: &'static str,
    meaning: Meaning,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Axis,
    Read,
    Written,
}

impl KernelSketch {
    /// # Errors
    /// The declaration does not tell enough: the reason.
    fn of(kernel: &DeclaredKernel, declarations: &Declarations<'_>) -> Result<KernelSketch, &'static str> {
        if kernel.is_template {
            return Err("it is a template: name an instance with `kernel(\"name<..>\")`");
        }
        let parameters = declarations
            .parameters(&kernel.name)
            .ok_or("its declarations differ, or it has none that can be read")?;
        let mut taken = HashSet::new();
        let parameters = parameters
            .iter()
            .enumerate()
            .map(|(position, parameter)| Argument::of(parameter, position, &mut taken))
            .collect::<Result<Vec<_>, _>>()?;
        if !parameters.iter().any(|argument| argument.meaning == Meaning::Written) {
            return Err("it writes to no parameter, so there is nothing to check");
        }
        Ok(KernelSketch {
            path: kernel.name.clone(),
            place: format!("{}:{}", kernel.file, kernel.line),
            parameters,
        })
    }

    fn axes(&self) -> impl Iterator<Item = &Argument> {
        self.parameters
            .iter()
            .filter(|argument| argument.meaning == Meaning::Axis)
    }

    /// Returns the integer axes that can be sizes.
    fn sizes(&self) -> Vec<&Argument> {
        self.axes().filter(|axis| axis.ty == "usize").collect()
    }

    /// Returns the extents of every tensor, as far as the declaration tells: all sizes multiplied.
    fn extents(&self) -> String {
        let sizes: Vec<&str> = self.sizes().iter().map(|axis| axis.name.as_str()).collect();
        match sizes.as_slice() {
            [] => "1024".into(),
            sizes => sizes.join(" * "),
        }
    }

    fn text(&self, called: &Called, name: &str) -> String {
        let (extents, ident) = (self.extents(), raw(name));
        let value = |axis: &Argument| match (axis.ty, self.sizes().len()) {
            ("f32" | "f64", _) => "1.0",
            ("bool", _) => "true",
            (_, 1) => "1 << 20",
            _ => "1024",
        };
        let axes = self.axes().map(|axis| format!("{} = [{}]", axis.name, value(axis)));
        let axes: Vec<String> = axes.collect();
        let axes = match axes.as_slice() {
            [] => String::new(),
            axes => format!("axes({}), ", axes.join(", ")),
        };
        let arguments = self.parameters.iter().map(|argument| match called {
            Called::Kernel(_) if argument.ty == "usize" => format!("{} as {}", argument.name, argument.kernel_type),
            _ => argument.name.clone(),
        });
        let arguments: Vec<String> = arguments.collect();
        let (Called::Function(called) | Called::Kernel(called)) = called;
        let declared = self.parameters.iter().map(|argument| match argument.meaning {
            Meaning::Axis => format!("    {}: {},\n", argument.name, argument.ty),
            Meaning::Read => {
                let fill = if matches!(argument.ty, "f32" | "f64" | "F16" | "BF16" | "F8E4M3" | "F8E5M2") {
                    "Normal::STANDARD"
                } else {
                    "Integers(0..100)"
                };
                format!(
                    "    #[fill({fill}, {extents})] {}: In<{}>, // TODO: values, extents\n",
                    argument.name, argument.ty
                )
            }
            Meaning::Written => {
                format!(
                    "    #[shape({extents})] {}: Out<{}>, // TODO: extents\n",
                    argument.name, argument.ty
                )
            }
        });
        let taken = self.parameters.iter().map(|argument| match argument.meaning {
            Meaning::Axis => format!("_{}: {}", unraw(&argument.name), argument.ty),
            Meaning::Read => format!("_{}: &[{}]", unraw(&argument.name), argument.ty),
            Meaning::Written => format!("_{}: &mut [{}]", unraw(&argument.name), argument.ty),
        });
        let declared: String = declared.collect();
        let taken: Vec<String> = taken.collect();
        format!(
            "/// `{path}`, in {place}.\n\
             #[gpubench({axes}reference = {name}_on_cpu, // TODO: sizes; `reduction = ..` if it sums\n    \
             launch = {called}<<<Grid::covering({extents}, 256)>>>({arguments}))] // TODO: grid\n\
             fn {ident}(\n{declared});\n\n\
             fn {name}_on_cpu({taken}) {{\n    \
             todo!(\"the right answer of `{path}`\")\n\
             }}\n",
            path = self.path,
            place = self.place,
            arguments = arguments.join(", "),
            taken = taken.join(", "),
        )
    }
}

impl Argument {
    fn of(parameter: &Parameter, position: usize, taken: &mut HashSet<String>) -> Result<Argument, &'static str> {
        let (number, meaning) = match (&parameter.ty, parameter.access) {
            (ParameterType::Number(number), _) => (*number, Meaning::Axis),
            (ParameterType::Pointer(Some(number)), Access::Reads) => (*number, Meaning::Read),
            (ParameterType::Pointer(Some(number)), Access::Writes) => (*number, Meaning::Written),
            (ParameterType::Pointer(_), _) => return Err("a pointer has elements that no tensor has"),
            (ParameterType::Struct(_), _) => return Err("it takes a struct: `#[derive(KernelArg)]` can make one"),
            (ParameterType::Unknown, _) => return Err("the type of a parameter is unknown"),
        };
        let reason = "a parameter has a type that no axis or tensor has";
        let kernel_type = element(number).ok_or(reason)?;
        let ty = match meaning {
            Meaning::Axis => scalar(number),
            Meaning::Read | Meaning::Written => element(number),
        };
        Ok(Argument {
            name: names::parameter(parameter.name.as_deref(), position, taken),
            ty: ty.ok_or(reason)?,
            kernel_type,
            meaning,
        })
    }
}

/// Returns the type of an axis that can be passed for the number. Any integer can be passed for any
/// other, and extents are `usize`.
fn scalar(number: Number) -> Option<&'static str> {
    match number {
        Number::Bool => Some("bool"),
        Number::F32 => Some("f32"),
        Number::F64 => Some("f64"),
        Number::F16 | Number::BF16 | Number::F8E4M3 | Number::F8E5M2 | Number::Address => None,
        _ => Some("usize"),
    }
}

/// Returns the element type of a tensor of such numbers.
fn element(number: Number) -> Option<&'static str> {
    Some(match number {
        Number::Char | Number::I8 => "i8",
        Number::Bool | Number::U8 => "u8",
        Number::I16 => "i16",
        Number::U16 => "u16",
        Number::I32 => "i32",
        Number::U32 => "u32",
        Number::I64 => "i64",
        Number::U64 => "u64",
        Number::F16 => "F16",
        Number::BF16 => "BF16",
        Number::F32 => "f32",
        Number::F64 => "f64",
        Number::F8E4M3 => "F8E4M3",
        Number::F8E5M2 => "F8E5M2",
        Number::Address => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use gpubench_declarations::Texts;

    use super::*;

    fn of(text: &str) -> Sketch {
        let texts = Texts::of([("src/k.cu", Cow::from(text))]);
        sketch("K", &texts.declarations([]), &mut HashSet::new())
    }

    #[test]
    fn a_kernel_gets_axes_tensors_a_launch_and_a_reference() {
        let sketch = of("__global__ void scale(const float *x, float *y, float factor, size_t n) {}");
        insta::assert_snapshot!(sketch.text);
        assert_eq!((sketch.benchmarks, sketch.left_out.len()), (1, 0));
    }

    #[test]
    fn several_sizes_multiply_and_names_of_rust_are_kept_apart() {
        let sketch = of(
            "namespace blas { extern \"C\" __global__ void Gemm(const __half *in, const int *type, __half *out, int m, int n) {} }\n\
             __global__ void gemm(double *y, unsigned n) {}",
        );
        insta::assert_snapshot!(sketch.text);
    }

    #[test]
    fn names_that_rust_cannot_have_are_replaced() {
        let sketch = of("__global__ void self(const float *self, float *Err, int K, int _) {}\n\
             __global__ void launcher(float *launcher, float *launcher_) {}");
        insta::assert_snapshot!(sketch.text);
    }

    #[test]
    fn what_cannot_be_a_benchmark_yet_is_told_with_its_reason() {
        let sketch = of("template <class T> __global__ void any(T *x) {}\n\
             __global__ void reads(const float *x) {}\n\
             struct Shape { int a; };\n\
             __global__ void shaped(float *x, Shape shape) {}\n\
             __global__ void vectors(float4 *x) {}\n\
             __global__ void odd(Unknown x, float *y) {}");
        assert_eq!(sketch.benchmarks, 0);
        insta::assert_snapshot!(sketch.left_out.join("\n"));
    }
}
