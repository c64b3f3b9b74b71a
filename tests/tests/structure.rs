//! Folders of sources import each other in one direction only.
//!
//! Cargo refuses dependency cycles between crates. Nothing refuses them inside a crate, so this
//! test reads the imports: among sibling folders, no folder may import itself through others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gpubench_tests::repository;
use regex::Regex;

/// A module's path from the crate root: `["broker", "cases", "filter"]`.
type Module = Vec<String>;

/// The folders that each folder imports from, with an importing file.
type Imports = BTreeMap<String, BTreeMap<String, PathBuf>>;

fn sources() -> Vec<PathBuf> {
    let root = repository();
    let crates = std::fs::read_dir(root.join("crates")).expect("there are crates");
    let crates = crates.map(|entry| entry.expect("it can be read").path().join("src"));
    let programs = ["cargo-gpubench/src", "gpubench-probe/src", "gpubench-serve/src"]
        .map(|path| root.join(path).into_std_path_buf());
    crates.chain(programs).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Returns the module of a file. `file` is relative to `src`.
fn module_of(file: &Path) -> Module {
    let path = file.with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module
        .last()
        .is_some_and(|name| ["mod", "lib", "main"].contains(&&**name))
    {
        module.pop();
    }
    module
}

/// Returns the modules that a file of `module` names outside of its tests.
fn named_in(text: &str, module: &Module) -> Vec<Module> {
    let production = text.split("#[cfg(test)]").next().unwrap_or_default();
    let path = Regex::new(r"\b(crate|super(?:::super)*)((?:::\w+)+)(::\{)?").expect("a pattern");
    let group = Regex::new(r"\buse crate::\{([^;]*)\};").expect("a pattern");
    let from = |start: &str| match start {
        "crate" => Vec::new(),
        supers => module[..module.len().saturating_sub(supers.split("::").count())].to_vec(),
    };
    let paths = path.captures_iter(production).map(|found| {
        let rest = found[2].split("::").filter(|name| !name.is_empty());
        from(&found[1]).into_iter().chain(rest.map(str::to_owned)).collect()
    });
    let groups = group.captures_iter(production).flat_map(|found| {
        let firsts = found[1]
            .split(',')
            .map(|item| item.trim().split("::").next().unwrap_or_default().to_owned());
        firsts.map(|first| vec![first]).collect::<Vec<_>>()
    });
    paths.chain(groups).collect()
}

/// Returns the imports between the subfolders of each folder of `sources`.
fn imports(sources: &Path) -> BTreeMap<Module, Imports> {
    let mut found: BTreeMap<Module, Imports> = BTreeMap::new();
    let files: Vec<(PathBuf, Module, String)> = files_below(sources)
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).expect("a source");
            let below = file.strip_prefix(sources).expect("it lies there").to_owned();
            (below.clone(), module_of(&below), text)
        })
        .collect();
    let only_tests = Regex::new(r"#\[cfg\((?:any\()?test.*\]\s*(?:pub(?:\([^)]*\))? )?mod (\w+);").expect("a pattern");
    let left_out: Vec<Module> = files
        .iter()
        .flat_map(|(_, module, text)| {
            let names = only_tests.captures_iter(text);
            names.map(|found| [module.clone(), vec![found[1].to_owned()]].concat())
        })
        .collect();
    for (below, module, text) in files {
        // Test modules may import the code under test.
        if left_out.iter().any(|tests| module.starts_with(tests)) {
            continue;
        }
        for named in named_in(&text, &module) {
            let shared = module
                .iter()
                .zip(&named)
                .take_while(|(one, other)| one == other)
                .count();
            let (Some(importer), Some(imported)) = (module.get(shared), named.get(shared)) else {
                continue;
            };
            let is_folder = |name: &str| sources.join(module[..shared].join("/")).join(name).is_dir();
            if is_folder(importer) && is_folder(imported) {
                let imports = found.entry(module[..shared].to_vec()).or_default();
                imports
                    .entry(importer.clone())
                    .or_default()
                    .insert(imported.clone(), below.to_owned());
            }
        }
    }
    found
}

