//! Configuration: what is said in files about how cases are measured, and which of several sayings counts.
//!
//! A [`ConfigFile`] holds profiles; [`ConfigFile::profile`] is what one of them says, inheritance included. What it says of the run as a whole is text
//! with a place, for the command line's own grammar to read; what may differ from case to case is [`CaseSettings`], and [`CaseLayers`] decides
//! between those.

mod case_settings;
mod error;
mod file;
mod fraction;
mod layers;
mod percent;
mod place;
mod profile;
mod sample_count;
mod time_limit;
mod value;
mod worker_count;

pub use case_settings::{CaseSettings, CompleteSettings, InvalidSetting, SamplesCross};
pub use error::{ConfigError, ConfigWarning, Ineffective};
pub use file::{ConfigFile, DEFAULT_FILE, KnownKeys, default_location, folder_with_configuration};
pub use fraction::{Fraction, InvalidFraction};
pub use layers::{CaseLayers, CaseNames, CaseOverride, IdleOverride};
pub use percent::Percent;
pub use place::Place;
pub use profile::{DEFAULT_PROFILE, Profile, Setting};
pub use sample_count::SampleCount;
pub use time_limit::{InvalidTimeLimit, TimeLimit};
pub use value::ConfigValue;
pub use worker_count::WorkerCount;
