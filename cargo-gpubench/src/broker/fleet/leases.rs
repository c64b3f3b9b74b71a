//! The leases of a run: who measures what, and what follows if somebody does not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::message::{LeaseOrder, WantedResult};
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted};

/// How often a group is measured before it fails.
pub(super) const ATTEMPTS: usize = 5;

/// Results that one agent measures, one group after another.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) groups: Vec<Vec<BenchmarkStarted>>,
    /// Position of the first of its jobs among all of them.
    pub(super) first: usize,
}

/// What is left of a unit.
#[derive(Clone, Debug)]
struct Piece {
    /// The groups that nobody has measured yet, first to last, at least one.
    groups: VecDeque<Vec<BenchmarkStarted>>,
    /// Position of the first of their jobs.
    first: usize,
    /// Why the attempts to measure the first group failed.
    losses: Vec<String>,
}

/// The results of a group whose lease is live.
#[derive(Debug)]
pub(super) struct Counted {
    /// Position of its first job.
    pub(super) first: usize,
    /// What happened to the attempts before.
    pub(super) losses: Vec<String>,
}

/// A record that does not belong to the lease.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misplaced {
    /// Another number of results.
    #[error("it sent {sent} results of a group of {wanted}")]
    Number { sent: usize, wanted: usize },
    /// Another result.
    #[error("it sent the result of `{sent}`, and `{wanted}` was its task")]
    Other { sent: String, wanted: String },
    /// There was no more to measure.
    #[error("it sent more results than its task has")]
    More,
}

/// Jobs that nobody measures any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failed {
    /// The position of the first.
    pub(super) first: usize,
    /// How many they are.
    pub(super) number: usize,
    /// Why.
    pub(super) why: String,
}

/// The leases of a run.
#[derive(Debug)]
pub(super) struct Leases(Mutex<State>);

#[derive(Debug)]
struct State {
    waiting: VecDeque<Piece>,
    live: BTreeMap<u64, Piece>,
    next: u64,
}

impl Leases {
    /// Returns the leases of units, in the order in which agents take them.
    pub(super) fn of(units: Vec<Unit>) -> Leases {
        let pieces = units.into_iter().map(|unit| Piece {
            groups: unit.groups.into(),
            first: unit.first,
            losses: Vec::new(),
        });
        Leases(Mutex::new(State {
            waiting: pieces.collect(),
            live: BTreeMap::new(),
            next: 1,
        }))
    }

    /// Takes the next piece of work, if one waits.
    pub(super) fn take(&self) -> Option<LeaseOrder> {
        let mut state = self.state();
        let piece = state.waiting.pop_front()?;
        let lease = state.next;
        state.next += 1;
        let wanted = |started: &BenchmarkStarted| WantedResult {
            index: started.index,
            label: started.label(),
        };
        let groups = piece.groups.iter();
        let order = LeaseOrder {
            lease,
            attempt: piece.losses.len() as u32 + 1,
            groups: groups.map(|group| group.iter().map(wanted).collect()).collect(),
        };
        state.live.insert(lease, piece);
        Some(order)
    }

    /// Whether nothing waits and nobody measures.
    pub(super) fn are_done(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && state.live.is_empty()
    }

    /// Counts the results of the next group of a lease. `None` if the lease has ended: others may
    /// have measured the group.
    ///
    /// # Errors
    /// They are not the results of the group. The lease stays as it is.
    pub(super) fn count(&self, lease: u64, sent: &[BenchmarkComplete]) -> Result<Option<Counted>, Misplaced> {
        let mut state = self.state();
        let Some(piece) = state.live.get_mut(&lease) else {
            return Ok(None);
        };
        let Some(group) = piece.groups.front() else {
            return Err(Misplaced::More);
        };
        if sent.len() != group.len() {
            return Err(Misplaced::Number {
                sent: sent.len(),
                wanted: group.len(),
            });
        }
        if let Some((sent, wanted)) = sent.iter().zip(group).find(|(sent, wanted)| !is_of(sent, wanted)) {
            return Err(Misplaced::Other {
                sent: sent.label(),
                wanted: wanted.label(),
            });
        }
        let counted = Counted {
            first: piece.first,
            losses: std::mem::take(&mut piece.losses),
        };
        piece.first += group.len();
        piece.groups.pop_front();
        if piece.groups.is_empty() {
            state.live.remove(&lease);
        }
        Ok(Some(counted))
    }

    /// Ends a lease whose agent does not go on with it, and leaves what is left to others. Returns
    /// the group that fails, if too many attempts have.
    pub(super) fn lose(&self, lease: u64, why: &str) -> Option<Failed> {
        let mut state = self.state();
        let mut piece = state.live.remove(&lease)?;
        piece.losses.push(why.to_owned());
        let mut failed = None;
        if piece.losses.len() >= ATTEMPTS
            && let Some(group) = piece.groups.pop_front()
        {
            let losses = std::mem::take(&mut piece.losses);
            failed = Some(Failed {
                first: piece.first,
                number: group.len(),
                why: format!(
                    "{ATTEMPTS} attempts to measure it ended without a result: {}",
                    losses.join("; ")
                ),
            });
            piece.first += group.len();
        }
        if !piece.groups.is_empty() {
            state.waiting.push_front(piece);
        }
        failed
    }