/// Returns a cycle of imports through `folder`, with the importing files.
fn circle_through(folder: &str, imports: &Imports) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut open = vec![(folder.to_owned(), Vec::new())];
    while let Some((at, way)) = open.pop() {
        for (next, file) in imports.get(&at).into_iter().flatten() {
            let way = [way.clone(), vec![format!("{at} -> {next} ({})", file.display())]].concat();
            if next == folder {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                open.push((next.clone(), way));
            }
        }
    }
    None
}

#[test]
fn no_source_folder_imports_itself_through_others() {
    let mut circles = BTreeSet::new();
    let mut seen = 0;
    for sources in sources() {
        for (parent, imports) in imports(&sources) {
            seen += imports.len();
            let found = imports.keys().filter_map(|folder| circle_through(folder, &imports));
            circles.extend(found.map(|way| format!("{} {}: {}", sources.display(), parent.join("/"), way.join(", "))));
        }
    }
    assert!(seen > 20, "{seen} folders import from others");
    assert!(circles.is_empty(), "{circles:#?}");
}

/// The files that import each other in one direction only: the modules that import from each.
type FileImports = BTreeMap<Module, BTreeSet<Module>>;

/// Returns the paths that a use tree names: `a::{b, c::d}` names `a::b` and `a::c::d`.
fn use_paths(tree: &str) -> Vec<Module> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|name| name.trim().to_owned()).collect()];
    };
    let group = group.trim_end().trim_end_matches('}');
    let mut depth = 0;
    let parts = group.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    let prefix: Module = prefix
        .split("::")
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts
        .flat_map(|part| use_paths(part).into_iter().map(|path| [prefix.clone(), path].concat()))
        .collect()
}

/// Returns the longest known module of a path from `module` on, and what the path names in it.
fn resolved(module: &Module, path: &[String], known: &BTreeSet<Module>) -> Option<(Module, Module)> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let start = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("self") => module.clone(),
        Some("super") => module[..module.len().checked_sub(supers)?].to_vec(),
        _ => return None,
    };
    let rest = path[supers.max(1)..].to_vec();
    let whole = [start, rest].concat();
    let length = (0..=whole.len())
        .rev()
        .find(|length| known.contains(&whole[..*length]))?;
    Some((whole[..length].to_vec(), whole[length..].to_vec()))
}

/// Returns which files of a crate import from which. An import through a module that only
/// re-exports a name is one from the file that has it.
fn file_imports(sources: &Path) -> FileImports {
    let uses = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").expect("a pattern");
    let inline = Regex::new(r"\b(?:crate|super)(?:::\w+)+").expect("a pattern");
    let comment = Regex::new(r"//[^\n]*").expect("a pattern");
    let files: BTreeMap<Module, String> = files_below(sources)
        .into_iter()
        .filter(|file| !file.iter().any(|part| part == "tests" || part == "tests.rs"))
        .map(|file| {
            let text = std::fs::read_to_string(&file).expect("a source");
            let production = text.split("#[cfg(test)]").next().unwrap_or_default();
            let module = module_of(file.strip_prefix(sources).expect("it lies there"));
            (module, comment.replace_all(production, "").into_owned())
        })
        .collect();
    let known: BTreeSet<Module> = files.keys().cloned().collect();
    let mut exports: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (module, text) in &files {
        for found in uses.captures_iter(text).filter(|found| found.get(1).is_some()) {
            for path in use_paths(&found[2]) {
                let is_relative = ["crate", "super", "self"].contains(&path[0].as_str());
                let path = if is_relative {
                    path
                } else {
                    [vec!["self".to_owned()], path].concat()
                };
                let name = path.last().cloned().unwrap_or_default();
                if let Some((from, _)) = resolved(module, &path, &known).filter(|(from, _)| from != module) {
                    exports.insert((module.clone(), name), from);
                }
            }
        }
    }
    let imports_of = |(module, text): (&Module, &String)| {
        let named = uses.captures_iter(text).filter(|found| found.get(1).is_none());
        let named = named.flat_map(|found| use_paths(&found[2]));
        let inline = inline.find_iter(text).flat_map(|found| use_paths(found.as_str()));
        let targets = named.chain(inline).filter_map(|path| {
            let (from, rest) = resolved(module, &path, &known)?;
            let exported = rest.first().and_then(|name| exports.get(&(from.clone(), name.clone())));
            Some(exported.unwrap_or(&from).clone())
        });
        let targets = targets.filter(|from| from != module && !from.is_empty()).collect();
        (module.clone(), targets)
    };
    files
        .iter()
        .filter(|(module, _)| !module.is_empty())
        .map(imports_of)
        .collect()
}

