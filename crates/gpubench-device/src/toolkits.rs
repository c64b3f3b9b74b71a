//! Finds NVRTC, nvcc and their headers, CUPTI, and other programs of toolkits.

use std::path::{Path, PathBuf};

/// The places to search on a machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// `CUDA_HOME`, `CUDA_PATH`.
    pub(crate) toolkits: Vec<PathBuf>,
    /// The default folder of installed toolkits: `/usr/local`.
    pub(crate) local: PathBuf,
    /// `VIRTUAL_ENV`, `CONDA_PREFIX`.
    pub(crate) environments: Vec<PathBuf>,
    /// `PATH`.
    pub(crate) path: Vec<PathBuf>,
    /// `HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `NVCC`.
    pub(crate) nvcc: Option<PathBuf>,
}

/// The beginning of NVRTC's file names.
const NVRTC: &str = "libnvrtc.so";

/// The beginning of CUPTI's file names.
const CUPTI: &str = "libcupti.so";

/// The names of NVRTC for the loader, newest first.
const LOADER_NAMES: &[&str] = &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"];

/// The names of CUPTI for the loader, newest first.
const CUPTI_NAMES: &[&str] = &["libcupti.so.13", "libcupti.so.12", "libcupti.so"];

/// The folder of a toolkit with CUPTI, where toolkits do not have it among their libraries.
const CUPTI_FOLDER: &str = "extras/CUPTI";

/// nvcc's program.
const NVCC: &str = "nvcc";

/// Library folders of a toolkit or a wheel.
const LIBRARY_FOLDERS: &[&str] = &["", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];

impl Surroundings {
    /// Returns the places that this process's environment names.
    pub(crate) fn of_this_process() -> Surroundings {
        let folder = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Surroundings {
            toolkits: ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(folder).collect(),
            local: "/usr/local".into(),
            environments: ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder).collect(),
            path: std::env::var_os("PATH").map_or_else(Vec::new, |path| std::env::split_paths(&path).collect()),
            home: folder("HOME"),
            nvcc: folder("NVCC"),
        }
    }

    /// Returns the libraries to try, in this order: from toolkits, known to the loader, from Python
    /// packages.
    pub(crate) fn nvrtc(&self) -> Vec<PathBuf> {
        let of_toolkits = self
            .toolkit_folders()
            .into_iter()
            .flat_map(|folder| libraries_in(&folder, NVRTC));
        let of_loader = LOADER_NAMES.iter().map(PathBuf::from);
        let of_python = self
            .python_folders()
            .into_iter()
            .flat_map(|folder| libraries_of_wheels(&folder, NVRTC));
        distinct(of_toolkits.chain(of_loader).chain(of_python))
    }

    /// Returns the files to try as CUPTI, in the same order as NVRTC.
    fn cupti(&self) -> Vec<PathBuf> {
        let toolkits = self.toolkit_folders().into_iter();
        let of_toolkits = toolkits.flat_map(|toolkit| {
            let own = libraries_in(&toolkit.join(CUPTI_FOLDER), CUPTI);
            [own, libraries_in(&toolkit, CUPTI)].concat()
        });
        let of_loader = CUPTI_NAMES.iter().map(PathBuf::from);
        let of_python = self.python_folders().into_iter();
        let of_python = of_python.flat_map(|folder| libraries_of_wheels(&folder, CUPTI));
        distinct(of_toolkits.chain(of_loader).chain(of_python))
    }

    /// Returns the programs to try as nvcc, in this order: from `NVCC`, next to the user's NVRTC
    /// (`nearby`), on the path, from toolkits, from Python packages.
    pub(crate) fn nvcc(&self, nearby: &[PathBuf]) -> Vec<PathBuf> {
        let named = self.nvcc.iter().chain(nearby).cloned();
        named.chain(self.programs(NVCC)).collect()
    }

    /// Returns the programs of a name, in this order: on the path, from toolkits, from Python
    /// packages.
    pub(crate) fn programs(&self, name: &str) -> Vec<PathBuf> {
        let on_path = self.path.iter().map(|folder| folder.join(name));
        let of_toolkits = self
            .toolkit_folders()
            .into_iter()
            .map(|folder| folder.join("bin").join(name));
        let sites = self.python_folders().into_iter();
        let of_python = sites.flat_map(|site| programs_of_wheels(&site, name));
        let all = on_path.chain(of_toolkits).chain(of_python);
        all.filter(|path| path.is_file()).collect()
    }

    /// Returns the headers of installed toolkits, for a library that comes without headers.
    pub(crate) fn toolkit_headers(&self) -> Vec<PathBuf> {
        let found = self
            .toolkit_folders()
            .into_iter()
            .map(|folder| with_headers(&folder.join("include")));
        found
            .into_iter()
            .find(|folders| !folders.is_empty())
            .unwrap_or_default()
    }

    /// Returns the toolkits: first those in environment variables, then installed ones, newest
    /// first.
    pub(crate) fn toolkit_folders(&self) -> Vec<PathBuf> {
        let mut installed = entries(&self.local, |name| name == "cuda" || name.starts_with("cuda-"));
        installed.sort_by_key(|path| std::cmp::Reverse(version_of(path)));
        self.toolkits.iter().cloned().chain(installed).collect()
    }

    /// Returns the folders of installed Python packages.
    fn python_folders(&self) -> Vec<PathBuf> {
        let programs = self.path.iter().map(|folder| folder.join("python3"));
        let prefixes = programs
            .filter(|program| program.is_file())
            .filter_map(|program| Some(program.parent()?.parent()?.to_owned()));
        let mut roots: Vec<PathBuf> = self.environments.iter().cloned().chain(prefixes).collect();
        roots.extend(self.home.iter().map(|home| home.join(".local")));
        roots.push(self.local.clone());
        let versions = roots
            .iter()
            .flat_map(|root| entries(&root.join("lib"), |name| name.starts_with("python3")));
        let folders = versions.flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name)));
        distinct(folders.filter(|folder| folder.is_dir()))
    }
}

