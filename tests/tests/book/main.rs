//! The README, the tutorial and the guides can be followed: their files build, their commands run
//! and print what the pages show. `page.rs` lists the comments that connect a page to this test.
//!
//! `GPUBENCH_UPDATE_BOOK=1` measures with the defaults and replaces outdated output in the pages,
//! except for output in which `[…]` leaves lines out.
#![forbid(unsafe_code)]

mod normal;
mod page;

use std::collections::BTreeMap;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Ending, Fixture, Run, repository, tool};
use page::{Block, Marker, blocks, commands, pages};

/// Short measurements. They are in a file because variables would change the printed commands.
const BRIEFLY: &str =
    "[profile.default]\nmin-samples = 4\nmax-samples = 4\nflush-bytes = '256KiB'\nworkers = 3\nthreads = 2\n";

fn is_update() -> bool {
    std::env::var_os("GPUBENCH_UPDATE_BOOK").is_some()
}

/// A folder in which pages are followed. `gpubench` in it is the repository.
struct Reader {
    folder: Utf8PathBuf,
    target: Utf8PathBuf,
    unedited: BTreeMap<Utf8PathBuf, String>,
    /// Output in the pages that differs, with the real output.
    outdated: Vec<(String, String)>,
}

impl Reader {
    /// The folder's path is the same in every run, so that cargo finds what it has built. It is
    /// outside the repository, because `cargo new` adds crates to a workspace around them.
    fn new() -> Reader {
        let target = Fixture::target_directory().with_file_name("pages");
        for results in ["gpubench/baselines", "gpubench/history"] {
            let _ = std::fs::remove_dir_all(target.join(results));
        }
        let key = repository()
            .as_str()
            .bytes()
            .fold(0, |key: u32, byte| key.wrapping_mul(31).wrapping_add(byte.into()));
        let folder = Utf8PathBuf::try_from(std::env::temp_dir()).expect("a path in UTF-8");
        let reader = Reader {
            folder: folder.join(format!("gpubench-pages-{key:08x}")),
            target,
            unedited: BTreeMap::new(),
            outdated: Vec::new(),
        };
        reader.begin();
        reader
    }

    /// Empties the folder.
    fn begin(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        std::fs::create_dir_all(&self.folder).expect("a folder");
        std::os::unix::fs::symlink(repository(), self.folder.join("gpubench")).expect("a link");
    }

    fn follow(&mut self, page: &Utf8Path) {
        let earlier = self.outdated.len();
        for block in blocks(page) {
            let place = &block.place;
            match block.marker {
                Some(Marker::File(path)) => self.write(&path, &block.text),
                Some(Marker::Append(path)) => self.write(&path, &format!("{}\n{}", self.read(&path), block.text)),
                Some(Marker::Edit(path)) => {
                    let before = self.read(&path);
                    self.write(&path, &edited(&before, &block.text).expect(place));
                    self.unedited.entry(path).or_insert(before);
                }
                Some(Marker::Revert(path)) => {
                    let before = self.unedited.remove(&path).expect(place);
                    self.write(&path, &before);
                }
                Some(Marker::Run { mut folder, exits }) => {
                    for (command, shown) in commands(&block.text) {
                        match command.strip_prefix("cd ") {
                            Some(name) => folder.push(name),
                            None => self.run(place, &folder, &command, &shown, &exits),
                        }
                    }
                }
                Some(Marker::From(_) | Marker::NotRun) => {}
                None if block.language == "toml" => assert_is_configuration(&block),
                None if block.language == "yaml" => {}
                None => panic!("{place}: the block has no comment"),
            }
        }
        if is_update() {
            let file = repository().join(page);
            let mut text = std::fs::read_to_string(&file).expect("the page");
            let complete = |(shown, _): &&(String, String)| !shown.contains("[…]");
            for (shown, printed) in self.outdated[earlier..].iter().filter(complete) {
                text = text.replacen(shown, printed, 1);
            }
            std::fs::write(file, text).expect("the page");
        }
    }

