//! The leases of a run: who measures what, and what follows if somebody does not.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::message::{LeaseOrder, PieceOrder, WantedResult};
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted};

/// How often a group is measured before it fails.
pub(super) const ATTEMPTS: usize = 5;

/// The most pieces of a lease. An agent prepares them together, which is faster for small cases.
const MOST_PIECES: usize = 16;

/// A lease has at most this part of the work of each agent, so that all end together.
const PART_OF_AGENT: usize = 4;

/// Results that one agent measures, one group after another.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) groups: Vec<Vec<BenchmarkStarted>>,
    /// Position of the first of its jobs among all of them.
    pub(super) first: usize,
    /// How long it is expected to take, in seconds. 0 if nobody knows.
    pub(super) expected: f64,
}

/// What is left of a unit.
#[derive(Clone, Debug)]
struct Piece {
    /// The groups that nobody has measured yet, first to last, at least one.
    groups: VecDeque<Vec<BenchmarkStarted>>,
    /// Position of the first of their jobs.
    first: usize,
    expected: f64,
    /// Number of leases that it was part of. Each has inputs of its own.
    leased: u32,
    /// Why the attempts to measure the first group failed.
    losses: Vec<String>,
    /// The agents that failed to.
    lost_by: BTreeSet<usize>,
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
pub(super) struct Leases {
    /// Number of agents that share the work.
    agents: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Piece>,
    /// The pieces of each lease that are not measured yet, at least one.
    live: BTreeMap<u64, VecDeque<Piece>>,
    /// The agents that are ready.
    ready: BTreeSet<usize>,
    next: u64,
}

impl Leases {
    /// Returns the leases of units, in the order in which agents take them.
    pub(super) fn of(units: Vec<Unit>, agents: usize) -> Leases {
        let pieces = units.into_iter().map(|unit| Piece {
            groups: unit.groups.into(),
            first: unit.first,
            expected: unit.expected,
            leased: 0,
            losses: Vec::new(),
            lost_by: BTreeSet::new(),
        });
        Leases {
            agents: agents.max(1),
            state: Mutex::new(State {
                waiting: pieces.collect(),
                live: BTreeMap::new(),
                ready: BTreeSet::new(),
                next: 1,
            }),
        }
    }

    /// Notes that an agent can take work.
    pub(super) fn enter(&self, agent: usize) {
        self.state().ready.insert(agent);
    }

    /// Notes that an agent takes no work for now.
    pub(super) fn exit(&self, agent: usize) {
        self.state().ready.remove(&agent);
    }

    /// Takes the next work for an agent, if some waits. What it has lost before is for others as
    /// long as one of them is ready that has not.
    pub(super) fn take(&self, agent: usize) -> Option<LeaseOrder> {
        let mut state = self.state();
        let first = state.waiting.iter().position(|piece| state.may_take(agent, piece))?;
        let number = self.pieces_of_next(&state.waiting, first);
        let mut pieces: VecDeque<Piece> = state.waiting.drain(first..first + number).collect();
        pieces.iter_mut().for_each(|piece| piece.leased += 1);
        let lease = state.next;
        state.next += 1;
        let order = LeaseOrder {
            lease,
            pieces: pieces.iter().map(Piece::order).collect(),
        };
        state.live.insert(lease, pieces);
        Some(order)
    }

    /// Returns how many of the waiting pieces from `first` on the next lease has: as many as are
    /// expected to take no more than an agent's part of what waits. A piece of a lease that was
    /// lost is alone: it may be what ends agents.
    fn pieces_of_next(&self, waiting: &VecDeque<Piece>, first: usize) -> usize {
        let shares = self.agents * PART_OF_AGENT;
        let most = (waiting.len() / shares).clamp(1, MOST_PIECES);
        let share = waiting.iter().map(|piece| piece.expected).sum::<f64>() / shares as f64;
        let mut expected = 0.0;
        let fits = |piece: &&Piece| {
            expected += piece.expected;
            piece.leased == 0 && expected <= share
        };
        waiting.iter().skip(first).take(most).take_while(fits).count().max(1)
    }

