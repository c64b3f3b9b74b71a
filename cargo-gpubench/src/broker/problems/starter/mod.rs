//! `cargo gpubench problem starter`: the file that a submission begins with. It has the names and
//! the types of the problem, and no solution.

mod operand;
mod ptx;
mod source;
mod tvm_ffi;

use std::io::{ErrorKind, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::described::Described;
use super::error::ProblemError;
use gpubench_diagnostic::printable_line;
use gpubench_report::shell_quoted;
use operand::{Operand, operands};

/// What a submission is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum StarterForm {
    /// CUDA C++ with a kernel, launched by the tool
    #[default]
    Cuda,
    /// A library of host code with a function of C
    Library,
    /// PTX with a kernel, launched by the tool
    Ptx,
    /// A library of host code with a function of TVM-FFI
    TvmFfi,
}

/// The files that a submission begins with.
#[derive(Debug)]
pub(super) struct Starter {
    source: String,
    /// The description in TOML.
    description: String,
    place: Place,
    names: FileNames,
}

/// What the files of a library are called, for its comments.
#[derive(Clone, Debug)]
struct FileNames {
    source: String,
    library: String,
    description: String,
}

impl FileNames {
    /// Returns the names for a source that is written to `file`.
    fn of(file: Option<&Utf8Path>) -> FileNames {
        let file = Utf8Path::new(file.and_then(Utf8Path::file_name).unwrap_or("solution.cu"));
        let name = |path: &Utf8Path| shell_quoted(&printable_line(path.as_str()));
        FileNames {
            source: name(file),
            library: name(&file.with_extension("so")),
            description: name(&file.with_extension("toml")),
        }
    }
}

/// Where a description is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a comment of the source.
    Comment,
    /// In a file next to the library.
    OwnFile,
}

/// Returns the starter of a problem, to be written to `file` if there is one.
///
/// # Errors
/// Its tensors are not known.
pub(super) fn starter(
    described: &Described<'_>,
    form: StarterForm,
    file: Option<&Utf8Path>,
) -> Result<Starter, ProblemError> {
    let names = FileNames::of(file);
    let tensors = described.tensors.as_ref().map_err(|reason| ProblemError::NoTensors {
        name: described.listed.name(),
        reason: reason.clone(),
    })?;
    let operands = operands(described, tensors);
    let about = source::about(described, tensors);
    Ok(match form {
        StarterForm::Cuda => Starter {
            source: about + &source::kernel(&operands),
            description: launch(&operands),
            place: Place::Comment,
            names,
        },
        StarterForm::Ptx => Starter {
            source: about + &ptx::kernel(&operands),
            description: launch(&operands),
            place: Place::Comment,
            names,
        },
        StarterForm::Library => Starter {
            source: about + &source::function(&operands, &names),
            description: call(&operands),
            place: Place::OwnFile,
            names,
        },
        StarterForm::TvmFfi => Starter {
            source: about + &tvm_ffi::function(&operands, &names),
            description: call(&operands),
            place: Place::OwnFile,
            names,
        },
    })
}

/// Threads of a block, in a starter.
const BLOCK: u32 = 256;

/// Returns the description of a launch with a thread for each element of the first output.
fn launch(operands: &[Operand]) -> String {
    let output = operands.iter().find(|operand| operand.is_written());
    let grid = match output {
        Some(output) => format!("ceil_div({}.len, {BLOCK})", output.name),
        None => "1".to_owned(),
    };
    format!(
        "kernel = \"solution\"\ngrid = \"{grid}\"\nblock = {BLOCK}\narguments = {}\n",
        arguments(operands)
    )
}

/// Returns the description of a call of host code.
fn call(operands: &[Operand]) -> String {
    format!(
        "[library]\nfunction = \"solution\"\nsynchronizes = true\narguments = {}\n",
        arguments(operands)
    )
}

fn arguments(operands: &[Operand]) -> String {
    let names: Vec<String> = operands.iter().map(|operand| format!("\"{}\"", operand.name)).collect();
    format!("[{}]", names.join(", "))
}