    fn write(&self, path: &Utf8Path, text: &str) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn read(&self, path: &Utf8Path) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn run(&mut self, place: &str, folder: &Utf8Path, command: &str, shown: &str, exits: &[i32]) {
        let folder = self.folder.join(folder);
        if folder.join("Cargo.toml").exists() {
            Fixture::made_in(&folder);
            // To find a regression takes more than short measurements.
            let config = folder.join(".config/gpubench.toml");
            if is_update() || *exits == [3] {
                let _ = std::fs::remove_file(config);
            } else {
                std::fs::create_dir_all(folder.join(".config")).expect("a folder");
                std::fs::write(config, BRIEFLY).expect("a file");
            }
        }
        let programs = tool().parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let finished = Run::of_shell(&format!("unset GPUBENCH_UPDATE_BOOK; exec 2>&1\n{command}"), &folder)
            .env("PATH", &format!("{programs}:{path}"))
            .env("CARGO_TARGET_DIR", self.target.as_str())
            // What an earlier page measured is no output of this one.
            .env("GPUBENCH_NO_LAST_RUN", "true")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A Reader")
            .env("GIT_AUTHOR_EMAIL", "reader@example.org")
            .env("GIT_COMMITTER_NAME", "A Reader")
            .env("GIT_COMMITTER_EMAIL", "reader@example.org")
            .finish();
        let printed = finished.stdout;
        let is_expected = matches!(finished.ending, Ending::Code(code) if exits.contains(&code));
        assert!(
            is_expected,
            "{place}: `{command}` ended with {:?}:\n{printed}",
            finished.ending
        );
        if !shown.is_empty() && !normal::shows(shown, &printed) {
            eprintln!("{place}: `{command}` prints:\n{printed}");
            eprintln!(
                "page:  {:?}\nprint: {:?}\n",
                normal::words(shown),
                normal::words(&printed)
            );
            self.outdated
                .push((shown.to_owned(), normal::without_progress(&printed)));
        }
    }
}

/// A file with a `diff` applied. Lines without a sign are ignored.
fn edited(text: &str, diff: &str) -> Option<String> {
    let lines_with = |sign: char| -> String {
        let lines = diff.lines().filter_map(|line| line.strip_prefix([sign, ' ']));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let (old, new) = (lines_with('-'), lines_with('+'));
    (text.matches(&old).count() == 1).then(|| text.replace(&old, &new))
}

fn assert_is_configuration(block: &Block) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gpubench.toml");
    std::fs::write(&file, &block.text).expect("a file");
    let mut command = Command::new(tool());
    command
        .args(["gpubench", "show-config", "--config-file"])
        .arg(file)
        .env_remove("GPUBENCH_UPDATE_BOOK");
    let output = command.current_dir(folder.path()).output().expect("the tool starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{}: {errors}",
        block.place
    );
}

/// The tutorial begins in an empty folder. Each guide begins with the crate that the tutorial made.
#[test]
fn the_pages_can_be_followed() {
    let mut reader = Reader::new();
    for (number, page) in pages().iter().enumerate() {
        match number {
            0 => {}
            1 => reader.begin(),
            2 => reader.run(
                "guides",
                "row-sums".into(),
                "git add --all && git commit -qm tutorial && git tag tutorial",
                "",
                &[0],
            ),
            _ => reader.run(
                "guides",
                "row-sums".into(),
                "git reset -q --hard tutorial && git clean -fdxq",
                "",
                &[0],
            ),
        }
        reader.follow(page);
    }
    std::fs::remove_dir_all(&reader.folder).expect("it is removed");
    assert!(reader.outdated.is_empty(), "output in the pages is outdated, see above");
}

#[test]
fn every_command_line_of_the_tool_is_valid() {
    let of_the_tool = regex::Regex::new(r"(?:^|[ /&])cargo[ -]gpubench( .*)?$").expect("a pattern");
    let ends = regex::Regex::new(r" (#|\||>|2>|&&|-- ).*$").expect("a pattern");
    let expression = regex::Regex::new(r"\$\{\{.*?\}\}").expect("a pattern");
    let mut valid = 0;
    for block in pages().iter().flat_map(|page| blocks(page)) {
        let lines: Vec<String> = match block.language.as_str() {
            "console" => commands(&block.text).into_iter().map(|(command, _)| command).collect(),
            "yaml" => block
                .text
                .lines()
                .filter(|line| line.contains("run: "))
                .map(str::to_owned)
                .collect(),
            _ => continue,
        };
        for line in lines {
            let line = expression.replace_all(&ends.replace(&line, ""), "1").into_owned();
            let Some(found) = of_the_tool.captures(&line) else {
                continue;
            };
            let arguments = found.get(1).map_or("", |arguments| arguments.as_str()).trim_start();
            let arguments = arguments.strip_prefix("gpubench").unwrap_or(arguments);
            let line = format!("exec \"$0\" gpubench {arguments} --help");
            let output = Command::new("sh")
                .args(["-c", &line, tool().as_str()])
                .output()
                .expect("a shell");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {line}: {errors}", block.place);
            valid += 1;
        }
    }
    assert!(valid > 4, "{valid}");
}

/// The headers of some excerpts are older than the names of the columns.
#[test]
fn excerpts_are_in_their_files() {
    for block in pages().iter().flat_map(|page| blocks(page)) {
        let Some(Marker::From(path)) = &block.marker else {
            continue;
        };
        let source = std::fs::read_to_string(repository().join(path)).expect("the file exists");
        let is_copied = |line: &&str| !line.starts_with("$ ") && !line.contains("verdict") && *line != "[…]";
        for line in block.text.lines().filter(is_copied) {
            assert!(
                source.lines().any(|other| other == line),
                "{}: `{line}` is not in {path}",
                block.place
            );
        }
    }
}
