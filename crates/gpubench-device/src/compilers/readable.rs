//! What a compiler reads besides the system's folders: its toolkit, and what the environment names.

use std::path::{Path, PathBuf};

use crate::toolkits::Surroundings;

/// Folders of an installation. The installation may be a home folder, or `~/.local`, which has
/// other things, too.
const PARTS: [&str; 14] = [
    "bin", "crt", "extras", "include", "lib", "lib32", "lib64", "libexec", "nvvm", "sysroot", "targets", "Cellar",
    "opt", "usr",
];

/// Environment variables with lists of folders that compilers and the loader search.
const LISTS: [&str; 6] = [
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "COMPILER_PATH",
];

/// Folders in which nothing is a toolkit.
const OF_THE_KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Folders in which toolkits may be, with everything else.
const OF_EVERYBODY: [&str; 7] = ["/", "/etc", "/home", "/root", "/run", "/tmp", "/var"];

/// The files that a compiler may need.
#[derive(Clone, Debug, Default)]
pub(super) struct Readable(Vec<PathBuf>);

impl Readable {
    /// Returns what a program may need: its installation, those on the path and in the environment,
    /// and installed toolkits.
    pub(super) fn by(program: &Path) -> Readable {
        let surroundings = Surroundings::of_this_process();
        let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        let programs = [program, &real]
            .into_iter()
            .filter_map(Path::parent)
            .map(Path::to_owned);
        let installations = programs.chain(surroundings.path.iter().cloned());
        let installations = installations.flat_map(|folder| installation_of(&folder));
        let environments = surroundings.environments.iter().flat_map(|folder| parts_of(folder));
        let lists = LISTS.iter().filter_map(std::env::var_os);
        let lists = lists.flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
        let all = installations
            .chain(environments)
            .chain(lists)
            .chain(surroundings.toolkit_folders())
            .chain([real.clone()]);
        Readable::default().and(all)
    }

    /// Adds folders and files. Leaves out those that no compiler comes with.
    pub(super) fn and(mut self, others: impl IntoIterator<Item = PathBuf>) -> Readable {
        for path in others.into_iter().filter(|path| path.is_absolute()) {
            let Ok(real) = path.canonicalize() else { continue };
            let is_of_the_system = OF_THE_KERNEL.iter().any(|folder| real.starts_with(folder));
            let has_everything = OF_EVERYBODY.iter().any(|folder| real == Path::new(folder));
            if !is_of_the_system && !has_everything && !self.0.contains(&real) {
                self.0.push(real);
            }
        }
        self
    }

    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.0
    }
}

/// Returns the parts of the installation of a folder of programs.
fn installation_of(programs: &Path) -> Vec<PathBuf> {
    let mut parts = vec![programs.to_owned()];
    if let Some(root) = programs.parent() {
        parts.extend(parts_of(root));
        // The wheels of CUDA 12 are sibling folders.
        parts.extend(
            root.parent()
                .filter(|site| site.ends_with("nvidia"))
                .map(Path::to_owned),
        );
    }
    parts
}

fn parts_of(root: &Path) -> Vec<PathBuf> {
    // Conda has the C library of a target in a folder like `x86_64-conda-linux-gnu`.
    let of_targets = crate::toolkits::entries(root, |name| name.contains("-linux-gnu"));
    PARTS.iter().map(|part| root.join(part)).chain(of_targets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_in_a_home_folder_does_not_open_the_folder() {
        let home = tempfile::tempdir().expect("a directory");
        for folder in [
            "bin",
            "lib",
            ".ssh",
            "share",
            "x86_64-conda-linux-gnu",
            "nvidia/cuda_nvcc/bin",
        ] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a directory");
        }
        let program = home.path().join("bin/c++");
        std::fs::write(&program, "").expect("a file");
        let readable = Readable::by(&program).and(["relative".into(), home.path().join("missing")]);
        let opens = |name: &str| {
            let path = home.path().join(name);
            readable.paths().iter().any(|open| path.starts_with(open))
        };
        assert!(opens("bin/c++") && opens("lib/x") && opens("x86_64-conda-linux-gnu/x"));
        assert!(!opens(".ssh/id") && !opens("share/x") && !opens("missing"));
        let of_wheels = Readable::by(&home.path().join("nvidia/cuda_nvcc/bin/nvcc"));
        assert!(of_wheels.paths().contains(&home.path().join("nvidia")));
        let none = ["/", "/etc", "/proc/self", "/tmp"].map(PathBuf::from);
        assert!(Readable::default().and(none).paths().is_empty());
    }
}
