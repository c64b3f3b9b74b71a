//! The case that is asked about, by either form of its name, and what is known of it without building
//! anything.
#![forbid(unsafe_code)]

use std::fmt::{self, Display};

use crate::closest::closest;
use crate::config::CaseNames;
use crate::store::Listing;

/// What is known of a name without building anything.
#[derive(Debug)]
pub(super) enum LookedUp {
    /// Nothing has been listed yet.
    Nowhere,
    /// There was a case of this name.
    Found {
        /// When.
        listed: String,
    },
    /// There was none.
    Absent {
        /// The name.
        case: String,
        /// The one that it may be a misspelling of.
        similar: Option<String>,
        /// When the crates were listed.
        listed: String,
    },
}

impl LookedUp {
    pub(super) fn in_listing(case: &str, listing: Option<&Listing>) -> LookedUp {
        let Some(Listing { names, written_at }) = listing else {
            return LookedUp::Nowhere;
        };
        let listed = match written_at.and_then(|time| jiff::Timestamp::try_from(time).ok()) {
            Some(time) => format!("listed {} UTC", time.strftime("%Y-%m-%d %H:%M")),
            None => "listed".to_owned(),
        };
        let within = |name: &'_ String| name.split_once("::").map(|(_, within)| within.to_owned());
        if names
            .iter()
            .any(|name| name == case || within(name).as_deref() == Some(case))
        {
            return LookedUp::Found { listed };
        }
        let both: Vec<String> = names
            .iter()
            .flat_map(|name| [Some(name.clone()), within(name)])
            .flatten()
            .collect();
        LookedUp::Absent {
            case: case.to_owned(),
            similar: closest(case, both.iter().map(String::as_str)).map(str::to_owned),
            listed,
        }
    }

    pub(super) fn remark(&self) -> String {
        match self {
            LookedUp::Nowhere => "# not looked up: whether there is such a case is known once the crate is built, to `cargo gpubench --list`\n".to_owned(),
            LookedUp::Found { listed } => format!("# among the cases that there were when the crate was last {listed}\n"),
            LookedUp::Absent { .. } => format!("# {self}\n"),
        }
    }
}

impl Display for LookedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LookedUp::Absent { case, similar, listed } = self else {
            return Ok(());
        };
        write!(f, "no case had the name `{case}` when the crate was last {listed}")?;
        match similar {
            Some(similar) => write!(f, "; `{similar}` is similar"),
            None => write!(f, "; `cargo gpubench --list` prints their names"),
        }
    }
}

/// The two forms of a case's name, of which one was given. The other follows from the packages that can have benchmarks.
#[derive(Debug)]
pub(super) struct BothForms {
    name: String,
    /// None where any of several packages may be the case's.
    full_name: Option<String>,
}

impl BothForms {
    pub(super) fn of(given: &str, packages: &[String]) -> BothForms {
        let within = |package: &String| given.strip_prefix(&**package)?.strip_prefix("::");
        match (packages.iter().find_map(within), packages) {
            (Some(name), _) => BothForms {
                name: name.to_owned(),
                full_name: Some(given.to_owned()),
            },
            (None, [package]) => BothForms {
                name: given.to_owned(),
                full_name: Some(format!("{package}::{given}")),
            },
            (None, _) => BothForms {
                name: given.to_owned(),
                full_name: None,
            },
        }
    }

    pub(super) fn names(&self) -> CaseNames<'_> {
        CaseNames {
            name: &self.name,
            full_name: self.full_name.as_ref().unwrap_or(&self.name),
        }
    }

    pub(super) fn remarks(&self) -> String {
        let Self { name, full_name } = self;
        match full_name {
            Some(full_name) => format!("# case `{name}`, with its package `{full_name}`\n"),
            None => format!(
                "# case `{name}`; its package is not known, so overrides whose filters name one may not show: give `package::case`\n"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_not_listed_is_told_with_the_closest_that_was() {
        let listing = Listing {
            names: vec!["rows::sums::n=1".to_owned(), "rows::means".to_owned()],
            written_at: Some(std::time::UNIX_EPOCH),
        };
        let told = |case: &str| LookedUp::in_listing(case, Some(&listing)).remark();
        for there in ["rows::sums::n=1", "sums::n=1"] {
            assert_eq!(
                told(there),
                "# among the cases that there were when the crate was last listed 1970-01-01 00:00 UTC\n"
            );
        }
        assert!(
            told("sums::n=2").ends_with("; `sums::n=1` is similar\n"),
            "{}",
            told("sums::n=2")
        );
        assert!(told("rows::meens").ends_with("; `rows::means` is similar\n"));
        assert!(told("???").ends_with("; `cargo gpubench --list` prints their names\n"));
    }
}
