//! Pages of metrics from a ledger.

use super::Page;
use super::families::families;
use super::family::Families;
use super::kernel_rows::KernelRows;
use crate::Timestamp;
use crate::ledger::Ledger;
use crate::sample::Totals;

/// Makes pages of metrics. It remembers which kernels have a row.
#[derive(Clone, Debug, Default)]
pub struct Exporter {
    kernels: KernelRows,
}

impl Exporter {
    /// Returns the metrics now.
    pub fn page(&mut self, ledger: &Ledger, totals: &Totals, now: Timestamp) -> Page {
        Page::from_families(self.families(ledger, totals, now))
    }

    pub(super) fn families(&mut self, ledger: &Ledger, totals: &Totals, now: Timestamp) -> Families {
        self.kernels.update(ledger, now);
        families(ledger, totals, now, &self.kernels)
    }
}
