//! When a worker is warm, when it has samples enough, and how often null windows come meanwhile.

use std::time::Duration;

use super::null_arm::NullArm;
use super::protocol::Protocol;
use super::samples::Samples;
use crate::verdict::Execution;
use gpubench_contract::StopReason;
use gpubench_protocol::window::NullPace;
use gpubench_stats::{Shares, WarmUpRule};

/// Time that a case which replays a plan may spend on windows that its median does not need. Its claims are the tool's own: the bound
/// holds them against kernels that compute outside of their call, and is printed whatever it is. Where the user's code could forge
/// claims, a precise bound is worth all the time that the case has.
const PATIENCE_WITH_PLANS: Duration = Duration::from_millis(400);

/// Samples after which the bound is looked at for the first time; then whenever there are twice as many.
const FIRST_LOOK: usize = 32;

/// When the workers of an arm have warmed up, and when they have samples enough.
#[derive(Debug)]
pub(super) struct Stopping<'a> {
    warm_up: &'a WarmUpRule,
    max_time: Duration,
    shares: Shares,
    pub(super) pacing: Pacing,
}

impl<'a> Stopping<'a> {
    pub(super) fn new(protocol: &'a Protocol<'a>) -> Stopping<'a> {
        Stopping {
            warm_up: &protocol.warm_up,
            max_time: protocol.stop.max_time,
            shares: Shares::new(protocol.stop.clone(), protocol.turnout),
            pacing: Pacing::new(),
        }
    }

    /// Workers that an arm has at least.
    pub(super) fn first_workers(&self) -> usize {
        self.shares.first()
    }

    /// How many workers there are to be on an arm of its own, when these have had their turns.
    pub(super) fn workers_to_have(&self, samples: &Samples) -> usize {
        let had = samples.turns();
        match self.shares.suffice(&samples.by_worker()) {
            true => had,
            false => self.shares.most().max(had),
        }
    }

    /// Whether the running median of the present worker's warm-up has settled, or its limits are met.
    pub(super) fn is_warm(&self, samples: &Samples) -> bool {
        let turn = samples.turn();
        let further = (samples.position() > 0).then(|| self.warm_up.of_further_worker());
        let rule = further.as_ref().unwrap_or(self.warm_up);
        rule.is_over(&turn.warm_up_ns, turn.warmed_for)
    }

    /// Whether the limits leave the present worker more windows, if the other arm needs them.
    pub(super) fn may_go_on(&self, samples: &Samples) -> bool {
        let position = samples.position();
        samples.ns.len() < self.shares.max_samples_until(position)
            && samples.sampled_for() < self.shares.max_time_until(position)
    }

    /// Why the present worker has samples enough, where it has. `bound_will_be_precise` tells whether that many times as
    /// many windows bound the claims precisely.
    pub(super) fn decide(
        &mut self,
        samples: &Samples,
        execution: &Execution,
        null: &NullArm<'_>,
        bound_will_be_precise: impl Fn(f64) -> bool,
    ) -> Option<StopReason> {
        let position = samples.position();
        // The workers that are still to come are taken to have as many windows each.
        let growth = self.shares.growth_after(position);
        let rule = self.shares.of(position);
        match rule.decide(samples.of_present_worker(), samples.turn().sampled_for) {
            None => {
                self.pacing.look(samples.ns.len(), || bound_will_be_precise(growth));
                None
            }
            // More windows of this worker tell more of the claims. The limits on samples and time hold all the same.
            Some(_)
                if null.is_there()
                    && self.may_go_on(samples)
                    && self.is_patient(samples, execution)
                    && !bound_will_be_precise(growth) =>
            {
                self.pacing.pace = NullPace::Dense;
                None
            }
            decided => decided,
        }
    }

    /// Whether there is time for windows that only the bound on the claims needs.
    fn is_patient(&self, samples: &Samples, execution: &Execution) -> bool {
        let patience = match execution {
            Execution::Sealed => PATIENCE_WITH_PLANS,
            Execution::Hosted(_) => self.max_time,
        };
        samples.sampled_for() < self.shares.patience_until(samples.position(), patience)
    }
}

/// How often null windows come, by what is known of the bound.
#[derive(Debug)]
pub(super) struct Pacing {
    pub(super) pace: NullPace,
    next_look: usize,
}

impl Pacing {
    fn new() -> Pacing {
        Pacing {
            pace: NullPace::Usual,
            next_look: FIRST_LOOK,
        }
    }

    /// Lets null windows come less often once the bound is precise. It takes sorting all windows to know, so that is
    /// asked for seldom.
    fn look(&mut self, samples: usize, is_precise: impl FnOnce() -> bool) {
        if self.pace != NullPace::Usual || samples < self.next_look {
            return;
        }
        self.next_look = 2 * samples;
        if is_precise() {
            self.pace = NullPace::Sparse;
        }
    }

    /// Another worker has its turn. Its samples are taken in no more hurry than the first one's.
    pub(super) fn calm_down(&mut self) {
        if self.pace == NullPace::Dense {
            self.pace = NullPace::Usual;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_windows_come_less_often_once_the_bound_is_precise_and_densely_when_it_is_waited_for() {
        let mut pacing = Pacing::new();
        let mut looked_at = Vec::new();
        for samples in 1..=1_000 {
            pacing.look(samples, || {
                looked_at.push(samples);
                samples >= 200
            });
            let expected = if samples < 256 {
                NullPace::Usual
            } else {
                NullPace::Sparse
            };
            assert_eq!(pacing.pace, expected, "{samples}");
        }
        assert_eq!(looked_at, [32, 64, 128, 256]);
        pacing.calm_down();
        assert_eq!(pacing.pace, NullPace::Sparse);
        pacing.pace = NullPace::Dense;
        assert_eq!(pacing.pace, NullPace::Dense);
        pacing.calm_down();
        assert_eq!(pacing.pace, NullPace::Usual);
    }
}
