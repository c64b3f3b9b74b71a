//! Pages of metrics from a ledger.

use super::Page;
use super::families::families;
use super::family::Families;
use super::labels::Values;
use crate::Timestamp;
use crate::ledger::{KernelKey, Ledger};
use crate::sample::Totals;

/// The most kernels with their own row.
const KERNELS: usize = 200;

/// The values that labels have until the end.
#[derive(Clone, Debug)]
pub(super) struct KnownLabels {
    pub(super) kernels: Values<KernelKey>,
}

/// Makes pages of metrics. It remembers which kernel has which label.
#[derive(Clone, Debug)]
pub struct Exporter {
    known: KnownLabels,
}

impl Default for Exporter {
    fn default() -> Self {
        Self {
            known: KnownLabels {
                kernels: Values::at_most(KERNELS),
            },
        }
    }
}

impl Exporter {
    /// Returns the metrics now.
    pub fn page(&mut self, ledger: &Ledger, totals: &Totals, now: Timestamp) -> Page {
        Page::from_families(self.families(ledger, totals, now))
    }

    pub(super) fn families(&mut self, ledger: &Ledger, totals: &Totals, now: Timestamp) -> Families {
        families(ledger, totals, now, &mut self.known)
    }
}
