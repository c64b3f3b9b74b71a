//! Configuration: what is said in files about how cases are measured, and which of several sayings
//! counts.
//!
//! A [`ConfigFile`] holds profiles; [`ConfigFile::profile`] is what one of them says, inheritance
//! included. What it says of the run as a whole is text with a place, for the command line's own
//! grammar to read; what may differ from case to case is [`CaseSettings`], and [`CaseLayers`]
//! decides between those. [`Row`] is what is declared of a setting, and [`Values`] what all of them
//! are in the end.

mod case_settings;
mod count;
mod criteria;
mod error;
mod file;
mod fraction;
mod layers;
mod line;
mod profile;
mod table;
mod time_limit;
mod value;
mod values;

pub use case_settings::{CaseSettings, CompleteSettings, InvalidSetting, SamplesCross};
pub(crate) use case_settings::{NoiseArguments, SamplingArguments};
pub use count::{Count, InvalidCount, SampleCount, ThreadCount, WorkerCount};
pub use criteria::{Denied, LeastGrade, UnknownWord};
pub use error::{ConfigError, ConfigWarning, Ineffective};
pub use file::{ConfigFile, DEFAULT_FILE, default_location, folder_with_configuration};
pub use fraction::{Fraction, InvalidFraction};
pub use layers::{CaseLayers, CaseNames, CaseOverride};
pub use line::ConfigLine;
pub use profile::{DEFAULT_PROFILE, Profile, Setting};
pub(crate) use table::settings;
pub use table::{Group, Row, Scope};
pub use time_limit::{InvalidTimeLimit, TimeLimit};
pub use value::ConfigValue;
pub use values::{LayeredValue, Read, Source, Value, Values};
