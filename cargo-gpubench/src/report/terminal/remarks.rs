//! What is to be known of cases that passed, below the table.

use super::style::{DOUBTFUL, Styling};
use super::text::{width, wrapped};
use crate::printable::printable_line;
use crate::report::{BenchmarkComplete, DeviceKind};
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

    /// The remarks as lines of at most `line` columns; nothing where there are none.
    pub(super) fn text(&self, line: usize, styling: Styling) -> String {
        let sign = styling.paint(DOUBTFUL, "!");
        let mut text = String::new();
        for (remark, cases) in &self.0 {
            let said = format!("{} ({})", printable_line(remark), named(cases));
            let lines = wrapped(&said, line.saturating_sub(width("! ")));
            text.extend(["\n", &sign, " ", &lines.join("\n  "), "\n"]);
        }
        text
    }
}

/// `axpy, softmax::n=1024, copy and 5 more cases`.
pub(super) fn named(cases: &[String]) -> String {
    let shown: Vec<String> = cases.iter().take(NAMED).map(|case| printable_line(case)).collect();
    let shown = shown.join(", ");
    match cases.len().saturating_sub(NAMED) {
        0 => shown,
        1 => format!("{shown} and 1 more case"),
        more => format!("{shown} and {more} more cases"),
    }
}
