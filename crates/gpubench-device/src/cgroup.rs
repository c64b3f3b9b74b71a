//! What the control groups of this process say about memory: their limits, and whom they ended.

use std::path::{Path, PathBuf};

/// Where control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// Names of the files of a version of control groups.
#[derive(Debug)]
struct Version {
    limit: &'static str,
    in_use: &'static str,
    /// The line of `memory.stat` with the bytes of files that the kernel would drop first.
    droppable: &'static str,
    /// The file with the line `oom_kill`.
    events: &'static str,
}

const V1: Version = Version {
    limit: "memory.limit_in_bytes",
    in_use: "memory.usage_in_bytes",
    droppable: "total_inactive_file",
    events: "memory.oom_control",
};
const V2: Version = Version {
    limit: "memory.max",
    in_use: "memory.current",
    droppable: "inactive_file",
    events: "memory.events",
};

/// The control groups of a process that may limit its memory, innermost first.
#[derive(Debug)]
struct Groups {
    version: Version,
    folders: Vec<PathBuf>,
}

impl Groups {
    fn of_this_process() -> Option<Groups> {
        let own = fs_err::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Groups::new(Path::new(ROOT), &own)
    }

    /// Returns the groups below `root` that `own`, the text of `/proc/self/cgroup`, names. In a
    /// container the path may be that of the host. Then only the outermost folder exists.
    fn new(root: &Path, own: &str) -> Option<Groups> {
        let path_in = |wanted: &str| {
            own.lines().find_map(|line| {
                let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
                controllers.split(',').any(|name| name == wanted).then_some(path)
            })
        };
        let (version, root, path) = match path_in("memory") {
            Some(path) => (V1, root.join("memory"), path),
            None => (V2, root.to_owned(), path_in("").unwrap_or("/")),
        };
        let inner = root.join(path.trim_start_matches('/'));
        let folders = inner.ancestors().take_while(|folder| folder.starts_with(&root));
        let folders: Vec<_> = folders.filter(|folder| folder.is_dir()).map(Path::to_owned).collect();
        (!folders.is_empty()).then_some(Groups { version, folders })
    }

    /// Returns the lowest limit in bytes.
    fn limit(&self) -> Option<u64> {
        self.folders.iter().filter_map(|folder| self.limit_of(folder)).min()
    }

    /// Returns how many bytes this process can still use until a limit is reached.
    fn room(&self) -> Option<u64> {
        let room = |folder: &PathBuf| {
            let in_use = number(&folder.join(self.version.in_use))?;
            let droppable = line_of(&folder.join("memory.stat"), self.version.droppable).unwrap_or(0);
            Some(self.limit_of(folder)?.saturating_sub(in_use.saturating_sub(droppable)))
        };
        self.folders.iter().filter_map(room).min()
    }

    fn limit_of(&self, folder: &Path) -> Option<u64> {
        number(&folder.join(self.version.limit))
    }

    /// Returns how many processes of the innermost group the kernel has killed for memory.
    fn kills(&self) -> u64 {
        let innermost = self.folders.first();
        innermost.map_or(0, |folder| {
            line_of(&folder.join(self.version.events), "oom_kill").unwrap_or(0)
        })
    }
}

/// Returns the only number of a file; `None` for `max` and for files that cannot be read.
fn number(file: &Path) -> Option<u64> {
    fs_err::read_to_string(file).ok()?.trim().parse().ok()
}

fn line_of(file: &Path, name: &str) -> Option<u64> {
    let text = fs_err::read_to_string(file).ok()?;
    let mut values = text.lines().filter_map(|line| line.split_once(' '));
    values.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}

/// Returns how many bytes of memory the control groups of this process leave to it, if they limit
/// it.
pub fn memory_room() -> Option<u64> {
    Groups::of_this_process()?.room()
}

/// Watches for processes of this control group that the kernel kills because they exceed its
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryWatch {
    earlier_kills: u64,
}

impl MemoryWatch {
    /// Begins to watch.
    pub fn begin() -> MemoryWatch {
        let groups = Groups::of_this_process();
        MemoryWatch {
            earlier_kills: groups.map_or(0, |groups| groups.kills()),
        }
    }

    /// Returns the limit in bytes that a process has exceeded since then, which killed it.
    pub fn exceeded(self) -> Option<u64> {
        let groups = Groups::of_this_process()?;
        groups.limit().filter(|_| groups.kills() > self.earlier_kills)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs_err::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn the_tightest_group_of_version_2_decides() {
        let root = tree(&[
            ("pod/memory.max", "1000\n"),
            ("pod/memory.current", "700\n"),
            ("pod/memory.stat", "anon 500\ninactive_file 200\n"),
            ("pod/job/memory.max", "max\n"),
            ("pod/job/memory.current", "300\n"),
            ("pod/job/memory.events", "oom 3\noom_kill 2\n"),
        ]);
        let groups = Groups::new(root.path(), "0::/pod/job\n").expect("groups");
        assert_eq!(
            (groups.limit(), groups.room(), groups.kills()),
            (Some(1000), Some(500), 2)
        );
    }

    #[test]
    fn version_1_has_a_hierarchy_for_memory() {
        let root = tree(&[
            ("memory/job/memory.limit_in_bytes", "150\n"),
            ("memory/job/memory.usage_in_bytes", "60\n"),
            ("memory/job/memory.stat", "total_inactive_file 10\n"),
            (
                "memory/job/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
            ),
        ]);
        let groups = Groups::new(root.path(), "9:pids:/\n4:cpu,memory:/job\n0::/\n").expect("groups");
        assert_eq!(
            (groups.limit(), groups.room(), groups.kills()),
            (Some(150), Some(100), 1)
        );
    }

    #[test]
    fn a_path_of_the_host_stands_for_the_outermost_folder_of_a_container() {
        let root = tree(&[("memory.max", "4096\n"), ("memory.current", "96\n")]);
        let groups = Groups::new(root.path(), "0::/docker/c0ffee\n").expect("groups");
        assert_eq!(groups.room(), Some(4000));
    }

    #[test]
    fn without_limits_there_is_no_room_to_tell() {
        let root = tree(&[("job/memory.max", "max\n"), ("job/memory.current", "96\n")]);
        let groups = Groups::new(root.path(), "0::/job\n").expect("groups");
        assert_eq!((groups.limit(), groups.room()), (None, None));
    }
}
