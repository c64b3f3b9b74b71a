//! Why the server does not start.

use std::io;
use std::path::PathBuf;

use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_sandbox::ForeignRights;
use thiserror::Error;

/// Why the server does not start.
#[derive(Debug, Error)]
pub(crate) enum ServeError {
    #[error("the device `{device}` is given twice")]
    SameDevice { device: String },
    #[error(transparent)]
    Rights(ForeignRights),
    #[error("no definition can be read in `{}`", folder.display())]
    NoDefinitions { folder: PathBuf },
    #[error("two definitions in `{}` have the name `{name}`", folder.display())]
    SameDefinition { folder: PathBuf, name: String },
    #[error("two workloads of `{definition}` have the uuid `{uuid}`")]
    SameWorkload { definition: String, uuid: String },
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` cannot be the spool: {why}", folder.display())]
    UnfitSpool { folder: PathBuf, why: &'static str },
    #[error("cannot use the spool `{}`", folder.display())]
    Spool { folder: PathBuf, source: io::Error },
    #[error("another server uses the spool `{}`", folder.display())]
    SpoolInUse { folder: PathBuf },
    #[error("cannot listen on `{address}`")]
    Listen { address: String, source: io::Error },
    #[error("`{}` is there already and no socket", path.display())]
    NoSocket { path: PathBuf },
    #[error("another server listens on `{}`", path.display())]
    SocketInUse { path: PathBuf },
    #[error("`{}`, the program that grades, cannot be run", path.display())]
    NoTool { path: PathBuf },
    #[error("cannot run `{}`", path.display())]
    Launch { path: PathBuf, source: io::Error },
}

impl Expected for ServeError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ServeError::Rights(_) | ServeError::NoTool { .. } | ServeError::Launch { .. } => ExitCode::SetupMissing,
            _ => ExitCode::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            ServeError::SameDevice { .. } => "a device has one task at once",
            ServeError::Rights(_) => "remove them with `setcap -r FILE` or `chmod ug-s FILE`",
            ServeError::NoDefinitions { .. } => {
                "`--dataset` is a folder with `definitions/KIND/NAME.json` and `workloads/KIND/NAME.jsonl`"
            }
            ServeError::SameDefinition { .. } | ServeError::SameWorkload { .. } => "remove one of them",
            ServeError::UnfitSpool { .. } => "name a folder that does not exist yet; it is made",
            ServeError::SpoolInUse { .. } => "give each server a `--spool` of its own",
            ServeError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "port 0 takes a free one; the first line of output has it"
            }
            ServeError::NoSocket { .. } | ServeError::SocketInUse { .. } => "name another file",
            ServeError::NoTool { .. } => {
                "`cargo install --locked cargo-gpubench` puts it next to this program; `--tool` names another"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
