//! What a grader needs of a solution.

use gpubench_diagnostic::{ExitCode, Expected, printable_line};

use crate::dialect::Dialect;
use crate::solution::{Binding, BuildSpec, Language, Solution, SourceFile};

/// A submission that a worker can build, open and call.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The compiler of the file with the function.
    pub compiler: SourceLanguage,
    /// Path of the file with the function, among the sources.
    pub file: String,
    /// Name of the function. Its library exports it with the interface of TVM-FFI; it takes the
    /// inputs and then the outputs.
    pub function: String,
    /// All files, to be placed in one folder.
    pub sources: Vec<SourceFile>,
    /// Libraries that it needs, such as `cublas`.
    pub dependencies: Vec<String>,
}

/// The languages that a grader compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLanguage {
    /// CUDA C++.
    Cuda,
    /// C++.
    Cpp,
}

/// Why a solution cannot be graded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SubmissionError {
    /// It is in a language that is not compiled to a library.
    #[error("the solution `{}` is in {}, which is not supported", printable_line(.solution), .language.name())]
    Language { solution: String, language: Language },
    /// Its function is one of an extension module of PyTorch.
    #[error("the solution `{}` is an extension module of PyTorch, which only a process with PyTorch can call", printable_line(.solution))]
    TorchBinding { solution: String },
    /// Its function returns its outputs.
    #[error("the function of the solution `{}` returns its outputs instead of writing them where it should", printable_line(.solution))]
    ReturnsOutputs { solution: String },
    /// It solves another definition.
    #[error("the solution `{}` is for the definition `{}`, not for `{}`", printable_line(.solution), printable_line(.of), printable_line(.definition))]
    OtherDefinition {
        solution: String,
        of: String,
        definition: String,
    },
}

impl Expected for SubmissionError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            SubmissionError::Language { .. } => {
                "compile it to a library with the interface of TVM-FFI, or write it in `cuda` or `cpp`"
            }
            SubmissionError::TorchBinding { .. } => {
                "take `tvm::ffi::TensorView` instead of `torch::Tensor`, export the function with `TVM_FFI_DLL_EXPORT_TYPED_FUNC`, and set `binding` to `tvm-ffi`: SOL-ExecBench without it means `torch`"
            }
            SubmissionError::ReturnsOutputs { .. } => {
                "take the outputs as the last parameters, and set `destination_passing_style` to true"
            }
            SubmissionError::OtherDefinition { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl Submission {
    /// Returns what a grader needs of a solution of the definition with the name `definition`.
    ///
    /// # Errors
    /// The solution is for another definition, in a language besides CUDA C++ and C++, an extension
    /// module of PyTorch, or its function returns its outputs.
    pub fn new(solution: &Solution, definition: &str) -> Result<Submission, SubmissionError> {
        let name = || solution.name.clone();
        if solution.definition != definition {
            return Err(SubmissionError::OtherDefinition {
                solution: name(),
                of: solution.definition.clone(),
                definition: definition.to_owned(),
            });
        }
        let spec = &solution.spec;
        let mut compiler = SourceLanguage::Cpp;
        for language in spec.all_languages() {
            match language {
                Language::Cpp => {}
                Language::Cuda | Language::CudaCpp | Language::Cutlass | Language::Cudnn | Language::Cublas => {
                    compiler = SourceLanguage::Cuda;
                }
                Language::Python
                | Language::Triton
                | Language::Tilelang
                | Language::Pytorch
                | Language::CuteDsl
                | Language::Cutile
                | Language::CudnnFrontend => {
                    let solution = name();
                    return Err(SubmissionError::Language { solution, language });
                }
            }
        }
        if binding_of(spec, solution.dialect()) == Binding::Torch {
            return Err(SubmissionError::TorchBinding { solution: name() });
        }
        if !spec.destination_passing_style {
            return Err(SubmissionError::ReturnsOutputs { solution: name() });
        }
        // Every solution that can be read has one.
        let (file, function) = spec.entry().unwrap_or((&spec.entry_point, ""));
        Ok(Submission {
            compiler,
            file: file.to_owned(),
            function: function.to_owned(),
            sources: solution.sources.clone(),
            dependencies: spec.dependencies.clone(),
        })
    }
}

fn binding_of(spec: &BuildSpec, dialect: Dialect) -> Binding {
    spec.binding.unwrap_or(match dialect {
        Dialect::FlashInfer => Binding::TvmFfi,
        Dialect::SolExecBench => Binding::Torch,
    })
}