    /// Whether nothing waits and nobody measures.
    pub(super) fn are_done(&self) -> bool {
        let state = self.state();
        state.waiting.is_empty() && state.live.is_empty()
    }

    /// Returns the position of the job that a live lease measures.
    pub(super) fn position(&self, lease: u64) -> Option<usize> {
        Some(self.state().live.get(&lease)?.front()?.first)
    }

    /// Counts the results of the next group of a lease. `None` if the lease has ended: others may
    /// have measured the group.
    ///
    /// # Errors
    /// They are not the results of the group. The lease stays as it is.
    pub(super) fn count(&self, lease: u64, sent: &[BenchmarkComplete]) -> Result<Option<Counted>, Misplaced> {
        let mut state = self.state();
        let Some(pieces) = state.live.get_mut(&lease) else {
            return Ok(None);
        };
        let Some((piece, group)) = pieces.front_mut().and_then(|piece| {
            let group = piece.groups.pop_front()?;
            Some((piece, group))
        }) else {
            return Ok(None);
        };
        if let Some(misplaced) = misplaced(sent, &group) {
            piece.groups.push_front(group);
            return Err(misplaced);
        }
        let counted = Counted {
            first: piece.first,
            losses: std::mem::take(&mut piece.losses),
        };
        piece.lost_by.clear();
        piece.first += group.len();
        if piece.groups.is_empty() {
            pieces.pop_front();
        }
        if pieces.is_empty() {
            state.live.remove(&lease);
        }
        Ok(Some(counted))
    }

    /// Ends a lease whose agent does not go on with it, and leaves what is left to others. Returns
    /// the group that fails, if too many attempts have.
    pub(super) fn lose(&self, lease: u64, agent: usize, why: &str) -> Option<Failed> {
        let mut state = self.state();
        let mut left = state.live.remove(&lease)?;
        let under_way = left.front_mut()?;
        under_way.losses.push(why.to_owned());
        under_way.lost_by.insert(agent);
        let failed = under_way.give_up();
        if under_way.groups.is_empty() {
            left.pop_front();
        }
        while let Some(piece) = left.pop_back() {
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn may_take(&self, agent: usize, piece: &Piece) -> bool {
        !piece.lost_by.contains(&agent) || self.ready.iter().all(|ready| piece.lost_by.contains(ready))
    }
}

impl Piece {
    fn order(&self) -> PieceOrder {
        let wanted = |started: &BenchmarkStarted| WantedResult {
            index: started.index,
            label: started.label(),
        };
        let groups = self.groups.iter();
        PieceOrder {
            attempt: self.leased,
            groups: groups.map(|group| group.iter().map(wanted).collect()).collect(),
        }
    }

    /// Takes the first group away if too many attempts to measure it failed.
    fn give_up(&mut self) -> Option<Failed> {
        if self.losses.len() < ATTEMPTS {
            return None;
        }
        let group = self.groups.pop_front()?;
        let losses = std::mem::take(&mut self.losses);
        self.lost_by.clear();
        let failed = Failed {
            first: self.first,
            number: group.len(),
            why: format!(
                "{ATTEMPTS} attempts to measure it ended without a result: {}",
                losses.join("; ")
            ),
        };
        self.first += group.len();
        Some(failed)
    }
}

/// Returns what is wrong with results that should be those of a group.
fn misplaced(sent: &[BenchmarkComplete], group: &[BenchmarkStarted]) -> Option<Misplaced> {
    if sent.len() != group.len() {
        return Some(Misplaced::Number {
            sent: sent.len(),
            wanted: group.len(),
        });
    }
    let (sent, wanted) = sent.iter().zip(group).find(|(sent, wanted)| !is_of(sent, wanted))?;
    Some(Misplaced::Other {
        sent: sent.label(),
        wanted: wanted.label(),
    })
}

/// Whether a result is the announced one.
fn is_of(sent: &BenchmarkComplete, wanted: &BenchmarkStarted) -> bool {
    (&sent.run_id, sent.index, &sent.case) == (&wanted.run_id, wanted.index, &wanted.case) && sent.key() == wanted.key()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agent of tests that need no other.
    const AGENT: usize = 0;

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
                expected: 1.0,
            }
        };
        let units = vec![unit(0, &[1, 2]), unit(3, &[1])];
        (Leases::of(units, 1), all)
    }

