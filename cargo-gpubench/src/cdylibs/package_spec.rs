//! Package specifications of cargo's `--package` and `--exclude`.

use std::fmt;
use std::str::FromStr;

use cargo_metadata::Package;
use cargo_metadata::semver::Version;
use glob::Pattern;
use thiserror::Error;

/// A specification of one package, or with a pattern of several: `suite`, `suite@0.1`, `kernels-*`,
/// `path+file:///…#suite@0.1.0`.
#[derive(Clone, Debug)]
pub struct PackageSpec {
    text: String,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// A shell pattern for names.
    Pattern(Pattern),
    /// The given parts of a package identifier.
    Parts {
        kind: Option<String>,
        url: Option<String>,
        name: Option<String>,
        /// The leading components of the version.
        version: Option<VersionPrefix>,
    },
}

/// The name and the version, if given.
type Named = (Option<String>, Option<VersionPrefix>);

/// The leading components of a version. A full version includes its pre-release.
#[derive(Clone, Debug, PartialEq, Eq)]
enum VersionPrefix {
    Full(Version),
    Components(Vec<u64>),
}

/// An invalid package specification.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidPackageSpec {
    /// An empty name.
    #[error("the package name is empty")]
    Empty,
    /// An invalid version.
    #[error("`{0}` is not a version")]
    Version(String),
    /// An invalid pattern.
    #[error("`{0}` is not a valid pattern: `*` matches any text, `?` one character, `[ab]` an `a` or a `b`")]
    Pattern(String),
}

impl PackageSpec {
    /// Returns whether a package matches.
    pub(super) fn fits(&self, package: &Package) -> bool {
        let has_name = |name: &str| package.name.as_str() == name;
        match &self.form {
            Form::Pattern(pattern) => pattern.matches(&package.name),
            Form::Parts {
                kind,
                url,
                name,
                version,
            } => {
                let (its_kind, its_url, _) = split_url(&package.id.repr);
                (kind.is_none() || kind.as_deref() == its_kind)
                    && url.as_deref().is_none_or(|url| url == its_url)
                    && name.as_deref().is_none_or(has_name)
                    && fits_version(version.as_ref(), &package.version)
            }
        }
    }

    /// Returns whether several packages may match.
    pub(super) fn is_pattern(&self) -> bool {
        matches!(self.form, Form::Pattern(_))
    }
}

impl fmt::Display for PackageSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PackageSpec {
    type Err = InvalidPackageSpec;

    fn from_str(text: &str) -> Result<Self, InvalidPackageSpec> {
        let form = if text.contains("://") {
            let (kind, url, fragment) = split_url(text);
            let (name, version) = fragment.map_or(Ok((None, None)), parse_fragment)?;
            Form::Parts {
                kind: kind.map(str::to_owned),
                url: Some(url.to_owned()),
                name,
                version,
            }
        } else if text.contains(['*', '?', '[', ']']) {
            Form::Pattern(Pattern::new(text).map_err(|_| InvalidPackageSpec::Pattern(text.to_owned()))?)
        } else {
            let (name, version) = parse_name(text)?;
            Form::Parts {
                kind: None,
                url: None,
                name,
                version,
            }
        };
        Ok(Self {
            text: text.to_owned(),
            form,
        })
    }
}

/// Splits `kind+url#fragment`.
fn split_url(text: &str) -> (Option<&str>, &str, Option<&str>) {
    let (address, fragment) = match text.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment)),
        None => (text, None),
    };
    let scheme_end = address.find("://").unwrap_or(address.len());
    match address[..scheme_end].find('+') {
        Some(plus) => (Some(&address[..plus]), &address[plus + 1..], fragment),
        None => (None, address, fragment),
    }
}

/// Parses `name`, `version` or `name@version`.
fn parse_fragment(fragment: &str) -> Result<Named, InvalidPackageSpec> {
    if fragment.starts_with(|c: char| c.is_ascii_digit()) {
        Ok((None, Some(fragment.parse()?)))
    } else {
        parse_name(fragment)
    }
}

