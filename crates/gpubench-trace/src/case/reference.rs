//! The reference of a definition, as a command that computes expected outputs.

use std::io;
use std::path::Path;

use gpubench::catalog::{Params, Provider, Role, Tensor};
use serde::Serialize;

use super::argument::Argument;
use crate::definition::ElementType;
use crate::workload::ScalarValue;

/// The program that calls the reference for each set of inputs.
const PROGRAM: &str = include_str!("gpubench_reference.py");

/// The files of a command that computes the expected outputs of a case with the definition's
/// reference.
///
/// The command is a Python program of this crate. It reads the inputs of all calls, imports the
/// reference, calls its function `run` for each call, and writes the outputs. A reference that
/// imports `torch` gets tensors of PyTorch on the CPU; another gets arrays of NumPy if there is
/// NumPy and it has all types of the tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceProgram {
    source: String,
    /// The call, in JSON.
    call: String,
    params: Params,
}

/// What the program must know of the case.
#[derive(Serialize)]
struct Call<'a> {
    inputs: Vec<Input<'a>>,
    outputs: Vec<Output<'a>>,
    negative_infinity: bool,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Input<'a> {
    Tensor {
        name: &'a str,
        dtype: &'a str,
        constant: bool,
    },
    Scalar {
        name: &'a str,
        value: ScalarValue,
    },
}

#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: &'a [u64],
}

impl ReferenceProgram {
    pub(super) fn new(
        source: &str,
        tensors: &[Tensor],
        element_types: &[ElementType],
        arguments: &[Argument],
        params: &Params,
        allow_negative_inf: bool,
    ) -> ReferenceProgram {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                Argument::Scalar { name, value, .. } => inputs.push(Input::Scalar { name, value: *value }),
                Argument::Tensor(position) => {
                    let Tensor { name, shape, role, .. } = &tensors[*position];
                    let dtype = element_types[*position].name();
                    match role.is_output() {
                        true => outputs.push(Output { name, dtype, shape }),
                        false => inputs.push(Input::Tensor {
                            name,
                            dtype,
                            constant: *role == Role::Constant,
                        }),
                    }
                }
            }
        }
        let call = serde_json::json!(Call {
            inputs,
            outputs,
            negative_infinity: allow_negative_inf,
        });
        ReferenceProgram {
            source: source.to_owned(),
            call: call.to_string(),
            params: params.clone(),
        }
    }

    /// Writes the files into a folder, which should have no others than those of other cases of the
    /// definition. `call` is the name of the file that differs between them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path, call: &str) -> io::Result<()> {
        let files = [
            ("gpubench_reference.py", PROGRAM),
            ("reference.py", &self.source),
            (call, &self.call),
        ];
        for (name, contents) in files {
            let path = folder.join(name);
            if !path.exists() {
                std::fs::write(path, contents)?;
            }
        }
        Ok(())
    }

    /// Returns the command, for a folder that has the files. `python` is the interpreter: a name on
    /// the `PATH`, or an absolute path. `call` is as in [`ReferenceProgram::write`].
    pub fn provider(&self, python: &str, folder: &str, call: &str) -> Provider {
        Provider {
            command: [python, "-B", "gpubench_reference.py", call].map(str::to_owned).into(),
            folder: folder.to_owned(),
            params: self.params.clone(),
        }
    }
}
