//! The MPS daemon, which lets kernels of several processes run at once.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The default folder of the daemon's pipes.
const DEFAULT_FOLDER: &str = "/tmp/nvidia-mps";

/// Returns the folder of the MPS daemon that this process would use, if one seems to run.
pub fn mps_daemon() -> Option<PathBuf> {
    let folder =
        std::env::var_os("CUDA_MPS_PIPE_DIRECTORY").map_or_else(|| PathBuf::from(DEFAULT_FOLDER), PathBuf::from);
    control_pipe_exists(&folder).then_some(folder)
}

/// The pipes of a killed daemon remain. A needless `unverified` is better than a wrong `sealed`.
fn control_pipe_exists(folder: &Path) -> bool {
    fs_err::metadata(folder.join("control")).is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_fifo() || kind.is_socket()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_control_pipe_counts_as_an_mps_daemon() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!control_pipe_exists(directory.path()));
        fs_err::write(directory.path().join("control"), "").unwrap();
        assert!(!control_pipe_exists(directory.path()));
        let socket = directory.path().join("other");
        fs_err::create_dir(&socket).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(socket.join("control")).unwrap();
        assert!(control_pipe_exists(&socket));
    }
}
