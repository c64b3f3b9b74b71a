//! The NVRTC process.

use std::ffi::{CString, NulError};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::request::{Description, LONGEST_REQUEST, Order, Reply, Request};
use crate::cuda::nvrtc::{Nvrtc, NvrtcError, Unit};
use gpubench_diagnostic::chain;

/// Why the process could not reply.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The request could not be read, or the reply could not be written.
    #[error("cannot talk to the broker")]
    Io(#[from] io::Error),
    /// The request is invalid.
    #[error("the request is damaged")]
    Request(#[from] serde_json::Error),
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Nvrtc(#[from] NvrtcError),
    #[error("cannot read `{path}`")]
    Source {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the source, an option or a name contains a zero byte")]
    Zero(#[from] NulError),
}

/// Reads one request from standard input and writes the reply to `answers`.
///
/// # Errors
/// When the request is invalid or the broker is gone. Errors in a source or a library are replies.
pub fn serve(mut answers: File) -> Result<(), ServeError> {
    let mut request = Vec::new();
    io::stdin().lock().take(LONGEST_REQUEST).read_to_end(&mut request)?;
    let request: Request = serde_json::from_slice(&request)?;
    let reply = answer(&request).unwrap_or_else(|failure| match failure {
        Failure::Nvrtc(NvrtcError::Rejected { log }) => Reply::Rejected(log),
        failure => Reply::Failed(chain(&failure)),
    });
    answers.write_all(&serde_json::to_vec(&reply)?)?;
    Ok(())
}

fn answer(request: &Request) -> Result<Reply, Failure> {
    let (nvrtc, description) = match first_usable(&request.libraries) {
        Ok(found) => found,
        Err(reasons) => return Ok(Reply::Failed(reasons)),
    };
    match &request.order {
        Order::Describe => Ok(Reply::Described(description)),
        Order::Compile { file, options, names } => {
            let text = fs_err::read(file).map_err(|source| Failure::Source {
                path: file.clone(),
                source,
            })?;
            let texts = |list: &[String]| list.iter().map(|text| CString::new(text.as_str())).collect();
            let (options, names): (Result<Vec<_>, _>, Result<Vec<_>, _>) = (texts(options), texts(names));
            let image = nvrtc.compile(Unit {
                text: &CString::new(text)?,
                name: &CString::new(file.as_str())?,
                options: &options?,
                names: &names?,
            })?;
            Ok(Reply::Compiled(image))
        }
    }
}

/// Returns the first library that is a working NVRTC, or the reasons of all.
fn first_usable(libraries: &[PathBuf]) -> Result<(Nvrtc, Description), String> {
    let mut reasons = Vec::new();
    for path in libraries {
        match open(path) {
            Ok(found) => return Ok(found),
            Err(error) => reasons.push(chain(&error)),
        }
    }
    Err(reasons.join("; "))
}

fn open(path: &Path) -> Result<(Nvrtc, Description), NvrtcError> {
    let nvrtc = Nvrtc::load(path)?;
    let description = Description {
        path: nvrtc.file().unwrap_or_else(|| path.to_owned()),
        version: nvrtc.version()?,
        capabilities: nvrtc.capabilities()?,
    };
    Ok((nvrtc, description))
}
