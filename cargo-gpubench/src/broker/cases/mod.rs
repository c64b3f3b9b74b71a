//! From the catalogs of crates to the ordered list of a run's cases.
//!
//! The values of a benchmark's axes, as the device and the command line define them, multiply out
//! to cases. A case name has all values: `path::width=1024,height=4096`. The full form starts with
//! the package. Filters select by name, and a listed name selects exactly one case.

mod axis_override;
mod case;
mod error;
mod expansion;
mod filter;
mod partition;
pub(super) mod run_names;
mod selection;
mod shown_by;

pub use axis_override::{AxisOverride, InvalidAxisOverride};
pub(crate) use case::full_names;
pub(super) use case::value_in_record;
pub use case::{Case, Disposition, Naming, names, value_text};
pub use error::{CaseError, EmptyReason};
pub(super) use expansion::{axes_on, combinations};
pub use filter::{IgnoredSelection, NameFilter, NamePattern, SkipOrigin};
pub use partition::{InvalidPartition, Partition};
pub(super) use selection::MOST_CASES;
pub(crate) use selection::selection_warnings;
pub use selection::{CaseDevice, CaseSelection, LibraryCatalog, SelectedPart, select_cases};
pub use shown_by::ShownBy;
