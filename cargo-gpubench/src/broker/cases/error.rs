//! Why no list of cases can be made.

use thiserror::Error;

use super::IgnoredSelection;
use super::axis_override::InvalidAxisValue;
use gpubench_diagnostic::{ExitCode, Expected};

/// Why no list of cases can be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaseError {
    /// An `--axis` that no selected benchmark has.
    #[error("no selected benchmark has an axis `{axis}`")]
    UnknownAxis {
        /// The axis.
        axis: String,
        /// Axes that selected benchmarks have, sorted.
        known: Vec<String>,
        /// The one that was probably meant.
        closest: Option<String>,
    },
    /// An `--axis` whose value is not of the axis's kind.
    #[error("axis `{axis}` of `{benchmark}` cannot have that value")]
    AxisValue {
        /// The benchmark's path.
        benchmark: String,
        /// The axis.
        axis: String,
        /// What is wrong with the value.
        #[source]
        reason: InvalidAxisValue,
    },
    /// The axes multiply out to too much.
    #[error("the selected axes make more than {most} cases")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// Two cases cannot be told apart.
    #[error("two benchmarks are called `{name}`")]
    SameName {
        /// The full name they share.
        name: String,
    },
    /// Nothing is left to run.
    #[error("no benchmark is selected")]
    NothingSelected(EmptyReason),
}

/// Why nothing is left to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmptyReason {
    /// The crates have no benchmarks.
    NoBenchmarks {
        /// Their packages.
        packages: Vec<String>,
    },
    /// No name fits.
    NoNameFits {
        /// Of how many cases.
        of: usize,
        /// The name that was probably meant.
        closest: Option<String>,
        /// What else was probably meant.
        meant: Option<String>,
    },
    /// Names fit, and `--skip` leaves out every case that they name.
    Skipped {
        /// How many cases fit.
        fitting: usize,
    },
    /// Names fit, but what they name is ignored, or with `--ignored` is not.
    Ignored {
        /// How many names fit.
        fitting: usize,
        /// What was asked for.
        asked: IgnoredSelection,
    },
}

impl Expected for CaseError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::UnknownAxis { .. } | Self::AxisValue { .. } | Self::TooMany { .. } => ExitCode::Usage,
            Self::SameName { .. } => ExitCode::ListingFailed,
            Self::NothingSelected(_) => ExitCode::NothingSelected,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAxis {
                closest: Some(closest), ..
            } => Some(format!("did you mean `{closest}`?")),
            Self::UnknownAxis { known, .. } if known.is_empty() => Some("none of them has axes".to_owned()),
            Self::UnknownAxis { known, .. } => Some(format!("their axes are: {}", known.join(", "))),
            Self::AxisValue { .. } => Some("filters choose the benchmarks that `--axis` applies to".to_owned()),
            Self::TooMany { .. } => Some("choose fewer values with `--axis`".to_owned()),
            Self::SameName { .. } => Some("give one of them another `name`".to_owned()),
            Self::NothingSelected(because) => Some(because.remedy()),
        }
    }
}

impl EmptyReason {
    fn remedy(&self) -> String {
        match self {
            Self::NoBenchmarks { packages } => match &packages[..] {
                [package] => format!("package `{package}` has no `#[gpubench]` functions"),
                _ => "the selected packages have no `#[gpubench]` functions".to_owned(),
            },
            Self::NoNameFits {
                closest: Some(closest), ..
            } => format!("did you mean `{closest}`?"),
            Self::NoNameFits { meant: Some(meant), .. } => format!("did you mean {meant}?"),
            Self::NoNameFits { of, .. } => {
                format!("none of {of} cases fits the filters; `--list` without filters shows their names")
            }
            Self::Skipped { fitting: 1 } => "1 case fits, and `--skip` leaves it out".to_owned(),
            Self::Skipped { fitting } => format!("{fitting} cases fit, and `--skip` leaves them all out"),
            Self::Ignored {
                fitting,
                asked: IgnoredSelection::Only,
            } => {
                format!("{} not ignored; leave out `--ignored`", cases_fit(*fitting))
            }
            Self::Ignored { fitting, .. } => format!("{} ignored; add `--include-ignored`", cases_fit(*fitting)),
        }
    }
}

fn cases_fit(count: usize) -> String {
    match count {
        1 => "1 case fits but is".to_owned(),
        _ => format!("{count} cases fit but are"),
    }
}
