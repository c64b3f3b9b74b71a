//! What commands have computed for the earlier modes of a case.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{ComputedSets, Wanted};
use gpubench_protocol::window::Numbering;

/// The sets of a case's earlier measurements, by the number of the case. Window numbers go on from
/// one measurement to the next, so only the sets are the same.
#[derive(Debug, Default)]
pub struct EarlierSets(BTreeMap<u64, Earlier>);

#[derive(Debug, Default)]
struct Earlier {
    next: Numbering,
    computed: Option<Rc<ComputedSets>>,
    /// Those of the mode that is measured. If it is measured a second time, it gets others.
    latest: Option<Rc<ComputedSets>>,
}

impl EarlierSets {
    /// Returns the first window numbers of a case's next measurement.
    pub(in super::super) fn numbering(&self, case: u64) -> Numbering {
        self.0.get(&case).map(|earlier| earlier.next).unwrap_or_default()
    }

    /// Notes which window numbers a mode of a case has left. `None` if nobody knows, since its
    /// measurement failed.
    pub(in super::super) fn note(&mut self, case: u64, next: Option<Numbering>) {
        let earlier = self.0.entry(case).or_default();
        earlier.next = next.unwrap_or_else(|| earlier.next.after_failure());
        earlier.computed = earlier.latest.take().or_else(|| earlier.computed.take());
    }

    /// Keeps what a command has computed for later modes.
    pub(super) fn keep(&mut self, case: u64, computed: &Rc<ComputedSets>) {
        self.0.entry(case).or_default().latest = Some(Rc::clone(computed));
    }

    /// Returns the sets of an earlier mode of a case that can be used for the first measurement of
    /// another mode, whose opening is `opening`.
    pub(super) fn serving(&self, case: u64, opening: u32, wanted: &Wanted<'_>) -> Option<Rc<ComputedSets>> {
        let earlier = self.0.get(&case).filter(|earlier| earlier.next.opening == opening)?;
        let computed = earlier.computed.as_ref()?;
        computed.serve(wanted).then(|| Rc::clone(computed))
    }
}