/// Parses `name`, `name@version`, or `name:version` as older versions of cargo wrote it.
fn parse_name(text: &str) -> Result<Named, InvalidPackageSpec> {
    let (name, version) = match text.split_once(['@', ':']) {
        Some((name, version)) => (name, Some(version.parse()?)),
        None => (text, None),
    };
    if name.is_empty() {
        return Err(InvalidPackageSpec::Empty);
    }
    Ok((Some(name.to_owned()), version))
}

impl FromStr for VersionPrefix {
    type Err = InvalidPackageSpec;

    fn from_str(text: &str) -> Result<Self, InvalidPackageSpec> {
        if let Ok(version) = Version::parse(text) {
            return Ok(Self::Full(version));
        }
        let components: Result<Vec<u64>, _> = text.split('.').map(str::parse).collect();
        match components {
            Ok(components) if components.len() < 3 => Ok(Self::Components(components)),
            _ => Err(InvalidPackageSpec::Version(text.to_owned())),
        }
    }
}

fn fits_version(wanted: Option<&VersionPrefix>, version: &Version) -> bool {
    match wanted {
        None => true,
        Some(VersionPrefix::Full(full)) => full.cmp_precedence(version).is_eq(),
        Some(VersionPrefix::Components(components)) => {
            version.pre.is_empty()
                && components
                    .iter()
                    .zip([version.major, version.minor, version.patch])
                    .all(|(a, b)| *a == b)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cdylibs::metadata::sample::package;

    fn fits(spec: &str, name: &str) -> bool {
        spec.parse::<PackageSpec>()
            .expect("a specification")
            .fits(&package(name, json!({})))
    }

    #[test]
    fn a_name_matches_exactly() {
        assert!(fits("suite", "suite"));
        assert!(!fits("suite", "suite-two"));
        assert!(!fits("suite_two", "suite-two"));
    }

    #[test]
    fn a_version_may_be_shortened() {
        assert!(fits("suite@0.1.0", "suite"));
        assert!(fits("suite@0.1", "suite"));
        assert!(fits("suite:0", "suite"));
        assert!(!fits("suite@0.2", "suite"));
        assert!(!fits("suite@0.1.0-rc.1", "suite"));
    }

    #[test]
    fn an_identifier_matches_with_and_without_kind_and_fragment() {
        for spec in [
            "path+file:///w/suite#0.1.0",
            "path+file:///w/suite#suite@0.1.0",
            "file:///w/suite",
            "file:///w/suite#suite",
        ] {
            assert!(fits(spec, "suite"), "{spec}");
        }
        for spec in [
            "git+file:///w/suite",
            "file:///w/other",
            "file:///w/suite#0.2.0",
            "file:///w/suite#other",
        ] {
            assert!(!fits(spec, "suite"), "{spec}");
        }
    }

    #[test]
    fn a_pattern_matches_like_a_shell_pattern() {
        assert!(fits("kernel-*", "kernel-suite"));
        assert!(fits("kernel-[a-f]?", "kernel-b2"));
        assert!(fits("kernel-[!a-f]", "kernel-x"));
        assert!(!fits("kernel-[!a-f]", "kernel-b"));
        assert!(!fits("kernel.*", "kernel-suite"));
        assert!(!fits("*-suite", "kernel-suite-two"));
    }

    #[test]
    fn invalid_specifications_are_refused() {
        assert_eq!("".parse::<PackageSpec>().unwrap_err(), InvalidPackageSpec::Empty);
        assert_eq!(
            "a@one".parse::<PackageSpec>().unwrap_err(),
            InvalidPackageSpec::Version("one".to_owned())
        );
        assert_eq!(
            "a[".parse::<PackageSpec>().unwrap_err(),
            InvalidPackageSpec::Pattern("a[".to_owned())
        );
    }
}
