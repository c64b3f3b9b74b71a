//! What is wrong in a document that is JSON and has the right fields.

use std::fmt;

use gpubench_diagnostic::printable_line;

/// Most bytes of a name.
const MOST_NAME_BYTES: usize = 512;

/// Most letters of a text that a message shows.
const MOST_SHOWN: usize = 60;

/// A step to a value inside another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The way to a value: `inputs.A.shape[1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(pub(super) Vec<Step>);

impl Path {
    pub(crate) fn key(key: &str) -> Path {
        Path::default().then(key)
    }

    pub(crate) fn then(mut self, key: &str) -> Path {
        self.0.push(Step::Key(key.to_owned()));
        self
    }

    pub(crate) fn at(mut self, index: usize) -> Path {
        self.0.push(Step::Index(index));
        self
    }

    /// Returns the way that goes this one first, then `rest`.
    fn before(mut self, rest: Path) -> Path {
        self.0.extend(rest.0);
        self
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    let dot = if position == 0 { "" } else { "." };
                    write!(f, "{dot}{}", shown(key))?;
                }
            }
        }
        Ok(())
    }
}

/// A value that breaks a rule of the format.
#[derive(Debug)]
pub(crate) struct Fault {
    path: Path,
    what: String,
}

impl Fault {
    pub(crate) fn new(path: Path, what: impl Into<String>) -> Fault {
        let what = what.into();
        Fault { path, what }
    }

    pub(crate) const fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The same fault of a document that has this one as the value of a field.
    pub(crate) fn below(self, key: &str) -> Fault {
        let path = Path::key(key).before(self.path);
        Fault { path, ..self }
    }
}

/// A document whose rules go beyond the types of its fields.
pub(crate) trait Checked {
    fn check(&self) -> Result<(), Fault>;
}

/// Returns the beginning of a text, safe to print.
pub(crate) fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(MOST_SHOWN).collect();
    let more = if beginning.len() < text.len() { "..." } else { "" };
    format!("{}{more}", printable_line(&beginning))
}

/// Checks a name: not empty, not too long, and without control characters, which a terminal would
/// obey.
pub(crate) fn name(path: Path, text: &str) -> Result<(), Fault> {
    if text.is_empty() {
        return Err(Fault::new(path, "it is empty"));
    }
    if text.len() > MOST_NAME_BYTES {
        return Err(Fault::new(
            path,
            format!("it has {} bytes; the limit is {MOST_NAME_BYTES}", text.len()),
        ));
    }
    match text.chars().find(|letter| letter.is_control()) {
        Some(letter) => Err(Fault::new(
            path,
            format!("it has the control character U+{:04X}", u32::from(letter)),
        )),
        None => Ok(()),
    }
}
