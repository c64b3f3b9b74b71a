//! When a worker is warm, and when it has enough samples.

use std::num::NonZeroU32;

use super::protocol::Protocol;
use super::samples::Samples;
use crate::clients::WorkerPast;
use gpubench_contract::StopReason;
use gpubench_stats::{WarmUpRule, WorkerRules};

/// When the workers of an arm are warm, and when they have enough samples.
#[derive(Debug)]
pub(super) struct Stopping<'a> {
    warm_up: &'a WarmUpRule,
    shares: WorkerRules,
}

impl<'a> Stopping<'a> {
    pub(super) fn new(protocol: &'a Protocol<'a>) -> Stopping<'a> {
        Stopping {
            warm_up: &protocol.warm_up,
            shares: WorkerRules::new(protocol.stop.clone(), protocol.worker_count),
        }
    }

    /// Returns the least number of workers of an arm.
    pub(super) fn first_workers(&self) -> usize {
        self.shares.first()
    }

    /// Returns how many workers an arm without rivals needs, given the samples so far.
    pub(super) fn workers_to_have(&self, samples: &Samples) -> usize {
        let had = samples.turns();
        match self.shares.suffice(&samples.by_worker()) {
            true => had,
            false => self.shares.most().max(had),
        }
    }

    /// Whether the running median of the current worker's warm-up is stable and its windows have
    /// kept the device busy for long enough, or limits are reached.
    pub(super) fn is_warm(&self, samples: &Samples) -> bool {
        let turn = samples.turn();
        let rule = match turn.past {
            WorkerPast::Rested => self.warm_up.of_rested_worker(),
            WorkerPast::New if samples.position() > 0 => self.warm_up.of_further_worker(),
            WorkerPast::New => self.warm_up.clone(),
        };
        let rule = WarmUpRule {
            device_time_within: self.shares.of(samples.position()).max_time,
            ..rule
        };
        rule.is_over(&turn.warm_up_ns, turn.warmed_up)
    }

    /// Whether the limits allow the current worker more windows while another arm needs them. A
    /// sample has `calls` calls.
    pub(super) fn may_go_on(&self, samples: &Samples, calls: NonZeroU32) -> bool {
        let (position, spent) = (samples.position(), samples.spent(calls));
        samples.values.len() < self.shares.max_samples_until(position)
            && spent.device < self.shares.sample_time_until(position)
            && spent.wall < self.shares.max_time_until(position)
    }

    /// Returns why the current worker has enough samples, if it has. A sample has `calls` calls.
    pub(super) fn decide(&self, samples: &Samples, calls: NonZeroU32) -> Option<StopReason> {
        let rule = self.shares.of(samples.position());
        rule.decide(samples.of_present_worker(), samples.spent_by_present_worker(calls))
    }
}