    /// Returns the attempt and the number of groups of each piece.
    fn told(order: &LeaseOrder) -> Vec<(u32, usize)> {
        let pieces = order.pieces.iter();
        pieces.map(|piece| (piece.attempt, piece.groups.len())).collect()
    }

    /// Returns leases of units with one result each, which are expected to take some seconds.
    fn small(expected: &[f64], agents: usize) -> (Leases, Vec<BenchmarkComplete>) {
        let first = gpubench_testing::every_verdict().results.remove(0);
        let all: Vec<BenchmarkComplete> = (0..expected.len() as u64)
            .map(|index| BenchmarkComplete { index, ..first.clone() })
            .collect();
        let units = expected.iter().zip(&all).enumerate();
        let units = units.map(|(first, (expected, result))| Unit {
            groups: vec![vec![result.announcement()]],
            first,
            expected: *expected,
        });
        (Leases::of(units.collect(), agents), all)
    }

    fn sizes(leases: &Leases) -> Vec<usize> {
        std::iter::from_fn(|| leases.take(AGENT))
            .map(|order| order.pieces.len())
            .collect()
    }

    #[test]
    fn small_cases_share_a_lease_and_the_last_are_alone() {
        let (leases, _) = small(&[0.0; 100], 1);
        let leased = sizes(&leases);
        assert_eq!((leased[0], leased.last()), (16, Some(&1)));
        assert_eq!(leased.iter().sum::<usize>(), 100);
        let (leases, _) = small(&[0.1; 24], 3);
        assert_eq!(sizes(&leases)[..2], [2, 1]);
        let (leases, _) = small(&[1.0; 3], 1000);
        assert_eq!(sizes(&leases), [1, 1, 1]);
    }

    #[test]
    fn a_long_case_shares_its_lease_with_none() {
        let mut expected = vec![0.1; 64];
        expected[0] = 60.0;
        let (leases, _) = small(&expected, 1);
        assert_eq!(sizes(&leases)[..2], [1, 15]);
    }

    #[test]
    fn what_an_agent_has_lost_is_for_others_that_are_ready() {
        let (leases, _) = small(&[0.0; 2], 2);
        let (broken, other) = (0, 1);
        leases.enter(broken);
        leases.enter(other);
        let lost = leases.take(broken).expect("work");
        assert_eq!(leases.lose(lost.lease, broken, "it is gone"), None);
        let next = leases.take(broken).expect("the second case");
        assert_eq!(told(&next), [(1, 1)]);
        assert_eq!(leases.take(broken), None, "the first is for the other");
        leases.exit(other);
        let again = leases.take(broken).expect("nobody else is ready");
        assert_eq!(told(&again), [(2, 1)]);
        assert_eq!(leases.lose(again.lease, broken, "it is gone"), None);
        leases.enter(other);
        assert_eq!(told(&leases.take(other).expect("the first case")), [(3, 1)]);
    }