/// Returns the files to try as CUPTI on this machine.
pub(crate) fn cupti_libraries() -> Vec<PathBuf> {
    Surroundings::of_this_process().cupti()
}

/// Returns the libraries that a path of `--nvrtc` may mean: the file itself, or libraries in the
/// folder, at the usual places of toolkits and wheels.
pub(crate) fn named(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return [libraries_in(path, NVRTC), libraries_of_wheels(path, NVRTC)].concat();
    }
    if path.is_file() {
        vec![std::path::absolute(path).unwrap_or_else(|_| path.to_owned())]
    } else {
        Vec::new()
    }
}

/// Returns the programs that a path of `--nvcc` may mean: the file itself, or programs in the
/// folder, at the usual places of toolkits and wheels.
pub(crate) fn named_nvcc(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        programs_below(path, NVCC)
    } else {
        vec![path.to_owned()]
    }
}

/// Returns the programs of a name in a folder, at the usual places of toolkits and wheels.
fn programs_below(folder: &Path, name: &str) -> Vec<PathBuf> {
    let places = [folder.join(name), folder.join("bin").join(name)];
    let all = places.into_iter().chain(programs_of_wheels(folder, name));
    all.filter(|program| program.is_file()).collect()
}

/// Returns the nvcc of the same toolkit or Python packages as the NVRTC of `--nvrtc`.
pub(crate) fn nvcc_next_to(nvrtc: &Path) -> Vec<PathBuf> {
    program_next_to(NVCC, nvrtc)
}

/// Returns the programs of a name in the same toolkit or Python packages as a compiler that the
/// user named.
pub(crate) fn program_next_to(name: &str, compiler: &Path) -> Vec<PathBuf> {
    // `nvidia/cu13/lib/libnvrtc.so.13` is three folders deep in Python packages, and one or two in
    // a toolkit.
    let folders = compiler.ancestors().take(4).filter(|folder| folder.is_dir());
    distinct(folders.flat_map(|folder| programs_below(folder, name)))
}

fn programs_of_wheels(site: &Path, name: &str) -> Vec<PathBuf> {
    let mut wheels = entries(&site.join("nvidia"), |name| name.starts_with("cu"));
    wheels.sort_by_key(|path| std::cmp::Reverse(version_of(path)));
    wheels.into_iter().map(|wheel| wheel.join("bin").join(name)).collect()
}

