//! The crate of the readme can be written as it says, and runs as it shows.

use camino::Utf8Path;
use gpubench_tests::{Fixture, Run, repository};
use regex::Regex;

/// Does what a marked block says: writes or extends a file of the crate, or runs the command and
/// finds as many cases as are shown.
fn follow(folder: &Utf8Path, what: &str, path: &str, block: &str) {
    let file = folder.join(path);
    match what {
        "file" => std::fs::write(file, block).expect("a file"),
        "append" => {
            let before = std::fs::read_to_string(&file).expect("a file");
            std::fs::write(file, before + block).expect("a file");
        }
        _ => {
            let shown = Regex::new(r"\n(\d+ passed, 0 failed, 0 skipped) in").expect("a pattern");
            let summary = &shown.captures(block).expect("a summary")[1];
            let fixture = Fixture::made_in(folder);
            let finished = Run::on(&fixture)
                .args(["--test", "--device", "cpu"])
                .finish()
                .expect_code(0);
            assert!(finished.stdout.contains(summary), "{}", finished.stdout);
        }
    }
}

#[test]
fn the_crate_of_the_readme_runs_as_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("a path");
    std::fs::create_dir(folder.join("src")).expect("a folder");
    // What `cargo new` and `cargo add` leave.
    let manifest = format!(
        "[package]\nname = \"row-sums\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ngpubench-runtime = {{ path = \"{}\" }}\n",
        repository().join("gpubench-runtime")
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    let readme = std::fs::read_to_string(repository().join("README.md")).expect("the readme");
    let marked = Regex::new(r"(?s)<!-- (file|append|run): row-sums/?(\S*) -->\n```\w+\n(.*?)```\n").expect("a pattern");
    let mut runs = 0;
    for block in marked.captures_iter(&readme) {
        runs += usize::from(&block[1] == "run");
        follow(folder, &block[1], &block[2], &block[3]);
    }
    assert_eq!(runs, 2);
}
