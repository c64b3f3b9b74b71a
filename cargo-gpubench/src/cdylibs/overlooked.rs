//! Files with benchmarks that the tool does not build.

use std::io::Read;

use camino::Utf8Path;
use cargo_metadata::{CrateType, Package, Target, TargetKind};
use gpubench_diagnostic::{open_regular, printable_line};

/// Most bytes of a file to search for the runtime's name.
const MOST_BYTES: u64 = 1 << 20;

/// A file that names the runtime but is not built as a cdylib.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlooked {
    /// Name of its target.
    name: String,
    /// The file, below the package's folder.
    file: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// An example of these types.
    Example(Vec<String>),
    /// A file of `cargo bench` or `cargo test`.
    Harness,
}

impl Overlooked {
    /// Returns the first such file: an example if there is one.
    pub(super) fn in_package(package: &Package) -> Option<Overlooked> {
        let root = package.manifest_path.parent()?;
        let of = |kind: Kind, target: &Target| {
            names_runtime(&target.src_path).then(|| Overlooked {
                name: target.name.clone(),
                file: target
                    .src_path
                    .strip_prefix(root)
                    .unwrap_or(&target.src_path)
                    .to_string(),
                kind,
            })
        };
        let targets_of = |kind: TargetKind| {
            let targets = package.targets.iter();
            targets
                .filter(move |target| target.kind.contains(&kind) && !target.crate_types.contains(&CrateType::CDyLib))
        };
        let types = |target: &Target| target.crate_types.iter().map(ToString::to_string).collect();
        targets_of(TargetKind::Example)
            .find_map(|target| of(Kind::Example(types(target)), target))
            .or_else(|| {
                let mut others = targets_of(TargetKind::Bench).chain(targets_of(TargetKind::Test));
                others.find_map(|target| of(Kind::Harness, target))
            })
    }

    /// Says what to do with the file, or with a new one.
    pub(super) fn remedy(overlooked: Option<&Overlooked>) -> String {
        let in_manifest = |name: &str| {
            format!(
                "write in `Cargo.toml`: `[[example]]`, `name = \"{}\"`, `crate-type = [\"cdylib\"]`",
                printable_line(name)
            )
        };
        let Some(Overlooked { name, file, kind }) = overlooked else {
            return format!("put the benchmarks in `examples/gpu.rs`, and {}", in_manifest("gpu"));
        };
        let (file, in_manifest) = (printable_line(file), in_manifest(name));
        match kind {
            Kind::Example(types) if *types == ["bin"] => format!("`{file}` is built as a program; {in_manifest}"),
            Kind::Example(types) => {
                let types = printable_line(&format!("{types:?}"));
                format!("`{file}` has `crate-type = {types}`; {in_manifest}")
            }
            Kind::Harness => format!("move `{file}` to `examples`, and {in_manifest}"),
        }
    }
}

fn names_runtime(file: &Utf8Path) -> bool {
    let mut bytes = Vec::new();
    let read = open_regular(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.is_ok_and(|_| String::from_utf8_lossy(&bytes).contains("gpubench"))
}
