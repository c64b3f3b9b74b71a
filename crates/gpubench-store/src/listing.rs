//! The cases that were listed last, for commands that build nothing.

use std::io;
use std::time::SystemTime;

use camino::Utf8Path;

use super::Home;
use crate::Replacement;
use gpubench_diagnostic::read_text_at_most;

/// Maximum size of the list in bytes. A longer list is ignored.
const LONGEST: u64 = 64 << 20;

/// The known cases of a workspace's crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Full names, in the order of the crates and their sources.
    pub names: Vec<String>,
    /// When the list was written.
    pub written_at: Option<SystemTime>,
}

impl Listing {
    /// Reads the list in a home. `None` if there is none or it cannot be read.
    pub fn remembered(home: &Home) -> Option<Listing> {
        let path = home.listing()?;
        let text = read_text_at_most(&path, LONGEST).ok()?;
        Some(Listing {
            names: text.lines().map(str::to_owned).collect(),
            written_at: path.metadata().and_then(|metadata| metadata.modified()).ok(),
        })
    }

    /// Stores the cases of some packages. The cases of other packages stay.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remember(target_directory: &Utf8Path, packages: &[String], names: &[String]) -> io::Result<()> {
        let home = Home::in_target_directory(target_directory);
        let Some(path) = home.listing() else { return Ok(()) };
        let is_of =
            |name: &String, package: &String| name.strip_prefix(&**package).is_some_and(|rest| rest.starts_with("::"));
        let known = Listing::remembered(&home)
            .map(|listing| listing.names)
            .unwrap_or_default();
        let others = known
            .iter()
            .filter(|name| !packages.iter().any(|package| is_of(name, package)));
        let lines: Vec<&str> = others.chain(names).map(String::as_str).collect();
        if lines == known {
            return Ok(());
        }
        Replacement::new(&path)?.commit((lines.join("\n") + "\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_other_packages_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = Utf8Path::from_path(folder.path()).expect("UTF-8");
        let remembered = || Listing::remembered(&Home::in_target_directory(target)).map(|listing| listing.names);
        let remember = |package: &str, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Listing::remember(target, &[package.to_owned()], &names).expect("it is written");
        };
        assert_eq!(remembered(), None);
        remember("rows", &["rows::sums::n=1", "rows::sums::n=2"]);
        remember("rows_too", &["rows_too::sums"]);
        remember("rows", &["rows::sums::n=3"]);
        assert_eq!(
            remembered(),
            Some(vec!["rows_too::sums".to_owned(), "rows::sums::n=3".to_owned()])
        );
    }
}
