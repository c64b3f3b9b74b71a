//! From a prepared case to one that can be measured.

use std::path::PathBuf;

use super::cases::Case;
use super::recording::preparation::PreparedCase;
use super::selected::Selected;
use gpubench_contract::Method;
use gpubench_device::Facts;
use gpubench_measure::measurement::{CaseLibrary, ReadyCase};
use gpubench_measure::verdict::floor_ns;

/// What both sides of a case have in common.
pub(super) struct Ground<'g> {
    pub(super) number: u64,
    pub(super) annotation: Option<&'g str>,
    pub(super) facts: &'g Facts,
    pub(super) method: Method,
    pub(super) flush_bytes: u64,
}

impl<'g> Ground<'g> {
    /// A case as one side has it.
    pub(super) fn ready(
        &self,
        selected: &Selected<'g>,
        case: &Case,
        prepared: &'g PreparedCase,
        search: &'g [PathBuf],
    ) -> ReadyCase<'g> {
        let PreparedCase {
            recorded,
            modules,
            own_modules,
        } = prepared;
        ReadyCase {
            number: self.number,
            benchmark: case.benchmark as u32,
            request: &recorded.request,
            recording: &recorded.recording,
            encoded: &recorded.encoded,
            modules,
            library: CaseLibrary {
                files: &selected.library(case).code,
                search,
            },
            method: self.method,
            floor_ns: floor_ns(&recorded.recording, self.facts, self.method, self.flush_bytes),
            own_modules,
            annotation: self.annotation,
        }
    }
}
