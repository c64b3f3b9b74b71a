//! Processes added up by the name of their program, for what must not have pids.

use super::Activity;

/// The name of a program whose executable is not known.
const UNKNOWN: &str = "unknown";
/// The name of the programs beyond the limit.
const OTHER: &str = "other";

/// What all processes of a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The file name of its executable.
    pub name: String,
    /// What its processes did, those that ended included.
    pub activity: Activity,
}

/// The programs, in the order in which they were first seen. A program keeps its row.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    programs: Vec<Program>,
}

impl Programs {
    /// Returns the programs.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter()
    }

    /// Returns the place of a program. Up to `limit` names have their own; a last one is for the
    /// others.
    pub(super) fn place_of(&mut self, name: Option<&str>, limit: usize) -> usize {
        let wanted = name.unwrap_or(UNKNOWN);
        let position = |programs: &[Program], name: &str| programs.iter().position(|program| program.name == name);
        if let Some(place) = position(&self.programs, wanted) {
            return place;
        }
        let name = if self.programs.len() < limit { wanted } else { OTHER };
        position(&self.programs, name).unwrap_or_else(|| {
            self.programs.push(Program {
                name: name.to_owned(),
                activity: Activity::default(),
            });
            self.programs.len() - 1
        })
    }

    pub(super) fn at(&mut self, place: usize) -> &mut Activity {
        &mut self.programs[place].activity
    }
}
