//! What happens while a case is measured.

use gpubench_contract::Metric;
use gpubench_device::telemetry::{EnergyReading, Telemetry, Throttling};
use gpubench_measure::measurement::Watcher;
use gpubench_report::Progress;

/// Updates the telemetry and reports the progress.
pub(super) struct CaseWatcher<'a> {
    pub(super) metric: &'a Metric,
    pub(super) telemetry: &'a mut Telemetry,
    pub(super) progress: &'a mut dyn FnMut(Progress),
}

impl Watcher for CaseWatcher<'_> {
    fn sampled(&mut self, of_workers: &[&[f64]]) {
        let samples = of_workers.concat();
        self.telemetry.after_sample(samples.len());
        (self.progress)(Progress::of_samples(self.metric, &samples, of_workers));
    }

    fn throttling(&mut self) -> Throttling {
        self.telemetry.throttling()
    }

    fn thrown_away(&mut self, samples: usize) {
        self.telemetry.throw_away(samples);
    }

    fn energy(&mut self) -> Option<EnergyReading> {
        self.telemetry.energy()
    }

    fn begins_again(&mut self) {
        self.telemetry.begin_again();
    }

    fn goes_back(&mut self) {
        self.telemetry.go_back();
    }

    fn other_clients(&mut self) -> Option<u32> {
        self.telemetry.other_clients()
    }
}