    /// Returns everything that waits, for which nobody is left.
    pub(super) fn strand(&self, last: &str) -> Vec<Failed> {
        let stranded = std::mem::take(&mut self.state().waiting);
        let failed = |piece: Piece| Failed {
            first: piece.first,
            number: piece.groups.iter().map(Vec::len).sum(),
            why: match &piece.losses[..] {
                [] => format!("no agent is left to measure it: {last}"),
                losses => format!("no agent is left to measure it: {}", losses.join("; ")),
            },
        };
        stranded.into_iter().map(failed).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a result is the announced one.
fn is_of(sent: &BenchmarkComplete, wanted: &BenchmarkStarted) -> bool {
    (&sent.run_id, sent.index, &sent.case) == (&wanted.run_id, wanted.index, &wanted.case) && sent.key() == wanted.key()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases() -> (Leases, Vec<BenchmarkComplete>) {
        let all = gpubench_testing::every_verdict().results;
        let unit = |from: usize, groups: &[usize]| {
            let mut next = from;
            let mut group = |length: &usize| {
                next += length;
                all[next - length..next]
                    .iter()
                    .map(BenchmarkComplete::announcement)
                    .collect()
            };
            Unit {
                groups: groups.iter().map(&mut group).collect(),
                first: from,
            }
        };
        let units = vec![unit(0, &[1, 2]), unit(3, &[1])];
        (Leases::of(units), all)
    }

    #[test]
    fn each_group_counts_once_and_only_for_a_live_lease() {
        let (leases, all) = leases();
        let first = leases.take().expect("work");
        assert_eq!((first.attempt, first.groups.len()), (1, 2));
        let counted = leases.count(first.lease, &all[..1]).expect("its result").expect("live");
        assert_eq!((counted.first, counted.losses.len()), (0, 0));
        assert_eq!(leases.lose(first.lease, "it is gone"), None);
        assert!(leases.count(first.lease, &all[1..3]).expect("late").is_none());
        let again = leases.take().expect("what is left");
        assert_eq!(
            (again.attempt, again.groups.len()),
            (2, 1),
            "the first group has its result"
        );
        let counted = leases
            .count(again.lease, &all[1..3])
            .expect("its results")
            .expect("live");
        assert_eq!((counted.first, counted.losses), (1, vec!["it is gone".to_owned()]));
        assert!(leases.count(again.lease, &all[1..3]).expect("twice").is_none());
        assert!(!leases.are_done());
        let last = leases.take().expect("the other unit");
        assert!(leases.take().is_none() && !leases.are_done(), "somebody measures");
        leases.count(last.lease, &all[3..4]).expect("its result");
        assert!(leases.are_done());
    }

    #[test]
    fn results_of_other_cases_are_refused_and_change_nothing() {
        let (leases, all) = leases();
        let lease = leases.take().expect("work").lease;
        let refused = |sent: &[BenchmarkComplete]| leases.count(lease, sent).expect_err("not its result");
        assert_eq!(refused(&all[..2]), Misplaced::Number { sent: 2, wanted: 1 });
        assert_eq!(refused(&[]), Misplaced::Number { sent: 0, wanted: 1 });
        assert!(matches!(refused(&all[1..2]), Misplaced::Other { .. }));
        let mut other_run = all[0].clone();
        other_run.run_id = "another".to_owned();
        assert!(matches!(refused(&[other_run]), Misplaced::Other { .. }));
        assert!(leases.count(lease, &all[..1]).expect("its result").is_some());
    }

    #[test]
    fn a_group_fails_after_the_last_attempt_and_the_rest_goes_on() {
        let (leases, _) = leases();
        for attempt in 1..ATTEMPTS as u32 {
            let order = leases.take().expect("work");
            assert_eq!(order.attempt, attempt);
            assert_eq!(leases.lose(order.lease, "killed"), None);
        }
        let order = leases.take().expect("work");
        let failed = leases.lose(order.lease, "killed").expect("it fails");
        assert_eq!((failed.first, failed.number), (0, 1));
        assert!(
            failed.why.contains("5 attempts") && failed.why.ends_with("killed"),
            "{}",
            failed.why
        );
        let rest = leases.take().expect("the other group");
        assert_eq!((rest.attempt, rest.groups[0].len()), (1, 2));
        assert_eq!(leases.lose(99, "unknown"), None);
    }

    #[test]
    fn what_waits_is_stranded_by_name_of_the_last_agent() {
        let (leases, _) = leases();
        let taken = leases.take().expect("work").lease;
        leases.lose(taken, "it was silent");
        let stranded = leases.strand("it ended");
        let told: Vec<(usize, usize)> = stranded.iter().map(|failed| (failed.first, failed.number)).collect();
        assert_eq!(told, [(0, 3), (3, 1)]);
        assert!(stranded[0].why.contains("it was silent") && stranded[1].why.contains("it ended"));
        assert!(leases.are_done());
    }
}
