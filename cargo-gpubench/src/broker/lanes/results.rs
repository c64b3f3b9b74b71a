//! Results on their way to the reports, in the order of their jobs.

use super::context::LaneContext;
use super::job::Job;
use super::lane::Finished;
use crate::broker::against::baseline_run::BaselineRun;
use crate::broker::reporting::Reporting;
use gpubench_contract::RunEnd;
use gpubench_report::Progress;

/// The reports of a run, and the results of the baseline that it alternates with.
pub(in crate::broker) struct Results<'r, 'a> {
    pub(in crate::broker) context: LaneContext<'r>,
    pub(in crate::broker) reporting: &'r mut Reporting,
    pub(in crate::broker) baseline_run: Option<&'r mut BaselineRun<'a>>,
}

impl Results<'_, '_> {
    /// Reports the start of a job.
    pub(in crate::broker) fn start(&mut self, job: &Job<'_>) {
        self.reporting.benchmark_started(&job.announced);
    }

    /// Reports the progress of the job.
    pub(in crate::broker) fn progress(&mut self, progress: &Progress) {
        self.reporting.progress(progress);
    }

    /// Notes the result of a job whose turn has not come. A kill loses it otherwise.
    pub(in crate::broker) fn hold_back(&mut self, finished: &Finished) {
        self.reporting.hold_back(&finished.result);
    }

    /// Reports the result of the job. Returns the end of the run if it ends with this result.
    pub(in crate::broker) fn complete(&mut self, job: &Job<'_>, finished: Finished) -> Option<RunEnd> {
        let Finished { result, baseline } = finished;
        let has_failed = result.verdict.is_failure();
        self.reporting.complete_in_order(result);
        if let Some(baseline_run) = self.baseline_run.as_deref_mut() {
            if let Some(baseline) = baseline {
                baseline_run.results.add(*baseline, job.options.analyses);
            }
            if baseline_run.lacks_result_of(job.case, &job.announced.key()) {
                let mut owed = self.context.unmeasured(job);
                owed.message = Some("the candidate was not measured, and both sides are measured together".to_owned());
                baseline_run.results.results.push(owed);
            }
        }
        let fails_fast = self.context.settings.options.fail_fast && has_failed;
        fails_fast.then_some(RunEnd::FailedFast)
    }
}
