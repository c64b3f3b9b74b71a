//! The blocks of code of a page, and what the page says of each for the tests.
//!
//! A comment in front of a block says what becomes of it:
//!
//! | comment | the block |
//! |---|---|
//! | `<!-- file: PATH -->` | is a file of the crate that the page builds |
//! | `<!-- append: PATH -->` | comes to the end of that file, after an empty line |
//! | `<!-- edit: PATH -->` | is a `diff` of that file |
//! | `<!-- run: FOLDER -->`, `<!-- run: FOLDER, exit 0 or 3 -->` | has commands, which run in that folder and print what is shown |
//! | `<!-- from: FILE -->` | is an excerpt of that file of the repository |
//! | `<!-- not run: REASON -->` | cannot run; its `cargo gpubench` lines are still parsed by the tool |
//!
//! Two comments have no block: `<!-- revert: PATH -->` takes the edits of a file back, and
//! `<!-- continues: PAGE -->` begins with the files of another page. Blocks of TOML, YAML and JSON
//! need no comment: they are parsed.

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::repository;

/// What a comment asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Marker {
    File(Utf8PathBuf),
    Append(Utf8PathBuf),
    Edit(Utf8PathBuf),
    Revert(Utf8PathBuf),
    Run { folder: Utf8PathBuf, exits: Vec<i32> },
    From(Utf8PathBuf),
    NotRun(String),
    Continues(Utf8PathBuf),
}

/// A block of code, or a comment that needs none.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The number of its first line in the page, from 1.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) marker: Option<Marker>,
    pub(crate) text: String,
}

/// A page of the repository.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) path: Utf8PathBuf,
    pub(crate) blocks: Vec<Block>,
}

impl Page {
    /// # Panics
    /// When it is not there, has a comment that means nothing or a block without an end.
    pub(crate) fn read(path: &Utf8Path) -> Page {
        let text = std::fs::read_to_string(repository().join(path)).expect("the page is there");
        Page {
            path: path.to_owned(),
            blocks: blocks(path, &text),
        }
    }

    /// Where a block is, as editors understand it.
    pub(crate) fn place(&self, block: &Block) -> String {
        format!("{}:{}", self.path, block.line)
    }
}

/// The readme, and the pages of the book that are written by hand.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths: Vec<Utf8PathBuf> = repository()
        .join("docs/guides")
        .read_dir_utf8()
        .expect("the guides are there")
        .map(|entry| entry.expect("an entry").path().to_owned())
        .filter(|path| path.extension() == Some("md"))
        .map(|path| path.strip_prefix(repository()).expect("it is in the repository").to_owned())
        .collect();
    paths.sort();
    paths.splice(0..0, ["README.md".into(), "docs/tutorial.md".into()]);
    paths.iter().map(|path| Page::read(path)).collect()
}

fn blocks(path: &Utf8Path, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut marker = None;
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let place = || format!("{path}:{}", index + 1);
        if let Some(comment) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) {
            let parsed = parsed(comment).unwrap_or_else(|| panic!("{}: `{comment}` means nothing", place()));
            if matches!(parsed, Marker::Revert(_) | Marker::Continues(_)) {
                blocks.push(block(index, "", Some(parsed), String::new()));
            } else {
                marker = Some(parsed);
            }
        } else if let Some(language) = line.trim_start().strip_prefix("```") {
            let indent = line.len() - line.trim_start().len();
            let mut content = String::new();
            loop {
                let (_, line) = lines.next().unwrap_or_else(|| panic!("{}: no end", place()));
                if line.trim_start().starts_with("```") {
                    break;
                }
                content += line.get(indent..).unwrap_or_default();
                content.push('\n');
            }
            blocks.push(block(index, language, marker.take(), content));
        } else if !line.is_empty() {
            assert_eq!(marker, None, "{}: a comment is not followed by its block", place());
        }
    }
    blocks
}

fn block(index: usize, language: &str, marker: Option<Marker>, text: String) -> Block {
    Block {
        line: index + 1,
        language: language.to_owned(),
        marker,
        text,
    }
}

fn parsed(comment: &str) -> Option<Marker> {
    let (what, rest) = comment.split_once(": ")?;
    let path = || Utf8PathBuf::from(rest);
    Some(match what {
        "file" => Marker::File(path()),
        "append" => Marker::Append(path()),
        "edit" => Marker::Edit(path()),
        "revert" => Marker::Revert(path()),
        "from" => Marker::From(path()),
        "continues" => Marker::Continues(path()),
        "not run" => Marker::NotRun(rest.to_owned()),
        "run" => {
            let (folder, exits) = rest.split_once(", exit ").unwrap_or((rest, "0"));
            Marker::Run {
                folder: folder.into(),
                exits: exits.split(" or ").map(str::parse).collect::<Result<_, _>>().ok()?,
            }
        }
        _ => return None,
    })
}
