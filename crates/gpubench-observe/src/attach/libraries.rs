//! Files of the driver.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use gpubench_bpf::Within;
use gpubench_contract::ProbePayer;

use crate::cuda::{Recognised, Traps};

/// A file of the driver whose functions are probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// Where it was found, perhaps through `/proc`.
    pub path: PathBuf,
    /// How its functions were recognised.
    pub recognised: Recognised,
    /// Where its calls trap into the kernel.
    pub traps: Traps,
    /// Whose calls do.
    pub within: Within,
}

impl Driver {
    /// Returns whose calls trap.
    pub(crate) fn payer(&self) -> ProbePayer {
        match self.within {
            Within::AllProcesses => ProbePayer::EveryProcess,
            Within::Process(_) => ProbePayer::OneProcess,
        }
    }
}

/// Which file it is, whatever its path.
pub(super) type Inode = (u64, u64);

pub(super) fn inode(path: &Path) -> Option<Inode> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Whether a file is the driver, by its name: `libcuda.so.1` leads to `libcuda.so.580.159.04`.
pub(super) fn is_driver(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.starts_with(b"libcuda.so")
}

const NAME: &str = "libcuda.so.1";
const CACHE: &str = "/etc/ld.so.cache";

/// Where the GPU operator of Kubernetes mounts the root of its driver container.
const OPERATOR: &str = "/run/nvidia/driver";

/// Folders that loaders search without being told, or that drivers are put into.
const FOLDERS: [&str; 12] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/cuda/compat",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
];

/// Returns where a program may find the driver. `search` is its `LD_LIBRARY_PATH`.
pub(super) fn installed(search: Option<&OsStr>) -> BTreeSet<PathBuf> {
    installed_below(search, Path::new(OPERATOR))
}

/// The same, where another folder has the root of the driver container.
fn installed_below(search: Option<&OsStr>, operator: &Path) -> BTreeSet<PathBuf> {
    let search = search.map(|search| std::env::split_paths(search).collect::<Vec<_>>());
    let own = FOLDERS.map(PathBuf::from);
    let of_operator = FOLDERS.map(|folder| operator.join(folder.trim_start_matches('/')));
    let folders = search.unwrap_or_default().into_iter().chain(own).chain(of_operator);
    let cached = cached(&std::fs::read(CACHE).unwrap_or_default());
    let candidates = folders.map(|folder| folder.join(NAME)).chain(cached);
    candidates.filter(|path| path.exists()).collect()
}

/// Returns the paths of drivers in the loader's cache, where each text ends with a zero.
fn cached(cache: &[u8]) -> Vec<PathBuf> {
    let texts = cache.split(|byte| *byte == 0);
    let paths = texts.map(|text| Path::new(OsStr::from_bytes(text)));
    paths
        .filter(|path| path.is_absolute() && path.file_name() == Some(OsStr::new(NAME)))
        .map(Path::to_owned)
        .collect()
}

/// Bytes that are read of what a process has mapped.
const MOST_MAPS: u64 = 64 << 20;
/// Mappings of drivers of one process.
const MOST_DRIVERS: usize = 16;

/// Returns the files of the driver that a process has mapped, through paths that lead to them from
/// here, whatever the process's root is and even where they were removed.
pub(super) fn mapped_by(pid: u32) -> BTreeSet<PathBuf> {
    let Ok(maps) = File::open(format!("/proc/{pid}/maps")) else {
        return BTreeSet::new();
    };
    let lines = BufReader::new(maps.take(MOST_MAPS)).split(b'\n').map_while(Result::ok);
    let drivers = lines.filter_map(|line| mapped_driver(pid, &line));
    drivers.take(MOST_DRIVERS).collect()
}

/// Returns the path to the driver's file in a line of `/proc/PID/maps`.
fn mapped_driver(pid: u32, line: &[u8]) -> Option<PathBuf> {
    let start = line.iter().position(|byte| *byte == b'/')?;
    let path = Path::new(OsStr::from_bytes(&line[start..]));
    if !is_driver(path) {
        return None;
    }
    let range = std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
    let file = PathBuf::from(format!("/proc/{pid}/map_files/{range}"));
    Some(if file.exists() { file } else { below_root(pid, path) })
}

/// Returns the path to a file that a process calls `path`.
pub(super) fn below_root(pid: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_told_by_their_names() {
        assert!(is_driver(Path::new("/usr/lib/libcuda.so.1")));
        assert!(is_driver(Path::new("/opt/x/libcuda.so.580.159.04 (deleted)")));
        assert!(!is_driver(Path::new("/usr/lib/libcudart.so.13")));
        assert!(!is_driver(Path::new("/usr/lib/libcudadebugger.so.1")));
    }

    #[test]
    fn the_driver_of_the_gpu_operator_is_found_below_the_root_of_its_container() {
        let operator = tempfile::tempdir().unwrap();
        let folder = operator.path().join("usr/lib/x86_64-linux-gnu");
        let driver = folder.join(NAME);
        let found = || installed_below(None, operator.path()).contains(&driver);
        assert!(!found());
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("libcuda.so.580.1", &driver).unwrap();
        assert!(!found(), "the link leads nowhere");
        std::fs::write(folder.join("libcuda.so.580.1"), "").unwrap();
        assert!(found());
    }

    #[test]
    fn drivers_in_the_loaders_cache_are_found() {
        let cache = b"glibc-ld.so.cache1.1\0libcuda.so.1\0/opt/driver/libcuda.so.1\0libcuda.so\0/opt/libcuda.so\0";
        assert_eq!(cached(cache), [PathBuf::from("/opt/driver/libcuda.so.1")]);
    }

    #[test]
    fn a_mapped_driver_is_reached_through_the_processs_own_root() {
        let line = b"7f00-7f01 r-xp 00000000 08:01 42   /usr/lib/libcuda.so.1";
        let expected = PathBuf::from("/proc/4294967295/root/usr/lib/libcuda.so.1");
        assert_eq!(mapped_driver(u32::MAX, line), Some(expected));
    }
}
