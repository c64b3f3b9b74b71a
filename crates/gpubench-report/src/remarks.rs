//! What is to be known of cases beside their figures, whether they passed or not.

use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Grade};

/// Cases that are named for one remark; the others are counted.
pub(super) const NAMED: usize = 3;

/// Remarks in the order in which they came, each with the cases it is about: their names, or
/// whatever else a report names them by.
pub(super) struct Remarks<Case = String>(Vec<(String, Vec<Case>)>);

impl<Case> Default for Remarks<Case> {
    fn default() -> Remarks<Case> {
        Remarks(Vec::new())
    }
}

impl<Case: Clone> Remarks<Case> {
    /// Takes up what the result of a case says beside its figures. Where every case of a device is
    /// advisory for one and the same reason, every report says it once.
    pub(super) fn enter(&mut self, result: &BenchmarkComplete, case: &Case) {
        let has_own_grade = result.device.kind.words().advisory.is_none();
        let reason = result
            .grade_reason
            .as_ref()
            .filter(|_| has_own_grade && result.grade == Some(Grade::Advisory));
        let advisory = reason.map(|reason| format!("advisory: {reason}"));
        for remark in advisory.into_iter().chain(result.notices.iter().cloned()) {
            self.add(remark, case.clone());
        }
    }

    /// Takes up what is to be known of a case.
    pub(super) fn add(&mut self, remark: String, case: Case) {
        match self.0.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, cases)) => cases.push(case),
            None => self.0.push((remark, vec![case])),
        }
    }

    /// Each with its cases.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[Case])> {
        self.0.iter().map(|(remark, cases)| (&**remark, &**cases))
    }
}

/// `axpy, softmax::n=1024, copy and 5 more cases`, with each name as `shown`.
pub(super) fn named(cases: &[String], shown: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = cases.iter().take(NAMED).map(|case| shown(case)).collect();
    let names = names.join(", ");
    match cases.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {}", counted(more, "more case")),
    }
}
