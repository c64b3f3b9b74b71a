//! The record types of `cargo gpubench`: runs, cases, comparisons, histories and observations.
//!
//! Each [`Record`] is one line of JSON. `report` shows records, `store` saves them, and `compare`
//! makes records from two stored runs. All three depend on this crate, and it depends on none of
//! them.
#![forbid(unsafe_code)]

mod arithmetic;
mod audit;
mod comparison;
mod contest;
mod counts;
mod device_kind;
mod device_matrix;
mod element;
mod function_change;
mod gpu_environment;
mod grading;
mod history;
mod identity;
mod kernel;
mod machine_code;
mod measurement;
mod metric;
mod mode;
mod observed;
mod outcome;
mod params;
mod parts;
mod probe;
mod probe_outline;
mod probe_process;
mod reading;
mod record;
mod renamed;
mod revision;
mod sanitizer;
pub mod units;
mod words;

pub use arithmetic::ArithmeticPeaks;
pub use audit::{AuditedKernel, AuditedSystemCall, CallAudit};
pub use comparison::*;
pub use contest::*;
pub use counts::*;
pub use device_kind::*;
pub use device_matrix::*;
pub use element::*;
pub use function_change::FunctionChange;
pub use gpu_environment::*;
pub use grading::*;
pub use history::*;
pub use identity::DeviceIdentity;
pub use kernel::*;
pub use machine_code::*;
pub use measurement::*;
pub use metric::*;
pub use mode::{CacheState, CacheTreatment, Launching, Mode};
pub use observed::{
    Ability, AuditAnswer, AuditRequest, MissingAbility, ObservedCall, ObservedKernel, ObservedSystemCall, ObservedWork,
    ProbeAbilities, Refusal,
};
pub use outcome::*;
pub use params::*;
pub use parts::{DeviceWork, PartTimes, Sharing, StepTimes};
pub use probe::*;
pub use probe_outline::*;
pub use probe_process::*;
pub use reading::{CaseKey, Reading, Readings, ResultKey, ResultKeys};
pub use record::*;
pub use renamed::{RENAMED, renamed};
pub use revision::*;
pub use sanitizer::*;
