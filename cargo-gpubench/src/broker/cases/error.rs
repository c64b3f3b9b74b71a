//! Errors in the selection of cases.

use gpubench::catalog::PartOfGroup;
use thiserror::Error;

use super::axis_override::InvalidAxisValue;
use super::{IgnoredSelection, ShownBy};
use gpubench_contract::units::counted;
use gpubench_diagnostic::{ExitCode, Expected};

/// An error in the selection of cases.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaseError {
    /// No selected benchmark has the axis of an `--axis`.
    #[error("no selected benchmark has an axis `{axis}`")]
    UnknownAxis {
        /// The axis.
        axis: String,
        /// Axes of the selected benchmarks, sorted.
        known: Vec<String>,
        /// The axis that the user probably meant.
        closest: Option<String>,
    },
    /// A value of `--axis` has the wrong type for its axis.
    #[error("invalid value for axis `{axis}` of `{benchmark}`")]
    AxisValue {
        /// The benchmark's path.
        benchmark: String,
        /// The axis.
        axis: String,
        /// What is wrong with the value.
        #[source]
        reason: InvalidAxisValue,
    },
    /// `--axis` has values for a part of a group of axes only.
    #[error("`{benchmark}`: {part}")]
    PartOfGroup {
        /// The benchmark's path.
        benchmark: String,
        /// The group.
        part: PartOfGroup,
    },
    /// The axes of a benchmark multiply out to too many cases, those of benchmarks before included.
    #[error("with the axis values of `{benchmark}` there are more than {most} cases")]
    TooMany {
        /// The benchmark's path.
        benchmark: String,
        /// The limit.
        most: usize,
    },
    /// Two cases have the same name.
    #[error("two cases are called `{name}`")]
    SameName {
        /// Their full name.
        name: String,
    },
    /// No case is selected.
    #[error("no case is selected")]
    NothingSelected(EmptyReason),
}

/// Why no case is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmptyReason {
    /// The crates have no benchmarks.
    NoBenchmarks {
        /// Their packages.
        packages: Vec<String>,
        /// The number of their problems, for kernels elsewhere.
        problems: usize,
    },
    /// No name matches.
    NoNameFits {
        /// Number of cases.
        of: usize,
        /// The name that the user probably meant.
        closest: Option<String>,
        /// Something else that the user probably meant.
        meant: Option<String>,
        /// What shows the names.
        shown_by: ShownBy,
    },
    /// Names match, but `--skip` excludes all of them.
    Skipped {
        /// Number of matching cases.
        fitting: usize,
    },
    /// Names match, but their benchmarks are ignored, or with `--ignored` are not.
    Ignored {
        /// Number of matching names.
        fitting: usize,
        /// The requested selection.
        asked: IgnoredSelection,
    },
}

impl Expected for CaseError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::UnknownAxis { .. } | Self::AxisValue { .. } | Self::PartOfGroup { .. } | Self::TooMany { .. } => {
                ExitCode::Usage
            }
            Self::SameName { .. } => ExitCode::ListingFailed,
            Self::NothingSelected(_) => ExitCode::NothingSelected,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAxis {
                closest: Some(closest), ..
            } => Some(format!("did you mean `{closest}`?")),
            Self::UnknownAxis { known, .. } if known.is_empty() => {
                Some("the selected benchmarks have no axes".to_owned())
            }
            Self::UnknownAxis { known, .. } => Some(format!("their axes are: {}", known.join(", "))),
            Self::AxisValue { axis, reason, .. } => Some(reason.hint(axis).unwrap_or_else(|| {
                "change the value, or leave out this benchmark with a filter or `--skip`".to_owned()
            })),
            Self::PartOfGroup { part, .. } => {
                let options: Vec<_> = part.kept.iter().map(|name| format!("`--axis {name}=..`")).collect();
                let given = part.group.iter().find(|name| !part.kept.contains(name));
                let given = given.map_or("n", String::as_str);
                Some(format!(
                    "add {}, or choose among the cases with a filter such as `{given}=1`",
                    options.join(" and ")
                ))
            }
            Self::TooMany { .. } => Some(
                "choose fewer values with `--axis`, or leave out this benchmark with a filter or `--skip`".to_owned(),
            ),
            Self::SameName { .. } => Some("give one of the two benchmarks a different `name`".to_owned()),
            Self::NothingSelected(because) => Some(because.remedy()),
        }
    }
}

impl EmptyReason {
    fn remedy(&self) -> String {
        match self {
            Self::NoBenchmarks { packages, problems } => {
                let lack = match &packages[..] {
                    [package] => format!("package `{package}` has no `#[gpubench]` functions"),
                    _ => "the selected packages have no `#[gpubench]` functions".to_owned(),
                };
                match problems {
                    0 => lack,
                    _ => format!(
                        "{lack}, but {}, which kernels elsewhere solve: `cargo gpubench problem list` shows them",
                        counted(*problems, "problem")
                    ),
                }
            }
            Self::NoNameFits {
                closest: Some(closest), ..
            } => format!("did you mean `{closest}`?"),
            Self::NoNameFits { meant: Some(meant), .. } => format!("did you mean {meant}?"),
            Self::NoNameFits { of, shown_by, .. } => {
                format!("none of {} matches the filters; {shown_by}", counted(*of, "case"))
            }
            Self::Skipped { fitting: 1 } => "1 case matches, but `--skip` excludes it".to_owned(),
            Self::Skipped { fitting } => format!("{fitting} cases match, but `--skip` excludes all of them"),
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
        1 => "1 case matches but is".to_owned(),
        _ => format!("{count} cases match but are"),
    }
}