    #[test]
    fn cases_of_a_lost_lease_are_measured_alone_with_other_inputs_and_one_is_to_blame() {
        let (leases, all) = small(&[0.0; 8], 1);
        let lost = leases.take(AGENT).expect("work");
        assert_eq!(told(&lost), [(1, 1), (1, 1)]);
        leases.count(lost.lease, &all[..1]).expect("its result").expect("live");
        assert_eq!(leases.position(lost.lease), Some(1));
        assert_eq!(leases.lose(lost.lease, AGENT, "it is gone"), None);
        assert_eq!(leases.position(lost.lease), None);
        let again = leases.take(AGENT).expect("what is left");
        assert_eq!(told(&again), [(2, 1)]);
        let counted = leases
            .count(again.lease, &all[1..2])
            .expect("its result")
            .expect("live");
        assert_eq!(counted.losses, ["it is gone"]);
        let (leases, all) = small(&[0.0; 8], 1);
        let lost = leases.take(AGENT).expect("work").lease;
        assert_eq!(leases.lose(lost, AGENT, "it is gone"), None);
        let orders = [
            leases.take(AGENT).expect("the first"),
            leases.take(AGENT).expect("the second"),
        ];
        assert!(orders.iter().all(|order| told(order) == [(2, 1)]), "{orders:?}");
        let second = leases.count(orders[1].lease, &all[1..2]).expect("its result");
        assert_eq!(
            second.expect("live").losses,
            Vec::<String>::new(),
            "the first was under way"
        );
    }

    #[test]
    fn each_group_counts_once_and_only_for_a_live_lease() {
        let (leases, all) = leases();
        let first = leases.take(AGENT).expect("work");
        assert_eq!(told(&first), [(1, 2)]);
        let counted = leases.count(first.lease, &all[..1]).expect("its result").expect("live");
        assert_eq!((counted.first, counted.losses.len()), (0, 0));
        assert_eq!(leases.lose(first.lease, AGENT, "it is gone"), None);
        assert!(leases.count(first.lease, &all[1..3]).expect("late").is_none());
        let again = leases.take(AGENT).expect("what is left");
        assert_eq!(told(&again), [(2, 1)], "the first group has its result");
        let counted = leases
            .count(again.lease, &all[1..3])
            .expect("its results")
            .expect("live");
        assert_eq!((counted.first, counted.losses), (1, vec!["it is gone".to_owned()]));
        assert!(leases.count(again.lease, &all[1..3]).expect("twice").is_none());
        assert!(!leases.are_done());
        let last = leases.take(AGENT).expect("the other unit");
        assert!(leases.take(AGENT).is_none() && !leases.are_done(), "somebody measures");
        leases.count(last.lease, &all[3..4]).expect("its result");
        assert!(leases.are_done());
    }

    #[test]
    fn results_of_other_cases_are_refused_and_change_nothing() {
        let (leases, all) = leases();
        let lease = leases.take(AGENT).expect("work").lease;
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
            let order = leases.take(AGENT).expect("work");
            assert_eq!(told(&order), [(attempt, 2)]);
            assert_eq!(leases.lose(order.lease, AGENT, "killed"), None);
        }
        let order = leases.take(AGENT).expect("work");
        let failed = leases.lose(order.lease, AGENT, "killed").expect("it fails");
        assert_eq!((failed.first, failed.number), (0, 1));
        assert!(
            failed.why.contains("5 attempts") && failed.why.ends_with("killed"),
            "{}",
            failed.why
        );
        let rest = leases.take(AGENT).expect("the other group");
        assert_eq!(told(&rest), [(ATTEMPTS as u32 + 1, 1)]);
        assert_eq!(rest.pieces[0].groups[0].len(), 2);
        assert_eq!(leases.lose(99, AGENT, "unknown"), None);
    }

    #[test]
    fn what_waits_is_stranded_by_name_of_the_last_agent() {
        let (leases, _) = leases();
        let taken = leases.take(AGENT).expect("work").lease;
        leases.lose(taken, AGENT, "it was silent");
        let stranded = leases.strand("it ended");
        let told: Vec<(usize, usize)> = stranded.iter().map(|failed| (failed.first, failed.number)).collect();
        assert_eq!(told, [(0, 3), (3, 1)]);
        assert!(stranded[0].why.contains("it was silent") && stranded[1].why.contains("it ended"));
        assert!(leases.are_done());
    }
}
