//! The verdict on a call that a sanitizer or a profiler observed.

use gpubench_contract::{SanitizerFinding, SanitizerReport};

use super::judge::Judgement;
use super::{Cause, Verdict};
use crate::clients::{Observation, ObserverProgram};

impl Judgement {
    /// Adds what an observer reports. The first finding of a sanitizer decides the verdict, even if
    /// an output is wrong, too: it is the more likely reason. Without a report, no case passes.
    #[must_use]
    pub(crate) fn with_observation(
        self,
        observer: Option<&ObserverProgram>,
        observation: Option<&Observation>,
    ) -> Judgement {
        let Some(observer) = observer else { return self };
        let why = match observation {
            Some(Observation::Sanitized(report)) => {
                return match &report.findings[..] {
                    [] => self,
                    [first, ..] => self.found(Verdict::Crashed, first.cause, describe(report, first)),
                };
            }
            Some(Observation::Profiled(_)) => return self,
            Some(Observation::Failed(why)) => why,
            None => "it has not reported anything",
        };
        match self.verdict {
            Verdict::Pass => self.found(
                Verdict::Error,
                Cause::ObserverFailed,
                format!("{} failed: {why}", observer.name()),
            ),
            _ => self,
        }
    }

    fn found(self, verdict: Verdict, cause: Cause, message: String) -> Judgement {
        debug_assert!(cause.comes_with(verdict), "{verdict}: {cause}");
        Judgement {
            verdict,
            cause: Some(cause),
            message: Some(message),
            ..self
        }
    }
}

fn describe(report: &SanitizerReport, first: &SanitizerFinding) -> String {
    let errors = match report.errors {
        0 | 1 => String::new(),
        errors => format!(" ({errors} errors)"),
    };
    let others = match report.findings.len() - 1 {
        0 => String::new(),
        1 => "; the record has another finding".to_owned(),
        others => format!("; the record has {others} more findings"),
    };
    format!("{}{errors}: {}{others}", report.tool, describe_finding(first))
}

/// Describes a finding: what happened, and where.
fn describe_finding(finding: &SanitizerFinding) -> String {
    let coordinates = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let file = finding.file.as_ref().map(|file| match finding.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    });
    let place = [
        finding.kernel.as_ref().map(|kernel| format!("kernel `{kernel}`")),
        file,
        finding.block.map(|block| format!("block {}", coordinates(block))),
        finding.thread.map(|thread| format!("thread {}", coordinates(thread))),
    ];
    let place: Vec<String> = place.into_iter().flatten().collect();
    if place.is_empty() {
        finding.message.clone()
    } else {
        format!("{}; {}", finding.message, place.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::ObserverTask;
    use gpubench_contract::{Grade, SanitizerTool};

    fn judged(verdict: Verdict, cause: Option<Cause>) -> Judgement {
        Judgement {
            verdict,
            cause,
            message: cause.map(|cause| cause.to_string()),
            grade: Grade::Unverified,
            grade_reason: None,
            window: None,
        }
    }

    fn observed(judgement: Judgement, observation: Option<Observation>) -> (Verdict, Option<Cause>, Option<String>) {
        let observer = ObserverProgram {
            path: "/bin/compute-sanitizer".into(),
            task: ObserverTask::Sanitize(SanitizerTool::Memcheck),
        };
        let judgement = judgement.with_observation(Some(&observer), observation.as_ref());
        (judgement.verdict, judgement.cause, judgement.message)
    }

    fn finding(cause: Cause) -> SanitizerFinding {
        SanitizerFinding {
            cause,
            message: "Invalid __global__ write of size 4 bytes; Address 0x10 is out of bounds".to_owned(),
            kernel: Some("double(float *)".to_owned()),
            block: Some([1, 0, 0]),
            thread: Some([7, 0, 0]),
            file: Some("a.cu".to_owned()),
            line: Some(12),
            count: 3,
        }
    }

    fn report(findings: Vec<SanitizerFinding>) -> Option<Observation> {
        Some(Observation::Sanitized(SanitizerReport {
            tool: SanitizerTool::Memcheck,
            errors: 300,
            findings,
        }))
    }

    fn passed() -> Judgement {
        judged(Verdict::Pass, None)
    }

    #[test]
    fn the_first_finding_decides_the_verdict() {
        let wrong = judged(Verdict::WrongOutput, Some(Cause::Mismatch));
        for judgement in [passed(), wrong] {
            let both = report(vec![finding(Cause::OutOfBounds), finding(Cause::MisalignedAccess)]);
            let (verdict, cause, message) = observed(judgement, both);
            assert_eq!((verdict, cause), (Verdict::Crashed, Some(Cause::OutOfBounds)));
            assert_eq!(
                message.unwrap(),
                "memcheck (300 errors): Invalid __global__ write of size 4 bytes; Address 0x10 is out of bounds; kernel \
                 `double(float *)`, a.cu:12, block (1, 0, 0), thread (7, 0, 0); the record has another finding"
            );
        }
    }

    #[test]
    fn a_clean_call_keeps_its_verdict() {
        assert_eq!(observed(passed(), report(Vec::new())), (Verdict::Pass, None, None));
    }

    #[test]
    fn nothing_passes_without_a_report() {
        for missing in [None, Some(Observation::Failed("it exited with code 1".to_owned()))] {
            let (verdict, cause, message) = observed(passed(), missing.clone());
            assert_eq!((verdict, cause), (Verdict::Error, Some(Cause::ObserverFailed)));
            assert!(message.unwrap().starts_with("compute-sanitizer failed: it "));
            let slow = judged(Verdict::Timeout, Some(Cause::Slow));
            assert_eq!(observed(slow, missing).0, Verdict::Timeout);
        }
    }
}
