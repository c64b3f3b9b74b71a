//! The name of a case, in both forms, without building anything.

use crate::config::CaseNames;
use gpubench_diagnostic::closest;
use gpubench_store::Listing;

/// Returns a remark on the case from the latest listing, or a warning if the listing lacks the
/// case.
pub(super) fn looked_up(case: &str, listing: Option<&Listing>) -> Result<String, String> {
    let Some(Listing { names, written_at }) = listing else {
        let command = "`cargo gpubench --list`";
        return Ok(format!(
            "the name is not checked, because there is no listing yet (hint: {command} builds the crate and lists its cases)"
        ));
    };
    let listed = match written_at.and_then(|time| jiff::Timestamp::try_from(time).ok()) {
        Some(time) => format!(", of {} UTC", time.strftime("%Y-%m-%d %H:%M")),
        None => String::new(),
    };
    let within = |name: &'_ String| name.split_once("::").map(|(_, within)| within.to_owned());
    let both = names.iter().flat_map(|name| [Some(name.clone()), within(name)]);
    let both: Vec<String> = both.flatten().collect();
    if both.iter().any(|name| name == case) {
        return Ok(format!("in the latest listing{listed}"));
    }
    let similar = match closest(case, both.iter().map(String::as_str)) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => "`cargo gpubench --list` prints the names".to_owned(),
    };
    Err(format!(
        "no case is named `{case}` in the latest listing{listed} (hint: {similar})"
    ))
}

/// Both forms of a case's name. The packages with benchmarks decide the form that was not given.
#[derive(Debug)]
pub(super) struct BothForms {
    name: String,
    /// Nothing if several packages are possible.
    full_name: Option<String>,
}

impl BothForms {
    pub(super) fn new(given: &str, packages: &[String]) -> BothForms {
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
                "# case `{name}`, with an unknown package: overrides whose filters name a package may be missing (hint: write `package::case`)\n"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unlisted_name_has_the_closest_listed_name_as_a_hint() {
        let listing = Listing {
            names: vec!["rows::sums::n=1".to_owned(), "rows::means".to_owned()],
            written_at: Some(std::time::UNIX_EPOCH),
        };
        let remark = |case: &str| looked_up(case, Some(&listing)).unwrap_or_else(|warning| warning);
        for there in ["rows::sums::n=1", "sums::n=1"] {
            assert_eq!(remark(there), "in the latest listing, of 1970-01-01 00:00 UTC");
        }
        assert!(
            remark("sums::n=2").ends_with(" (hint: did you mean `sums::n=1`?)"),
            "{}",
            remark("sums::n=2")
        );
        assert!(remark("rows::meens").ends_with(" (hint: did you mean `rows::means`?)"));
        assert!(remark("???").ends_with(" (hint: `cargo gpubench --list` prints the names)"));
    }
}