/// Returns the modules from which a module imports, directly or through others.
fn reached_from(module: &Module, imports: &FileImports) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module.clone()];
    while let Some(at) = open.pop() {
        let next = imports.get(&at).into_iter().flatten();
        open.extend(next.filter(|next| reached.insert((*next).clone())).cloned());
    }
    reached
}

#[test]
fn no_file_of_the_broker_the_command_line_the_device_the_report_and_the_traces_imports_itself_through_others() {
    let root = repository();
    let crates = [
        ("cargo-gpubench", vec!["broker", "cli"], 30),
        ("crates/gpubench-device", Vec::new(), 30),
        ("crates/gpubench-report", Vec::new(), 30),
        ("crates/gpubench-trace", Vec::new(), 10),
    ];
    for (folder, rooms, fewest) in crates {
        let imports = file_imports(&root.join(folder).join("src").into_std_path_buf());
        let is_of_room = |module: &&Module| rooms.is_empty() || rooms.contains(&module[0].as_str());
        let among: FileImports = imports
            .iter()
            .filter(|(module, _)| is_of_room(module))
            .map(|(module, from)| (module.clone(), from.iter().filter(is_of_room).cloned().collect()))
            .collect();
        assert!(
            among.values().filter(|from| !from.is_empty()).count() > fewest,
            "{folder} has imports"
        );
        let circular: Vec<String> = among
            .keys()
            .filter(|module| reached_from(module, &among).contains(*module))
            .map(|module| module.join("::"))
            .collect();
        assert!(
            circular.is_empty(),
            "files of {folder} that import themselves: {circular:#?}"
        );
    }
}

#[test]
fn an_import_through_a_re_export_is_one_from_the_file() {
    let known = [vec![], vec!["a".to_owned()], vec!["a".to_owned(), "b".to_owned()]];
    let known = BTreeSet::from(known);
    let path = |text: &str| use_paths(text).concat();
    let module = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(use_paths("crate::{a::{b, c as d}, e}").len(), 3);
    assert_eq!(
        resolved(&module, &path("super::X"), &known),
        Some((vec!["a".to_owned()], vec!["X".to_owned()]))
    );
    assert_eq!(
        resolved(&module, &path("crate::a::b::X"), &known).map(|(from, _)| from),
        Some(module.clone())
    );
    assert_eq!(resolved(&module, &path("std::fmt"), &known), None);
}

#[test]
fn who_reads_records_builds_nothing_else_of_the_workspace() {
    let manifest = std::fs::read_to_string(repository().join("crates/gpubench-contract/Cargo.toml"));
    let manifest = manifest.expect("a manifest");
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("a section");
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    assert!(
        dependencies.contains("serde") && !dependencies.contains("gpubench"),
        "{dependencies}"
    );
}

#[test]
fn who_writes_kernels_builds_nothing_but_declarations_for_the_macros() {
    let manifest = std::fs::read_to_string(repository().join("crates/gpubench-declarations/Cargo.toml"));
    let manifest = manifest.expect("a manifest");
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").expect("a section");
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    assert_eq!(dependencies.trim(), "");
}
