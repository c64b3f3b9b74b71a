//! Metrics that cannot be given to anyone.

use std::io;
use std::net::SocketAddr;

use camino::Utf8PathBuf;
use gpubench_diagnostic::{ExitCode, Expected};
use thiserror::Error;

/// Why metrics cannot be served or written.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// The address cannot be used.
    #[error("cannot serve metrics at `{address}`")]
    Address {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write metrics to `{path}`")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Expected for MetricsError {
    fn exit_code(&self) -> ExitCode {
        match self {
            // Whoever supervises the program tries again: the address may come later.
            MetricsError::Address { .. } | MetricsError::File { .. } => ExitCode::OutputFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        let MetricsError::Address { address, source } = self else {
            return None;
        };
        match source.kind() {
            io::ErrorKind::AddrInUse => Some(format!(
                "another program uses port {}; `--metrics-addr 127.0.0.1:0` takes a free one",
                address.port()
            )),
            io::ErrorKind::PermissionDenied => Some("ports below 1024 need root".to_owned()),
            io::ErrorKind::AddrNotAvailable => Some("use an address of this machine".to_owned()),
            _ => None,
        }
    }
}
