//! The configuration: settings from files, and their precedence.
//!
//! A [`ConfigFile`] has profiles. [`ConfigFile::profile`] returns a profile with everything it
//! inherits. Settings of the whole run are texts with a position; clap's value parsers read them.
//! Settings that may differ between cases are [`CaseSettings`], and [`CaseLayers`] has their
//! precedence. A [`Row`] declares a setting. [`Values`] has the final values of a command.

mod case_settings;
mod count;
mod criteria;
mod error;
mod file;
mod fraction;
mod layers;
mod line;
mod metrics;
mod modes;
mod owner;
mod profile;
mod switch;
mod table;
mod time_budget;
mod time_limit;
mod value;
mod values;

pub use case_settings::{CaseSettings, CompleteSettings, InvalidSetting, SamplesCross};
pub(crate) use case_settings::{NoiseArguments, SamplingArguments};
pub use count::{CallCount, Count, InvalidCount, SampleCount, ThreadCount, WorkerCount};
pub use criteria::{Denied, LeastGrade, UnknownWord};
pub use error::{ConfigError, ConfigWarning, Ineffective};
pub use file::{ConfigFile, DEFAULT_FILE, default_location, folder_with_configuration};
pub use fraction::{Fraction, InvalidFraction};
pub use layers::{CaseLayers, CaseNames, CaseOverride};
pub use line::ConfigLine;
pub use metrics::{InvalidMetrics, Metrics};
pub use modes::{InvalidModes, Modes};
pub use owner::ForeignFile;
pub(crate) use owner::require_own;
pub use profile::{DEFAULT_PROFILE, Profile, Setting};
pub use switch::{InvalidSwitch, Switch};
pub(crate) use table::settings;
pub use table::{Group, Row, Scope};
pub use time_budget::{InvalidTimeBudget, TimeBudget};
pub use time_limit::{InvalidTimeLimit, TimeLimit};
pub use value::ConfigValue;
pub use values::{LayeredValue, Read, Source, Value, Values};
