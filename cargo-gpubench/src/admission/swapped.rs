//! Arguments of a launch in each other's place, as far as their names tell.

use gpubench::catalog::{AxisValue, Catalog, Params, Recording, Tensor};
use gpubench::plan::{Argument, BufferId, Launch};
use gpubench_declarations::Parameter;

use super::arguments::Declaration;

/// Returns a remark about the first two arguments that have each other's names: the kernel's
/// parameter `rows` gets the value of the axis `cols`, and `cols` that of `rows`. Tensors have
/// names, too. A right launch can look so, as in a transposition; the remark is for failed calls.
pub fn swapped_arguments(catalog: &Catalog, recording: &Recording, params: &Params) -> Option<String> {
    let names = Names {
        tensors: &recording.tensors,
        params,
    };
    recording.plan.launches().find_map(|launch| {
        let declaration = Declaration::of(catalog, &launch.kernel);
        names.swapped(launch, declaration.parameters()?)
    })
}

/// The names of a case's tensors and axes.
struct Names<'a> {
    tensors: &'a [Tensor],
    params: &'a Params,
}

impl Names<'_> {
    fn swapped(&self, launch: &Launch, parameters: &[Parameter]) -> Option<String> {
        // A macro among the parameters may expand to several.
        if parameters.len() != launch.arguments.len() {
            return None;
        }
        let named = parameters.iter().zip(&launch.arguments).enumerate();
        let named: Vec<(usize, &str, &Argument)> = named
            .filter_map(|(position, (parameter, argument))| Some((position, parameter.name.as_deref()?, argument)))
            .collect();
        let mut pairs = named
            .iter()
            .flat_map(|one| named.iter().map(move |other| (*one, *other)))
            .filter(|((first, ..), (second, ..))| first < second);
        let ((first, one, given), (second, other, _)) = pairs.find(|((_, one, given), (_, other, taken))| {
            self.has(given, other) && self.has(taken, one) && !self.has(given, one) && !self.has(taken, other)
        })?;
        let what = match given {
            Argument::Value(_) => "axis",
            Argument::Pointer { .. } | Argument::TensorMap { .. } => "tensor",
        };
        let Launch { kernel, place, .. } = launch;
        Some(format!(
            "arguments {} and {} of `{kernel}` at `{place}` may be in each other's place: the parameter `{one}` gets the \
             {what} `{other}`, and `{other}` gets `{one}`",
            first + 1,
            second + 1
        ))
    }

    /// Whether an argument is the tensor, or the value of the axis, with this name.
    fn has(&self, argument: &Argument, name: &str) -> bool {
        match argument {
            Argument::Value(bytes) => {
                let axis = self.params.iter().find(|(axis, _)| axis == name);
                axis.is_some_and(|(_, value)| matches!(value, AxisValue::Int(value) if is_integer(bytes, *value)))
            }
            Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. } => match buffer {
                BufferId::Tensor(number) => {
                    let tensor = self.tensors.get(*number as usize);
                    tensor.is_some_and(|tensor| tensor.name == name)
                }
                BufferId::Scratch(_) => false,
            },
        }
    }
}

/// Whether the bytes are this integer, of 4 or 8 bytes.
fn is_integer(bytes: &[u8], value: i64) -> bool {
    match *bytes {
        [a, b, c, d] => value as i32 == i32::from_le_bytes([a, b, c, d]),
        [a, b, c, d, e, f, g, h] => value == i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Execution, Fill, Reference, Role, Source, SourceFile, SourceForm, Tolerance, Work};
    use gpubench::plan::{KernelRef, Plan, Step};

    use super::*;

    const KERNELS: &str = "
__global__ void sums(const float *x, float *y, size_t rows, int cols) {}
__global__ void unnamed(const float *, float *, size_t n, int m) {}
__global__ void made(const float *x, float *y, SIZES) {}
";

    /// The remark about a launch of a case with 3 rows and these columns.
    fn remark(kernel: &str, cols: i64, tensors: [u32; 2], rows_given: u64, cols_given: i32) -> Option<String> {
        let tensor = |name: &str, role| Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![8],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        };
        let catalog = Catalog {
            benchmarks: Vec::new(),
            problems: Vec::new(),
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
        let pointers = tensors.map(|tensor| Argument::Pointer {
            buffer: BufferId::Tensor(tensor),
            offset: 0,
        });
        let numbers = [
            Argument::Value(rows_given.to_le_bytes().to_vec()),
            Argument::Value(cols_given.to_le_bytes().to_vec()),
        ];
        let launch = Launch {
            kernel: KernelRef {
                source: 0,
                name: kernel.to_owned(),
            },
            grid: [1; 3],
            block: [64, 1, 1],
            cluster: [1; 3],
            dynamic_shared: 0,
            cooperation: Default::default(),
            dependence: Default::default(),
            arguments: pointers.into_iter().chain(numbers).collect(),
            types: Vec::new(),
            place: "src/lib.rs:7".to_owned(),
        };
        let recording = Recording {
            tensors: vec![tensor("x", Role::Input), tensor("y", Role::Output)],
            plan: Plan {
                steps: vec![Step::Launch(launch)],
                ..Plan::default()
            },
            work: Work::default(),
            reference: Reference::Author,
            execution: Execution::Sealed,
            call: None,
        };
        let params = vec![
            ("rows".to_owned(), AxisValue::Int(3)),
            ("cols".to_owned(), AxisValue::Int(cols)),
        ];
        swapped_arguments(&catalog, &recording, &params)
    }

    #[test]
    fn swapped_numbers_and_tensors_are_named_with_their_launch() {
        let numbers = remark("sums", 5, [0, 1], 5, 3).expect("a remark");
        assert_eq!(
            numbers,
            "arguments 3 and 4 of `sums` at `src/lib.rs:7` may be in each other's place: the parameter `rows` gets the \
             axis `cols`, and `cols` gets `rows`"
        );
        let tensors = remark("sums", 5, [1, 0], 3, 5).expect("a remark");
        assert!(
            tensors.starts_with("arguments 1 and 2 ") && tensors.contains("`x` gets the tensor `y`"),
            "{tensors}"
        );
    }

    #[test]
    fn arguments_that_may_be_right_get_no_remark() {
        assert_eq!(remark("sums", 5, [0, 1], 3, 5), None, "as declared");
        assert_eq!(remark("sums", 3, [0, 1], 3, 3), None, "equal values");
        assert_eq!(remark("sums", 5, [0, 1], 5, 5), None, "one value twice");
        assert_eq!(remark("sums", 5, [0, 1], 15, 3), None, "a computed value");
        assert_eq!(remark("unnamed", 5, [1, 0], 5, 3), None);
        assert_eq!(remark("made", 5, [0, 1], 5, 3), None);
        assert_eq!(remark("elsewhere", 5, [1, 0], 5, 3), None);
    }
}
