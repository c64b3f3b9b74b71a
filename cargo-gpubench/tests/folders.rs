//! The folders of this crate know those below them and none above: between crates the compiler sees to it, here this test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Which folders each folder names outside of its tests.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let named = Regex::new(r"\bcrate::(?:(\w+)|\{([^;]*)\};)").expect("an expression");
    let first_words = Regex::new(r"(?m)^    (\w+)").expect("an expression");
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files_below(&sources) {
        let below = file.strip_prefix(&sources).expect("a source");
        let own = below.components().next().expect("a name").as_os_str().to_string_lossy();
        let own = own.trim_end_matches(".rs").to_owned();
        let text = fs::read_to_string(&file).expect("a text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let of_own = imports.entry(own.clone()).or_default();
        for found in named.captures_iter(code) {
            match (found.get(1), found.get(2)) {
                (Some(name), _) => drop(of_own.insert(name.as_str().to_owned())),
                (_, Some(list)) => {
                    let names = first_words.captures_iter(list.as_str());
                    of_own.extend(names.map(|name| name[1].to_owned()));
                }
                _ => {}
            }
        }
        of_own.remove(&own);
    }
    imports
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_production = |file: &PathBuf| file.extension().is_some_and(|it| it == "rs") && !file.ends_with("tests.rs");
    let below = folders.iter().flat_map(|folder| files_below(folder));
    files.into_iter().filter(is_production).chain(below).collect()
}

#[test]
fn no_folder_knows_one_that_knows_it() {
    let mut left = imports();
    assert!(
        left["broker"].contains("build") && left["cli"].contains("broker"),
        "{left:?}"
    );
    // What knows none of those that are left goes, until none is left or those that are form a circle.
    loop {
        let names: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, known| known.iter().any(|name| names.contains(name)));
        if left.len() == before {
            break;
        }
    }
    assert!(left.is_empty(), "these folders form a circle: {left:?}");
}
