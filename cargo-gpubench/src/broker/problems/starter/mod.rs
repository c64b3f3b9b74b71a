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
}

/// Where a description is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a comment of the source.
    Comment,
    /// In a file beside the library.
    Beside,
}

/// Returns the starter of a problem.
///
/// # Errors
/// Its tensors are not known.
pub(super) fn starter(described: &Described<'_>, form: StarterForm) -> Result<Starter, ProblemError> {
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
        },
        StarterForm::Ptx => Starter {
            source: about + &ptx::kernel(&operands),
            description: launch(&operands),
            place: Place::Comment,
        },
        StarterForm::Library => Starter {
            source: about + &source::function(&operands),
            description: call(&operands),
            place: Place::Beside,
        },
        StarterForm::TvmFfi => Starter {
            source: about + &tvm_ffi::function(&operands),
            description: call(&operands),
            place: Place::Beside,
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
            Place::Beside => format!(
                "/* In `solution.toml`, beside `solution.so`:\n\n{}*/\n\n{}",
                self.description, self.source
            ),
        }
    }

    /// Writes the source, and beside it the description of a library. Returns their paths.
    ///
    /// # Errors
    /// One exists, or cannot be written.
    pub(super) fn write(&self, file: &Utf8Path) -> Result<Vec<Utf8PathBuf>, ProblemError> {
        if self.place == Place::Comment {
            write_new(file, &self.in_one_file())?;
            return Ok(vec![file.to_owned()]);
        }
        let beside = file.with_extension("toml");
        if beside == file {
            return Err(ProblemError::IsDescription { path: beside });
        }
        write_new(file, &self.source)?;
        write_new(&beside, &self.description)?;
        Ok(vec![file.to_owned(), beside])
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
