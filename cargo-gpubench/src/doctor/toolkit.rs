//! Compilers of GPU kernels, where they usually are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::machine::Tool;

/// Folders in which toolkits are installed, the ones that the user names first.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
    named
        .map(PathBuf::from)
        .chain(matching(Path::new("/usr/local"), "cuda"))
        .collect()
}

/// nvcc on the path or in a toolkit.
pub(super) fn nvcc() -> Option<Tool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let in_toolkits = toolkits().into_iter().map(|toolkit| toolkit.join("bin/nvcc"));
    let nvcc = on_path.chain(in_toolkits).find(|program| program.is_file())?;
    let said = Command::new(&nvcc).arg("--version").stdin(Stdio::null()).output().ok();
    let version = said.and_then(|said| release_in(&String::from_utf8_lossy(&said.stdout)));
    Some(Tool { path: nvcc, version })
}

/// `13.0` of `Cuda compilation tools, release 13.0, V13.0.88`.
fn release_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("release ")?;
    rest.split([',', '\n']).next().map(|release| release.trim().to_owned())
}

/// NVRTC in a toolkit, on the library path, or in Python's packages of an environment.
pub(super) fn nvrtc() -> Option<Tool> {
    let in_toolkits = toolkits()
        .into_iter()
        .flat_map(|toolkit| [toolkit.join("lib64"), toolkit.join("lib")]);
    let library_path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let named: Vec<PathBuf> = std::env::split_paths(&library_path).collect();
    let system = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"].map(PathBuf::from);
    let folders = in_toolkits.chain(named).chain(system).chain(python_packages());
    let library = folders
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| matching(&folder, "libnvrtc.so").into_iter().next())?;
    Some(Tool {
        version: version_in(&library),
        path: library,
    })
}

/// Folders of the `nvidia` packages of Python's environments here.
fn python_packages() -> Vec<PathBuf> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let homes = environment.into_iter().chain(["/usr/local", "/usr"].map(PathBuf::from));
    homes
        .flat_map(|home| matching(&home.join("lib"), "python3"))
        .flat_map(|python| [python.join("site-packages"), python.join("dist-packages")])
        .flat_map(|packages| matching(&packages.join("nvidia"), ""))
        .map(|package| package.join("lib"))
        .collect()
}

/// `13` of `libnvrtc.so.13`.
fn version_in(library: &Path) -> Option<String> {
    let name = library.file_name()?.to_str()?;
    name.strip_prefix("libnvrtc.so.").map(str::to_owned)
}

/// Entries of a folder whose names begin so, the last name first; none where it cannot be read.
fn matching(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let begins = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(prefix));
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| begins(&entry.file_name()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_that_the_tools_say() {
        let said = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\n";
        assert_eq!(release_in(said).as_deref(), Some("13.0"));
        assert_eq!(release_in("gcc 14"), None);
        assert_eq!(
            version_in(Path::new("/usr/lib64/libnvrtc.so.12")).as_deref(),
            Some("12")
        );
        assert_eq!(version_in(Path::new("/usr/lib64/libnvrtc.so")), None);
    }

    #[test]
    fn the_newest_of_several_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libnvrtc.so.12", "libnvrtc.so.13", "libother.so"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = matching(folder.path(), "libnvrtc.so");
        assert_eq!(
            found,
            ["libnvrtc.so.13", "libnvrtc.so.12"].map(|name| folder.path().join(name))
        );
    }
}
