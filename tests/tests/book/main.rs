//! Every block of code of the readme, the tutorial and the guides is built, run or parsed, and a
//! console shows what the tool prints.
//!
//! `GPUBENCH_UPDATE_BOOK=1` writes what is printed now into the pages, measured with the defaults;
//! a block in which `[…]` leaves lines out is for a person to bring up to date.
#![forbid(unsafe_code)]

mod console;
mod normal;
mod page;
mod sandbox;

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{repository, tool};
use page::{Block, Marker, Page, pages};
use saphyr::LoadableYamlNode;
use sandbox::Sandbox;

/// A page that is being followed.
struct Reader {
    sandbox: Sandbox,
    /// Files as they were before they were edited.
    unedited: BTreeMap<Utf8PathBuf, String>,
    /// Folders of crates whose files have changed since they were built.
    unbuilt: BTreeSet<Utf8PathBuf>,
    /// What is shown, and what was printed.
    differences: Vec<(String, String)>,
}

impl Reader {
    fn new() -> Reader {
        Reader {
            sandbox: Sandbox::new(),
            unedited: BTreeMap::new(),
            unbuilt: BTreeSet::new(),
            differences: Vec::new(),
        }
    }

    /// Does what a page says; without its commands where another page goes on from it, but for
    /// those that make a crate.
    fn follow(&mut self, page: &Page, is_continued: bool) {
        for block in &page.blocks {
            match &block.marker {
                Some(Marker::Continues(path)) => self.follow(&Page::read(path), true),
                Some(Marker::File(path)) => self.write(path, &block.text),
                Some(Marker::Append(path)) => {
                    let text = format!("{}\n{}", self.sandbox.read(path), block.text);
                    self.write(path, &text);
                }
                Some(Marker::Edit(path)) => {
                    let before = self.sandbox.read(path);
                    let after = edited(&before, &block.text).unwrap_or_else(|| panic!("{}", page.place(block)));
                    self.write(path, &after);
                    self.unedited.entry(path.clone()).or_insert(before);
                }
                Some(Marker::Revert(path)) => {
                    let before = self.unedited.remove(path).expect("it was edited");
                    self.write(path, &before);
                }
                Some(Marker::Run { folder, exits }) if !is_continued || folder == "." => {
                    self.run(page, block, folder, exits);
                }
                _ => {}
            }
        }
    }

    fn write(&mut self, path: &Utf8Path, text: &str) {
        self.sandbox.write(path, text);
        let folder = path.components().next().expect("a folder").as_str();
        self.unbuilt.insert(folder.into());
    }

    fn run(&mut self, page: &Page, block: &Block, folder: &Utf8Path, exits: &[i32]) {
        let mut folder = folder.to_owned();
        for step in console::steps(&block.text) {
            if let Some(into) = step.command.strip_prefix("cd ") {
                folder.push(into);
                continue;
            }
            let (printed, code) = self.sandbox.run(&folder, &step.command);
            let place = page.place(block);
            assert!(
                exits.contains(&code),
                "{place}: `{}` exits with {code}:\n{printed}",
                step.command
            );
            if !step.printed.is_empty() && !normal::shows(&step.printed, &printed) {
                eprintln!("{place}: `{}` prints now:\n{printed}\n", step.command);
                eprintln!("shown: {:?}\nis:    {:?}", normal::words(&step.printed), normal::words(&printed));
                self.differences.push((step.printed.clone(), printed));
            }
            if step.command.starts_with("cargo gpubench") {
                self.unbuilt.remove(&folder);
            }
        }
    }

    /// What no command of the page has built is checked.
    fn build_the_rest(&mut self) {
        for folder in std::mem::take(&mut self.unbuilt) {
            let (printed, code) = self.sandbox.run(&folder, "cargo check --quiet");
            assert_eq!(code, 0, "{folder}:\n{printed}");
        }
    }
}

