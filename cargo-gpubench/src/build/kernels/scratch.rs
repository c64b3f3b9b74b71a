//! The directory a source is compiled in.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use gpubench::catalog::Source;
use gpubench_harness::shim::SHIM;

use super::error::KernelBuildError;

/// Name of the generated file that includes the source and exports its kernels.
pub(super) const UNIT: &str = "gpubench_unit.cpp";

const PREFIX: &str = ".kernel-";
/// After this time, a directory belongs to a compilation that was killed.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// A directory with the shim, the source under its own relative paths, and room for what the compiler makes. Removed when dropped.
pub(super) struct Scratch {
    directory: tempfile::TempDir,
    /// The crate's root inside the directory; deeper where paths climb out of the crate.
    root: PathBuf,
}

impl Scratch {
    pub(super) fn new(parent: &Path, source: &Source, names: &[String]) -> Result<Scratch, KernelBuildError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| KernelBuildError::Io { action, path, source }
        };
        fs_err::create_dir_all(parent).map_err(failed("create", parent))?;
        remove_leftovers(parent);
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(parent)
            .map_err(failed("create", parent))?;
        let climbs = source
            .files
            .iter()
            .map(|file| climb(&file.path))
            .collect::<Result<Vec<_>, _>>()?;
        let depth = climbs.into_iter().max().unwrap_or(0);
        let root = directory
            .path()
            .join("root")
            .join(PathBuf::from_iter(std::iter::repeat_n("up", depth)));
        let scratch = Scratch { directory, root };
        let write = |path: PathBuf, text: &str| write_below(&path, text).map_err(failed("write", &path));
        for (path, text) in SHIM {
            write(scratch.shim().join(path), text)?;
        }
        for file in &source.files {
            write(scratch.root.join(&file.path), &file.text)?;
        }
        write(scratch.root.join(UNIT), &unit(source, names))?;
        Ok(scratch)
    }

    /// Where the compiler runs: paths in its messages are then relative to the crate's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The shim's include directory.
    pub(super) fn shim(&self) -> PathBuf {
        self.directory.path().join("shim")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what compilations that were killed have left. A cache that cannot be read is reported by what follows.
fn remove_leftovers(parent: &Path) {
    let Ok(entries) = fs_err::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let age = entry
            .metadata()
            .and_then(|data| data.modified())
            .ok()
            .and_then(|time| time.elapsed().ok());
        if ours && age.is_some_and(|age| age > ABANDONED_AFTER) {
            // Another process may remove it at the same time.
            let _ = fs_err::remove_dir_all(entry.path());
        }
    }
}

/// The generated translation unit: prelude, source, exports. What is wrong with a name is reported in a file called as [`name_place`] says,
/// on its own line; all else that the unit adds is in [`UNIT`].
fn unit(source: &Source, names: &[String]) -> String {
    let main = source.files.first().map_or("", |file| file.path.as_str());
    let prelude = format!("#include \"gpubench/cuda.h\"\n#include \"{main}\"\n");
    let export = |(number, name): (usize, &String)| {
        format!(
            "#line 1 \"{}\"\nstatic constexpr auto gb_function_n{number} = ({name});\n\
             static_assert(gb_is_kernel<decltype(gb_function_n{number})>, \"a kernel is a function that returns void\");\n\
             #line 1 \"{UNIT}\"\nGB_EXPORT_AS(n{number}, {name:?}, gb_function_n{number})\n",
            name_place(&name.escape_default().to_string())
        )
    };
    let exports: String = names.iter().enumerate().map(export).collect();
    let descriptors: Vec<String> = (0..names.len()).map(|number| format!("&gb_kernel_n{number}")).collect();
    // Without a kernel the unit only tells whether the source itself compiles.
    let module = match descriptors.is_empty() {
        true => String::new(),
        false => format!("GB_MODULE({})\n", descriptors.join(", ")),
    };
    format!("{prelude}{exports}{module}")
}

/// What stands for a file in messages about a name expression.
pub(super) fn name_place(name: &str) -> String {
    format!("kernel `{name}`")
}

/// How many directories above its start a path reaches at most.
fn climb(path: &str) -> Result<usize, KernelBuildError> {
    let refuse = || KernelBuildError::Path { path: path.to_owned() };
    let mut depth = 0isize;
    let mut highest = 0isize;
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(refuse()),
        }
        highest = highest.min(depth);
    }
    if path.is_empty() || path.contains(['"', '\n', '\\']) || highest < -64 {
        return Err(refuse());
    }
    Ok(highest.unsigned_abs())
}

fn write_below(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs_err::create_dir_all(parent)?;
    }
    fs_err::write(path, text)
}
