//! The daemon of MPS, through which kernels of several processes run at once.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where it listens, unless told otherwise.
const DEFAULT_FOLDER: &str = "/tmp/nvidia-mps";

/// The folder of the daemon that contexts of this process would be made through, where one listens.
pub fn mps_daemon() -> Option<PathBuf> {
    let folder =
        std::env::var_os("CUDA_MPS_PIPE_DIRECTORY").map_or_else(|| PathBuf::from(DEFAULT_FOLDER), PathBuf::from);
    control_pipe_exists(&folder).then_some(folder)
}

/// The pipes of a daemon that was killed stay; a daemon that is not there is worth an `advisory`
/// less than one that is there is worth a `sealed`.
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
    fn a_file_that_is_no_pipe_is_no_mps_daemon() {
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
