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
    let programs = ["cargo-gpubench/src", "gpubench-probe/src"].map(|path| root.join(path).into_std_path_buf());
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
