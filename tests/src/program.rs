//! Programs that a test makes and starts.
//!
//! The kernel refuses to start a file that is open for writing (`ETXTBSY`). A test writes while
//! others start processes, and each new process has the open files until it becomes its program. So
//! another process writes these files.

use std::path::Path;
use std::process::Command;

/// Writes a script that everybody can execute.
///
/// # Panics
/// If it cannot be written.
pub fn write_script(script: &Path, text: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let written = folder.path().join("script");
    std::fs::write(&written, text).expect("the script is written");
    copy_program(&written, script);
}

/// Copies a program to a path. Everybody can execute the copy.
///
/// # Panics
/// If it cannot be copied.
pub fn copy_program(program: &Path, to: &Path) {
    let mut install = Command::new("install");
    let copied = install.args(["-m", "755", "-T", "--"]).arg(program).arg(to).status();
    assert!(
        copied.is_ok_and(|status| status.success()),
        "`{}` is copied to `{}`",
        program.display(),
        to.display()
    );
}
