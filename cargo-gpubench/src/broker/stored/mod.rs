//! What a run's results are compared with and where they are stored, and results of earlier runs.

pub(super) mod baseline;
pub(super) mod baseline_error;
pub(super) mod bookkeeping;
pub(super) mod fences;
pub(super) mod histories;
pub(super) mod loaded_run;
pub(super) mod noise_floors;
pub(super) mod saving;
pub(super) mod stored_cases;
pub(super) mod stored_run;