fn libraries_in(toolkit: &Path, name: &str) -> Vec<PathBuf> {
    let folders = LIBRARY_FOLDERS.iter().map(|folder| toolkit.join(folder));
    folders
        .flat_map(|folder| {
            let mut libraries = entries(&folder, |file| file.starts_with(name));
            // The shortest name is the link that programs use.
            libraries.sort_by_key(|path| path.as_os_str().len());
            libraries.truncate(1);
            libraries
        })
        .collect()
}

/// Returns the libraries in wheels, such as `nvidia/cu13/lib` and `nvidia/cuda_nvrtc/lib`, newest
/// first.
fn libraries_of_wheels(site: &Path, name: &str) -> Vec<PathBuf> {
    let mut wheels = entries(&site.join("nvidia"), |name| name.starts_with("cu"));
    wheels.sort_by_key(|path| std::cmp::Reverse(version_of(path)));
    wheels.iter().flat_map(|wheel| libraries_in(wheel, name)).collect()
}

/// Returns the header folders that belong to a library.
pub(crate) fn headers_of(library: &Path) -> Vec<PathBuf> {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    let roots = [library, &real]
        .into_iter()
        .filter_map(|library| library.parent()?.parent());
    distinct(roots.flat_map(|root| {
        // The wheels of CUDA 12 are sibling folders, each with its own headers.
        let nearby = if root.join("include/cuda_runtime.h").is_file() {
            &[][..]
        } else {
            &["cuda_runtime", "cuda_nvcc", "cuda_cccl"]
        };
        let nearby = nearby.iter().map(|wheel| root.with_file_name(wheel));
        let roots = [root.to_owned()].into_iter().chain(nearby);
        roots
            .flat_map(|root| with_headers(&root.join("include")))
            .collect::<Vec<_>>()
    }))
}

