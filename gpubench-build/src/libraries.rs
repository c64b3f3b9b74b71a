//! Shared libraries from the files of a folder.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::variable::variable;

/// The extensions of files that are compiled.
const C: &[&str] = &["c"];
const CPP: &[&str] = &["cpp", "cc", "cxx"];
const CUDA: &[&str] = &["cu"];

/// Compiles each C, C++ and CUDA file of a folder into a shared library of its own. The crate's
/// code finds the path in a variable with the names of the folder and the file:
/// `env!("SOLUTIONS_FAST")` for `solutions/fast.cu`.
///
/// `compiler` has the options, such as include folders and architectures. A file that does not
/// compile, or for which there is no compiler, is a warning, and its library is missing: then only
/// the benchmarks that need it fail.
///
/// # Panics
/// Outside of a build script, if the folder cannot be read, or if two files get the same variable.
pub fn libraries(compiler: &cc::Build, folder: impl AsRef<Path>) {
    let folder = folder.as_ref();
    tell("rerun-if-changed", &folder.display().to_string());
    // No folder that a build script links from is searched for what another library needs.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets `OUT_DIR` for build scripts"));
    let out = out.join("own-libraries");
    std::fs::create_dir_all(&out).unwrap_or_else(|error| panic!("cannot create `{}`: {error}", out.display()));
    for (variable, file) in with_variables(folder, sources(folder)) {
        let library = out.join(format!("lib{}.so", variable.to_ascii_lowercase()));
        if let Err(explanation) = compile(link_command(compiler, &file), &file, &library) {
            warn(&file, &explanation);
        }
        tell("rustc-env", &format!("{variable}={}", library.display()));
    }
}

/// Returns each file by its variable.
///
/// # Panics
/// If two files have the same one: a library would be built from the wrong file.
fn with_variables(folder: &Path, files: Vec<PathBuf>) -> BTreeMap<String, PathBuf> {
    let mut named: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in files {
        let name = variable(folder, &file);
        if let Some(other) = named.get(&name) {
            panic!(
                "`{}` and `{}` have the same variable, `{name}`: rename one",
                other.display(),
                file.display()
            );
        }
        named.insert(name, file);
    }
    named
}

/// Tells cargo something. Text of others, such as the name of a file or a message of a compiler,
/// cannot begin a line of its own.
fn tell(key: &str, value: &str) {
    println!("cargo::{key}={}", printable(value));
}

fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Returns the files to compile, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir();
    let entries = entries.unwrap_or_else(|error| panic!("cannot read the folder `{}`: {error}", folder.display()));
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<PathBuf> = files
        .filter(|file| has_extension(file, &[C, CPP, CUDA].concat()))
        .collect();
    files.sort();
    files
}

fn has_extension(file: &Path, known: &[&str]) -> bool {
    file.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|extension| known.contains(&extension))
}

/// Returns the compiler for a file, with its options.
fn link_command(compiler: &cc::Build, file: &Path) -> Command {
    let mut compiler = compiler.clone();
    if has_extension(file, CPP) {
        compiler.cpp(true);
    }
    if has_extension(file, CUDA) {
        compiler.cuda(true);
    }
    compiler.get_compiler().to_command()
}

/// Compiles a file to a shared library.
///
/// # Errors
/// With the compiler's explanation. The library is then missing.
fn compile(mut command: Command, file: &Path, library: &Path) -> Result<(), String> {
    // A library of an earlier version of the file.
    let _ = std::fs::remove_file(library);
    command.arg("-shared").arg("-o").arg(library).arg(file);
    // The command has the whole environment, with its secrets.
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("`{program}` cannot be started: {error} (hint: install it, or add it to the path)"))?;
    if output.status.success() {
        Ok(())
    } else {
        let _ = std::fs::remove_file(library);
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Shows the beginning of a compiler's explanation.
fn warn(file: &Path, explanation: &str) {
    const MOST_LINES: usize = 10;
    tell(
        "warning",
        &format!("`{}` does not compile, so its library is missing", file.display()),
    );
    explanation
        .lines()
        .take(MOST_LINES)
        .for_each(|line| tell("warning", line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_sorted_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.cu", "a.c", "README.md", "common.h", "c.cpp"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<_> = sources(folder.path())
            .iter()
            .map(|file| file.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["a.c", "b.cu", "c.cpp"]);
    }

    #[test]
    fn a_file_that_does_not_compile_leaves_no_library() {
        let folder = tempfile::tempdir().unwrap();
        let (file, library) = (folder.path().join("x.c"), folder.path().join("libx.so"));
        let compile = || compile(Command::new("cc"), &file, &library);
        std::fs::write(&file, "int solution(void) { return 1; }").unwrap();
        assert_eq!(compile(), Ok(()));
        assert!(library.is_file());
        std::fs::write(&file, "int solution(void) { return one; }").unwrap();
        assert!(compile().unwrap_err().contains("one"));
        assert!(!library.exists());
    }

    #[test]
    fn a_library_that_a_compiler_could_not_finish_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, library) = (folder.path().join("x.c"), folder.path().join("libx.so"));
        let mut command = Command::new("sh");
        command.args(["-c", "echo half > \"$3\"; echo full >&2; exit 1", "cc"]);
        assert_eq!(compile(command, &file, &library), Err("full\n".to_owned()));
        assert!(!library.exists());
    }

    #[test]
    fn without_a_compiler_no_earlier_library_remains() {
        let folder = tempfile::tempdir().unwrap();
        let (file, library) = (folder.path().join("x.c"), folder.path().join("libx.so"));
        std::fs::write(&library, "of an earlier version").unwrap();
        assert!(compile(Command::new("no-such-compiler"), &file, &library).is_err());
        assert!(!library.exists());
    }

    #[test]
    fn a_missing_compiler_is_named_without_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("no-such-compiler");
        command.env("TOKEN", "hunter2");
        let why = compile(command, &folder.path().join("x.c"), &folder.path().join("libx.so")).unwrap_err();
        assert!(why.starts_with("`no-such-compiler` cannot be started: "), "{why}");
        assert!(!why.contains("hunter2"), "{why}");
    }

    #[test]
    #[should_panic(expected = "have the same variable, `SOLUTIONS_A_B`: rename one")]
    fn two_files_never_share_a_variable() {
        with_variables(Path::new("solutions"), ["a-b.c", "a_b.cu"].map(PathBuf::from).to_vec());
    }

    #[test]
    fn a_name_of_a_file_tells_cargo_nothing() {
        assert_eq!(
            printable("x\ncargo::rustc-link-arg=y\r\u{1b}[2J.c"),
            "x cargo::rustc-link-arg=y  [2J.c"
        );
    }
}
