//! Hand-made records for tests: of reports here, and of what stores, compares and shows runs.

mod comparison;
mod devices;
mod run;

pub use gpubench_store::testing::gpu;

pub use comparison::{compared_run, every_change, on_another_device};
pub use devices::{runs_on_devices, several_devices};
pub use run::{SampleRun, all_passed, competition, every_verdict, in_contests, in_two_modes, on_gpu, submitted};
