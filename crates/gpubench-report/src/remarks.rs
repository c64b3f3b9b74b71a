//! Remarks on cases, whether they passed or not.

use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Grade};

/// Maximum number of cases named in one remark. The others are counted.
pub(super) const NAMED: usize = 3;

/// Remarks in order of arrival, each with its cases: names, or another label that a report uses.
pub(super) struct Remarks<Case = String>(Vec<(String, Vec<Case>)>);

impl<Case> Default for Remarks<Case> {
    fn default() -> Remarks<Case> {
        Remarks(Vec::new())
    }
}

impl<Case: Clone> Remarks<Case> {
    /// Adds a result's notices and the reason for an unverified grade. If every case on a device is
    /// unverified for the same reason, the report states it once elsewhere.
    pub(super) fn add_result(&mut self, result: &BenchmarkComplete, case: &Case) {
        let has_own_grade = result.device.kind.words().unverified.is_none();
        let reason = result
            .grade_reason
            .as_ref()
            .filter(|_| has_own_grade && result.grade == Some(Grade::Unverified));
        let unverified = reason.map(|reason| format!("unverified: {reason}"));
        for remark in unverified.into_iter().chain(result.notices.iter().cloned()) {
            self.add(remark, case.clone());
        }
    }

    /// Adds a remark on a case.
    pub(super) fn add(&mut self, remark: String, case: Case) {
        match self.0.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, cases)) => cases.push(case),
            None => self.0.push((remark, vec![case])),
        }
    }

    /// Returns each remark with its cases.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[Case])> {
        self.0.iter().map(|(remark, cases)| (&**remark, &**cases))
    }
}

/// Returns `axpy, softmax::n=1024, copy and 5 more cases`, with each name formatted by `shown`.
pub(super) fn named(cases: &[String], shown: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = cases.iter().take(NAMED).map(|case| shown(case)).collect();
    let names = names.join(", ");
    match cases.len().saturating_sub(NAMED) {
        0 => names,
        more => format!("{names} and {}", counted(more, "more case")),
    }
}