/// Removes duplicates and keeps the order.
fn distinct(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Returns a folder if it has CUDA headers, and the folder of CUDA's C++ library inside it.
/// `/usr/include` is excluded: it has the C library's headers, which GPU compilers cannot compile.
fn with_headers(folder: &Path) -> Vec<PathBuf> {
    let is_cuda = [
        "cuda_runtime.h",
        "nvrtc.h",
        "crt/host_config.h",
        "cuda/std/version",
        "cccl/cuda/std/version",
    ]
    .iter()
    .any(|header| folder.join(header).is_file());
    if !is_cuda || folder.join("unistd.h").exists() {
        return Vec::new();
    }
    let nested = Some(folder.join("cccl")).filter(|folder| folder.is_dir());
    [folder.to_owned()].into_iter().chain(nested).collect()
}

/// Returns the numbers in the last part of a path: 12 and 9 for `cuda-12.9`.
fn version_of(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbers = name.split(|character: char| !character.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// Returns the entries of a folder with wanted names, sorted; none if it cannot be read.
pub(crate) fn entries(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a machine with only these files.
    fn machine(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a directory");
            std::fs::write(path, "").expect("a file");
        }
        root
    }

    fn below(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let inside = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
        paths.iter().map(inside).collect()
    }

    #[test]
    fn nvrtc_is_searched_in_toolkits_then_the_loader_then_python_packages() {
        let machine = machine(&[
            "opt/cuda/lib64/libnvrtc.so.12",
            "opt/cuda/lib64/libnvrtc.so",
            "local/cuda-12.9/lib64/libnvrtc.so",
            "local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13",
            "venv/bin/python3",
            "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
            "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        ]);
        let root = machine.path();
        let surroundings = Surroundings {
            toolkits: vec![root.join("opt/cuda")],
            local: root.join("local"),
            path: vec![root.join("nothing"), root.join("venv/bin")],
            ..Surroundings::default()
        };
        assert_eq!(
            below(root, &surroundings.nvrtc()),
            [
                "opt/cuda/lib64/libnvrtc.so",
                "local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13",
                "local/cuda-12.9/lib64/libnvrtc.so",
                "libnvrtc.so.13",
                "libnvrtc.so.12",
                "libnvrtc.so.11.2",
                "libnvrtc.so",
                "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            ]
        );
    }

    #[test]
    fn a_named_path_is_a_file_a_toolkit_or_a_folder_of_wheels() {
        let machine = machine(&[
            "a/libnvrtc.so.12",
            "b/lib64/libnvrtc.so",
            "c/nvidia/cu13/lib/libnvrtc.so.13",
        ]);
        let root = machine.path();
        let found = |path: &str| below(root, &named(&root.join(path)));
        assert_eq!(found("a/libnvrtc.so.12"), ["a/libnvrtc.so.12"]);
        assert_eq!(found("a"), ["a/libnvrtc.so.12"]);
        assert_eq!(found("b"), ["b/lib64/libnvrtc.so"]);
        assert_eq!(found("c"), ["c/nvidia/cu13/lib/libnvrtc.so.13"]);
        assert!(found("nothing").is_empty());
    }

    #[test]
    fn headers_are_found_next_to_the_library() {
        let machine = machine(&[
            "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "site/nvidia/cuda_nvrtc/include/nvrtc.h",
            "site/nvidia/cuda_runtime/include/cuda_runtime.h",
            "site/nvidia/cuda_cccl/include/cuda/std/version",
            "site/nvidia/cu13/lib/libnvrtc.so.13",
            "site/nvidia/cu13/include/cuda_runtime.h",
            "site/nvidia/cu13/include/cccl/cuda/std/version",
            "usr/lib/libnvrtc.so.12",
            "usr/include/cuda_runtime.h",
            "usr/include/unistd.h",
        ]);
        let root = machine.path();
        let found = |path: &str| below(root, &headers_of(&root.join(path)));
        assert_eq!(
            found("site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
            [
                "site/nvidia/cuda_nvrtc/include",
                "site/nvidia/cuda_runtime/include",
                "site/nvidia/cuda_cccl/include",
            ]
        );
        assert_eq!(
            found("site/nvidia/cu13/lib/libnvrtc.so.13"),
            ["site/nvidia/cu13/include", "site/nvidia/cu13/include/cccl"]
        );
        assert!(found("usr/lib/libnvrtc.so.12").is_empty());
    }

    #[test]
    fn nvcc_is_named_or_on_the_path_or_in_a_toolkit() {
        let machine = machine(&["bin/nvcc", "local/cuda/bin/nvcc"]);
        let root = machine.path();
        let mut surroundings = Surroundings {
            local: root.join("local"),
            path: vec![root.join("bin")],
            ..Surroundings::default()
        };
        assert_eq!(
            below(root, &surroundings.nvcc(&[])),
            ["bin/nvcc", "local/cuda/bin/nvcc"]
        );
        surroundings.nvcc = Some("my-nvcc".into());
        assert_eq!(
            surroundings.nvcc(&[root.join("x")])[..2],
            [PathBuf::from("my-nvcc"), root.join("x")]
        );
    }

    #[test]
    fn nvcc_is_found_next_to_the_named_nvrtc() {
        let machine = machine(&[
            "site/nvidia/cu13/lib/libnvrtc.so.13",
            "site/nvidia/cu13/bin/nvcc",
            "cuda/lib64/libnvrtc.so",
            "cuda/bin/nvcc",
        ]);
        let root = machine.path();
        for (nvrtc, nvcc) in [
            ("site", "site/nvidia/cu13/bin/nvcc"),
            ("site/nvidia/cu13/lib/libnvrtc.so.13", "site/nvidia/cu13/bin/nvcc"),
            ("cuda", "cuda/bin/nvcc"),
            ("cuda/lib64/libnvrtc.so", "cuda/bin/nvcc"),
        ] {
            assert_eq!(below(root, &nvcc_next_to(&root.join(nvrtc))), [nvcc], "{nvrtc}");
        }
        assert_eq!(below(root, &named_nvcc(&root.join("cuda/bin"))), ["cuda/bin/nvcc"]);
        assert_eq!(named_nvcc(Path::new("my-nvcc")), [Path::new("my-nvcc")]);
    }
}