impl Starter {
    /// Returns the source with the description in a comment. That of a library is only for the
    /// reader, and says where it belongs.
    pub(super) fn in_one_file(&self) -> String {
        match self.place {
            Place::Comment => format!("/* gpubench\n{}*/\n\n{}", self.description, self.source),
            Place::OwnFile => format!(
                "/* In `{}`, next to `{}`:\n\n{}*/\n\n{}",
                self.names.description, self.names.library, self.description, self.source
            ),
        }
    }

    /// Writes the source, and the description of a library next to it. Returns their paths.
    ///
    /// # Errors
    /// One exists, or cannot be written.
    pub(super) fn write(&self, file: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ProblemError> {
        if self.place == Place::Comment {
            write_new(file, &self.in_one_file())?;
            return Ok(vec![file.to_owned()]);
        }
        let description = file.with_extension("toml");
        if description == file {
            return Err(ProblemError::IsDescription { path: description });
        }
        write_new(file, &self.source)?;
        write_new(&description, &self.description)?;
        Ok(vec![file.to_owned(), description])
    }
}

fn write_new(path: &Utf8Path, text: &str) -> Result<(), ProblemError> {
    let unwritable = |source| ProblemError::Unwritable {
        path: path.to_owned(),
        source,
    };
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => ProblemError::Exists { path: path.to_owned() },
        _ => unwritable(source),
    })?;
    file.write_all(text.as_bytes()).map_err(unwritable)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Role, Tolerance};

    use super::super::described::{Comparand, DescribedTensor, Shape};
    use super::super::example;
    use super::super::listed::Listed;
    use super::*;

    #[test]
    fn texts_of_the_crate_stay_in_the_comments_of_a_starter() {
        let mut problem = example("scan");
        problem.statement = "Ends */ here \u{1b}[31m\u{2028} and continues \\".to_owned();
        let tensor = |name: &str| DescribedTensor {
            name: name.to_owned(),
            type_name: "f32".to_owned(),
            dtype: DType::F32,
            role: Role::Output,
            tolerance: Tolerance::Exact,
            compared_with: Comparand::Reference,
            shape: Shape::InFirstCase(vec![4]),
        };
        let listed = Listed::alone("p", &problem);
        let described = Described {
            listed: &listed,
            first: None,
            tensors: Ok(vec![tensor("y"), tensor("x\"] */ int main() {} //\n#error")]),
            public: [1, 1],
            hidden: [0, 0],
        };
        for form in [
            StarterForm::Cuda,
            StarterForm::Library,
            StarterForm::Ptx,
            StarterForm::TvmFfi,
        ] {
            let text = starter(&described, form, None).expect("a starter").in_one_file();
            let (_, code) = text.split_once("*/\n").expect("the description ends");
            let of_the_crate = ["Ends", "main", "#error", "\\"];
            let outside = |line: &&str| of_the_crate.iter().any(|word| line.contains(word)) && !line.starts_with("//");
            assert_eq!(code.lines().find(outside), None, "{text}");
            assert!(!text.contains(['\u{1b}', '\u{2028}']), "{text}");
            assert!(code.lines().all(|line| !line.ends_with('\\')), "{text}");
            assert!(text.contains("arguments = [\"y\"]"), "{text}");
        }
    }

    #[test]
    fn the_comments_of_a_library_name_the_files_that_are_written() {
        let named = |file| {
            let FileNames {
                source,
                library,
                description,
            } = FileNames::of(file);
            [source, library, description].join(" ")
        };
        assert_eq!(named(None), "solution.cu solution.so solution.toml");
        assert_eq!(named(Some(Utf8Path::new("in/fast.cu"))), "fast.cu fast.so fast.toml");
        assert_eq!(named(Some(Utf8Path::new("a b\n.cpp"))).lines().count(), 1);
    }

    #[test]
    fn the_file_of_a_description_is_no_place_for_a_source() {
        let starter = Starter {
            source: String::new(),
            description: String::new(),
            place: Place::OwnFile,
            names: FileNames::of(None),
        };
        let error = starter
            .write(Utf8Path::new("no/such/solution.toml"))
            .expect_err("refused");
        assert!(matches!(error, ProblemError::IsDescription { .. }), "{error:?}");
    }
}
