//! From what crates say about their benchmarks to the ordered list of cases of a run.
//!
//! A benchmark's axes, as the device and the command line have them, multiply out to cases. A case
//! has a name that says everything: `path::width=1024,height=4096`, with the package in front in
//! its full form. Filters choose among names; a name that was listed chooses exactly its own case.

mod axis_override;
mod case;
mod error;
mod expansion;
mod filter;
mod partition;
mod selection;

pub use axis_override::{AxisOverride, InvalidAxisOverride};
pub(crate) use case::full_names;
pub use case::{Case, Disposition, Naming, value_text, write_names};
pub use error::{CaseError, EmptyReason};
pub use filter::{IgnoredSelection, NameFilter, NamePattern};
pub use partition::{InvalidPartition, Partition};
pub use selection::{CaseDevice, CaseSelection, PackageCatalog, SelectedPart, select_cases};