/// A file after a `diff` of it, whose lines without a sign are only there for the reader.
fn edited(text: &str, diff: &str) -> Option<String> {
    let with = |sign: char| -> String {
        let lines = diff.lines().filter_map(|line| line.strip_prefix(sign));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let (old, new) = (with('-'), with('+'));
    (text.matches(&old).count() == 1).then(|| text.replace(&old, &new))
}

/// Follows a page and brings it up to date where that is asked for.
fn follow(path: &str) {
    let page = Page::read(path.into());
    let mut reader = Reader::new();
    reader.follow(&page, false);
    reader.build_the_rest();
    if std::env::var_os("GPUBENCH_UPDATE_BOOK").is_some() {
        let file = repository().join(path);
        let mut text = std::fs::read_to_string(&file).expect("the page");
        for (shown, printed) in reader.differences.drain(..).filter(|(shown, _)| !shown.contains("[…]")) {
            text = text.replacen(&shown, &normal::without_progress(&printed), 1);
        }
        std::fs::write(file, text).expect("the page");
    }
    assert!(
        reader.differences.is_empty(),
        "{path}: a console shows something else than what is printed, see above"
    );
}

#[test]
fn the_readme_can_be_followed() {
    follow("README.md");
}

#[test]
fn the_tutorial_can_be_followed() {
    follow("docs/tutorial.md");
}

#[test]
fn the_guides_can_be_followed() {
    let with_files = |page: &Page| {
        let mut markers = page.blocks.iter().filter_map(|block| block.marker.as_ref());
        markers.any(|marker| matches!(marker, Marker::File(_) | Marker::Run { .. }))
    };
    let guides = pages().into_iter().skip(2).filter(with_files);
    let paths: Vec<Utf8PathBuf> = guides.map(|page| page.path).collect();
    assert!(!paths.is_empty());
    for path in paths {
        follow(path.as_str());
    }
}

/// The blocks that nothing runs are few, and each says why.
#[test]
fn every_block_is_built_or_run_or_parsed_or_says_why_not() {
    let mut not_run = String::new();
    let mut run = 0;
    for page in pages() {
        for block in &page.blocks {
            let is_data = ["toml", "yaml", "json"].contains(&block.language.as_str());
            match &block.marker {
                Some(Marker::NotRun(reason)) => {
                    let first = block.text.lines().next().unwrap_or_default();
                    not_run += &format!("{}: {reason}: {first}\n", page.path);
                }
                Some(_) => run += 1,
                None if is_data => run += 1,
                None => panic!("{}: nothing is said about a block of {}", page.place(block), block.language),
            }
        }
    }
    insta::assert_snapshot!(format!("{run} blocks are built, run or parsed\n\n{not_run}"));
}

/// Whether the tool understands the words that come after `cargo gpubench`.
fn understands(arguments: &[String]) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    // What comes after `--` is not an option of the tool.
    let own = arguments.iter().take_while(|word| *word != "--");
    let output = std::process::Command::new(tool())
        .arg("gpubench")
        .args(own)
        .arg("--help")
        .current_dir(folder.path())
        .output()
        .expect("the tool starts");
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The command lines of the tool in lines for a shell.
fn of_the_tool(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for words in console::commands(line) {
        // Variables come in front of a command.
        let words: Vec<String> = words.into_iter().skip_while(|word| word.contains('=')).collect();
        let is_tool = matches!(&words[..], [program, verb, ..] if verb == "gpubench"
            && (program == "cargo" || program.ends_with("cargo-gpubench")));
        if is_tool {
            found.push(words[2..].to_vec());
        }
    }
    found
}

#[test]
fn every_command_line_that_a_page_shows_is_understood() {
    let mut wrong = String::new();
    let mut understood = 0;
    for page in pages() {
        for block in &page.blocks {
            let lines: Vec<String> = match block.language.as_str() {
                "console" => console::steps(&block.text).into_iter().map(|step| step.command).collect(),
                "yaml" => commands_of_jobs(&block.text),
                _ => continue,
            };
            for arguments in lines.iter().flat_map(|line| of_the_tool(line)) {
                match understands(&arguments) {
                    Ok(()) => understood += 1,
                    Err(error) => wrong += &format!("{}: {arguments:?}: {error}\n", page.place(block)),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(understood > 30, "{understood}");
}

/// What the steps of a workflow run.
fn commands_of_jobs(text: &str) -> Vec<String> {
    fn collect(node: &saphyr::Yaml, into: &mut Vec<String>) {
        if let Some(mapping) = node.as_mapping() {
            for (key, value) in mapping {
                match (key.as_str(), value.as_str()) {
                    (Some("run"), Some(line)) => into.push(line.to_owned()),
                    _ => collect(value, into),
                }
            }
        } else if let Some(sequence) = node.as_sequence() {
            for value in sequence {
                collect(value, into);
            }
        }
    }
    let mut commands = Vec::new();
    for document in saphyr::Yaml::load_from_str(text).expect("YAML") {
        collect(&document, &mut commands);
    }
    // GitHub puts its own expressions in before a shell sees the line.
    let expression = regex::Regex::new(r"\$\{\{.*?\}\}").expect("a pattern");
    commands.iter().map(|line| expression.replace_all(line, "1").into_owned()).collect()
}

#[test]
fn data_can_be_parsed() {
    for page in pages() {
        for block in &page.blocks {
            let place = page.place(block);
            match block.language.as_str() {
                "toml" => {
                    let table: toml::Table = block.text.parse().unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert!(!table.is_empty(), "{place}");
                }
                "json" => {
                    for line in block.text.lines() {
                        serde_json::from_str::<serde_json::Value>(line)
                            .unwrap_or_else(|error| panic!("{place}: {error}"));
                    }
                }
                "yaml" => {
                    saphyr::Yaml::load_from_str(&block.text).unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                _ => {}
            }
        }
    }
}

/// A profile in a page is one that the tool takes without a warning.
#[test]
fn profiles_are_configurations() {
    let mut profiles = 0;
    for page in pages() {
        let is_configuration = |block: &&Block| block.language == "toml" && block.text.contains("[profile.");
        for block in page.blocks.iter().filter(is_configuration) {
            if block.text.contains("[profile.gpubench]") {
                continue;
            }
            let folder = tempfile::tempdir().expect("a folder");
            let file = Utf8Path::from_path(folder.path()).expect("a path").join("gpubench.toml");
            std::fs::write(&file, &block.text).expect("a file");
            let output = std::process::Command::new(tool())
                .args(["gpubench", "show-config", "--config-file", file.as_str()])
                .current_dir(folder.path())
                .output()
                .expect("the tool starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{}: {said}", page.place(block));
            profiles += 1;
        }
    }
    assert!(profiles > 0);
}

/// The titles of the columns have changed since some excerpts were made; the rows are as they were.
#[test]
fn excerpts_are_in_the_files_they_come_from() {
    let mut excerpts = 0;
    for page in pages() {
        for block in &page.blocks {
            let Some(Marker::From(path)) = &block.marker else {
                continue;
            };
            excerpts += 1;
            let source = std::fs::read_to_string(repository().join(path)).expect("the file is there");
            let source: BTreeSet<&str> = source.lines().map(str::trim_end).collect();
            let is_shown = |line: &&str| !line.starts_with("$ ") && !line.contains("verdict") && *line != "[…]";
            for line in block.text.lines().filter(is_shown) {
                assert!(source.contains(line.trim_end()), "{}: `{line}` is not in {path}", page.place(block));
            }
        }
    }
    assert!(excerpts > 0);
}
