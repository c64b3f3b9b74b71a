//! The names of submissions in a run.

use std::collections::{BTreeMap, HashSet};

use gpubench::catalog::ReferenceKind;

use super::error::GradingError;
use crate::broker::options::{Rival, SubmissionPlace};
use gpubench_diagnostic::closest;
use gpubench_submission::Name;

/// Returns the name of a submission that cannot be read: as if it had no description.
pub(super) fn name_of(place: &SubmissionPlace) -> String {
    let Some(path) = place.path() else {
        return "submission".to_owned();
    };
    let file = path.file_name().unwrap_or(path.as_str());
    let endings = [
        ".tar.gz", ".tgz", ".tar", ".cu", ".ptx", ".cubin", ".fatbin", ".so", ".json",
    ];
    let stem = endings.iter().find_map(|ending| file.strip_suffix(ending));
    let name = Name::new(stem.filter(|stem| !stem.is_empty()).unwrap_or(file));
    name.map_or_else(|_| "submission".to_owned(), |name| name.to_string())
}

/// Returns the name, with a number if another submission has it.
pub(super) fn unused(wanted: String, names: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{wanted} ({number})"));
    let name = std::iter::once(wanted.clone())
        .chain(numbered)
        .find(|name| names.insert(name.clone()));
    name.unwrap_or(wanted)
}

/// Checks that no two solutions have one name, by which traces tell them apart. `solutions` has the
/// name of each, if it is known, and its file.
pub(super) fn check_solutions<'s>(
    solutions: impl Iterator<Item = (Option<&'s str>, &'s str)>,
) -> Result<(), GradingError> {
    let mut places: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, place) in solutions {
        let Some(name) = name else { continue };
        if let Some(first) = places.insert(name, place) {
            return Err(GradingError::SameSolution {
                name: name.to_owned(),
                first: first.to_owned(),
                second: place.to_owned(),
            });
        }
    }
    Ok(())
}

/// Checks that exactly one submission has the name of the one that the others are compared with.
pub(super) fn check_rival(over: &str, names: &[String]) -> Result<(), GradingError> {
    match names.iter().filter(|name| *name == over).count() {
        1 if names.len() == 1 => Err(GradingError::OnlyRival { name: over.to_owned() }),
        1 => Ok(()),
        0 => Err(GradingError::UnknownRival {
            name: over.to_owned(),
            closest: closest(over, names.iter().map(String::as_str)).map(str::to_owned),
        }),
        _ => Err(GradingError::SeveralRivals { name: over.to_owned() }),
    }
}

/// Checks that the reference of a problem can be measured, and that no submission has its name.
pub(super) fn check_reference(reference: ReferenceKind, names: &[String]) -> Result<(), GradingError> {
    match reference {
        ReferenceKind::Launches if names.iter().any(|name| name == Rival::REFERENCE) => {
            Err(GradingError::CalledReference)
        }
        ReferenceKind::Launches => Ok(()),
        ReferenceKind::Function => Err(GradingError::ReferenceOnCpu),
        ReferenceKind::Command => Err(GradingError::ReferenceIsCommand),
    }
}
