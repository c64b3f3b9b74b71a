//! What is to be known of cases beside their figures, whether they passed or not.

use super::{BenchmarkComplete, DeviceKind};
use crate::verdict::Grade;

/// Cases that are named for one remark; the others are counted.
const NAMED: usize = 3;

/// Remarks in the order in which they came, each with the cases it is about.
#[derive(Default)]
pub(super) struct Remarks(Vec<(String, Vec<String>)>);

impl Remarks {
    /// Takes up what a result says beside its figures. On the CPU device every case is advisory for one and the same reason, which the last line says.
    pub(super) fn enter(&mut self, result: &BenchmarkComplete) {
        let on_gpu = result.device.kind == DeviceKind::Cuda;
        let reason = result
            .grade_reason
            .as_ref()
            .filter(|_| on_gpu && result.grade == Some(Grade::Advisory));
        let advisory = reason.map(|reason| format!("advisory: {reason}"));
        for remark in advisory.into_iter().chain(result.notices.iter().cloned()) {
            self.add(remark, &result.case);
        }
    }

    /// Takes up what is to be known of a case.
    pub(super) fn add(&mut self, remark: String, case: &str) {
        match self.0.iter_mut().find(|(known, _)| *known == remark) {
            Some((_, cases)) => cases.push(case.to_owned()),
            None => self.0.push((remark, vec![case.to_owned()])),
        }
    }

    /// Each with its cases.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(remark, cases)| (&**remark, &**cases))
    }
}

/// `axpy, softmax::n=1024, copy and 5 more cases`, with each name as `shown`.
pub(super) fn named(cases: &[String], shown: impl Fn(&str) -> String) -> String {
    let names: Vec<String> = cases.iter().take(NAMED).map(|case| shown(case)).collect();
    let names = names.join(", ");
    match cases.len().saturating_sub(NAMED) {
        0 => names,
        1 => format!("{names} and 1 more case"),
        more => format!("{names} and {more} more cases"),
    }
}
