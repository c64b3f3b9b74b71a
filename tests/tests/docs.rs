//! The documents name only files that exist.

use gpubench_tests::repository;
use regex::Regex;

/// Documents that name source files.
const DOCUMENTS: [&str; 8] = [
    "CONTRIBUTING.md",
    "docs/cpu-device.md",
    "docs/gpu-kernels.md",
    "docs/observation.md",
    "docs/protocol.md",
    "docs/statistics.md",
    "docs/stored-runs.md",
    "docs/threat-model.md",
];

/// Whether a path looks like one of the repository, or begins with the short name of a crate, as
/// `measure/clients/log.rs` does.
fn exists(path: &str) -> bool {
    let root = repository();
    let of_a_crate = path
        .split_once('/')
        .map(|(short, rest)| root.join(format!("crates/gpubench-{short}/src/{rest}")));
    let in_crates = path
        .split_once('/')
        .map(|(name, rest)| root.join(format!("crates/{name}/{rest}")));
    root.join(path).exists()
        || of_a_crate.is_some_and(|path| path.exists())
        || in_crates.is_some_and(|path| path.exists())
}

#[test]
fn every_source_file_named_in_a_document_exists() {
    let named = Regex::new(r"`([\w-]+/[\w/.-]*(?:\.rs|/))`").expect("a pattern");
    let mut missing = Vec::new();
    let mut found = 0;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(repository().join(document)).expect("the document is there");
        for path in named.captures_iter(&text).map(|found| found[1].to_owned()) {
            // Build outputs may not exist yet.
            if path.starts_with("target/") {
                continue;
            }
            found += 1;
            if !exists(&path) {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(found > 50, "{found}");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_introduction_names_every_guide() {
    let introduction = std::fs::read_to_string(repository().join("docs/introduction.md")).expect("the page is there");
    let guides = std::fs::read_dir(repository().join("docs/guides")).expect("the guides are there");
    let names = guides.map(|guide| guide.expect("an entry").file_name());
    let missing: Vec<_> = names
        .filter(|name| !introduction.contains(&format!("](guides/{})", name.display())))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The book cannot link to measurements, which are not part of it, so it names their files.
#[test]
fn every_measurement_named_in_the_book_exists() {
    let named = Regex::new(r"`(measurements/[\w/.-]*)`").expect("a pattern");
    let mut missing = Vec::new();
    let mut found = 0;
    for folder in ["docs", "docs/guides"] {
        let pages = std::fs::read_dir(repository().join(folder)).expect("the book is there");
        for page in pages.map(|entry| entry.expect("an entry").path()) {
            if page.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&page).expect("the page is there");
            for path in named.captures_iter(&text).map(|found| found[1].to_owned()) {
                found += 1;
                if !repository().join(&path).exists() {
                    missing.push(format!("{}: {path}", page.display()));
                }
            }
        }
    }
    assert!(found > 10, "{found}");
    assert!(missing.is_empty(), "{missing:#?}");
}
