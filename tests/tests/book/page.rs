//! The code blocks of a page. A comment before a block tells the test what to do with it:
//!
//! | comment | the block |
//! |---|---|
//! | `<!-- file: PATH -->` | is the file |
//! | `<!-- append: PATH -->` | belongs at the end of the file, after an empty line |
//! | `<!-- edit: PATH -->` | is a `diff` of the file |
//! | `<!-- run: FOLDER -->`, `<!-- run: FOLDER, exit 0 or 3 -->` | has commands and their output; `[…]` stands for left-out lines |
//! | `<!-- from: FILE -->` | is an excerpt of a file of the repository |
//! | `<!-- not run: REASON -->` | cannot run here; the tool still parses its commands |
//!
//! `<!-- revert: PATH -->` has no block: it undoes the edits of a file. A block of TOML or YAML
//! needs no comment: the one is a configuration file of the tool, the other a workflow.

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::repository;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Marker {
    File(Utf8PathBuf),
    Append(Utf8PathBuf),
    Edit(Utf8PathBuf),
    Revert(Utf8PathBuf),
    Run { folder: Utf8PathBuf, exits: Vec<i32> },
    From(Utf8PathBuf),
    NotRun,
}

#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The page and the line: `README.md:12`.
    pub(crate) place: String,
    pub(crate) language: String,
    pub(crate) marker: Option<Marker>,
    pub(crate) text: String,
}

/// The README, the tutorial, the guides and the page of the CPU device.
pub(crate) fn pages() -> Vec<Utf8PathBuf> {
    let guides = repository().join("docs/guides").read_dir_utf8().expect("a folder");
    let names = guides.map(|entry| entry.expect("an entry").file_name().to_owned());
    let mut guides: Vec<Utf8PathBuf> = names.map(|name| Utf8Path::new("docs/guides").join(name)).collect();
    guides.sort();
    ["README.md".into(), "docs/tutorial.md".into()]
        .into_iter()
        .chain(guides)
        .chain(["docs/cpu-device.md".into()])
        .collect()
}

/// The blocks of a page of the repository.
///
/// # Panics
/// When a comment or a block is malformed.
pub(crate) fn blocks(page: &Utf8Path) -> Vec<Block> {
    let text = std::fs::read_to_string(repository().join(page)).expect("the page exists");
    let mut blocks = Vec::new();
    let mut marker = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let place = format!("{page}:{}", index + 1);
        if let Some(comment) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            marker = Some(parsed(comment).unwrap_or_else(|| panic!("{place}: unknown comment")));
        } else if let Some(language) = line.strip_prefix("```") {
            let content = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            blocks.push(Block {
                place,
                language: language.to_owned(),
                marker: marker.take(),
                text: content.map(|line| format!("{line}\n")).collect(),
            });
            continue;
        } else {
            assert!(line.is_empty() || marker.is_none(), "{place}: the comment has no block");
        }
        if matches!(marker, Some(Marker::Revert(_))) {
            blocks.push(Block {
                place,
                language: String::new(),
                marker: marker.take(),
                text: String::new(),
            });
        }
    }
    blocks
}

fn parsed(comment: &str) -> Option<Marker> {
    let (what, rest) = comment.split_once(": ")?;
    Some(match what {
        "file" => Marker::File(rest.into()),
        "append" => Marker::Append(rest.into()),
        "edit" => Marker::Edit(rest.into()),
        "revert" => Marker::Revert(rest.into()),
        "from" => Marker::From(rest.into()),
        "not run" => Marker::NotRun,
        "run" => {
            let (folder, exits) = rest.split_once(", exit ").unwrap_or((rest, "0"));
            let exits = exits.split(" or ").map(str::parse).collect::<Result<_, _>>().ok()?;
            Marker::Run {
                folder: folder.into(),
                exits,
            }
        }
        _ => return None,
    })
}

/// The commands of a console, each with the output below it. A command continues after a backslash
/// at the end of a line.
///
/// # Panics
/// When the first line is not a command.
pub(crate) fn commands(console: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in console.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((command, _))) if command.ends_with('\\') => command.extend(["\n", line]),
            (None, Some((_, output))) => output.extend([line, "\n"]),
            (None, None) => panic!("a console begins with a command: `{line}`"),
        }
    }
    commands
}
