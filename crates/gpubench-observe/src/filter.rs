//! A choice among the observed processes.

use std::collections::{BTreeSet, HashMap};

use gpubench_diagnostic::Failure;

use crate::ledger::program_of;
use crate::{Driver, Event, EventKind, FunctionTotal, ProcessId, ProcessStart, Source};

/// Which processes a source tells of. Each kind of value that is given must match, by one of its
/// values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Names of programs: file names of executables.
    pub programs: BTreeSet<String>,
    /// Numbers of users.
    pub users: BTreeSet<u32>,
    /// Paths of control groups. The groups below them match too.
    pub cgroups: BTreeSet<String>,
}

/// The processes that a [`Filter`] leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many began or were found.
    pub processes: u64,
    /// How many of them called the driver.
    pub used_the_driver: u64,
    /// How many ended before it was known whether they match.
    pub unknown: u64,
}

/// Whether a process matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    Yes,
    No,
    Unknown,
}

impl Match {
    fn of<T>(known: Option<T>, matches: impl Fn(T) -> bool) -> Match {
        match known.map(matches) {
            Some(true) => Match::Yes,
            Some(false) => Match::No,
            None => Match::Unknown,
        }
    }
}

impl Filter {
    /// Whether every process matches.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    fn matches(&self, start: &ProcessStart) -> Match {
        let owner = &start.owner;
        let is_within = |path: &str| self.cgroups.iter().any(|group| is_within(path, group));
        let all = [
            (!self.programs.is_empty()).then(|| Match::of(program_of(start), |name| self.programs.contains(name))),
            (!self.users.is_empty()).then(|| Match::of(owner.user, |user| self.users.contains(&user))),
            (!self.cgroups.is_empty()).then(|| Match::of(owner.cgroup.as_deref(), is_within)),
        ];
        let worst = |one, other| match (one, other) {
            (Match::No, _) | (_, Match::No) => Match::No,
            (Match::Unknown, _) | (_, Match::Unknown) => Match::Unknown,
            (Match::Yes, Match::Yes) => Match::Yes,
        };
        all.into_iter().flatten().fold(Match::Yes, worst)
    }
}

/// Whether a control group is another one, or below it.
fn is_within(path: &str, group: &str) -> bool {
    let below = path.strip_prefix(group.trim_end_matches('/'));
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A source that tells of the processes that match, and counts the others.
///
/// Whose a process is, is read when it begins. It has no [totals](Source::totals) of functions if
/// anything may be left out: the kernel counts them for all processes together.
#[derive(Debug)]
pub struct Filtered<S> {
    source: S,
    filter: Filter,
    /// Those that run and do not match, with whether they called the driver.
    others: HashMap<ProcessId, bool>,
    left_out: LeftOut,
}

impl<S> Filtered<S> {
    /// Returns what `source` tells of processes that match.
    pub fn new(source: S, filter: Filter) -> Self {
        Filtered {
            source,
            filter,
            others: HashMap::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Returns the source, which tells of all processes.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }
}

impl<S: Source> Source for Filtered<S> {
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure> {
        let Filtered {
            source,
            filter,
            others,
            left_out,
        } = self;
        source.poll(&mut |event| {
            if is_told(filter, others, left_out, &event) {
                sink(event);
            }
        })
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        if self.filter.is_empty() {
            self.source.totals()
        } else {
            Vec::new()
        }
    }

    fn lost(&self) -> u64 {
        self.source.lost()
    }

    fn drivers(&self) -> Vec<Driver> {
        self.source.drivers()
    }

    fn notices(&self) -> Vec<String> {
        self.source.notices()
    }

    fn left_out(&self) -> Option<LeftOut> {
        (!self.filter.is_empty()).then_some(self.left_out)
    }
}

fn is_told(filter: &Filter, others: &mut HashMap<ProcessId, bool>, left_out: &mut LeftOut, event: &Event) -> bool {
    match &event.kind {
        EventKind::Started(start) => {
            let matches = filter.matches(start);
            if matches != Match::Yes {
                left_out.processes += 1;
                left_out.unknown += u64::from(matches == Match::Unknown);
                others.insert(event.process, false);
            }
            matches == Match::Yes
        }
        EventKind::Exited { .. } => others.remove(&event.process).is_none(),
        _ => match others.get_mut(&event.process) {
            Some(has_called) => {
                left_out.used_the_driver += u64::from(!*has_called);
                *has_called = true;
                false
            }
            None => true,
        },
    }
}

#[cfg(test)]
mod tests {
    use gpubench_bpf::Within;

    use super::*;
    use crate::cuda::{Recognised, Traps};
    use crate::testing::{Replay, Script};
    use crate::{Origin, Owner};

    fn start(program: &str, user: Option<u32>, cgroup: Option<&str>) -> ProcessStart {
        ProcessStart {
            origin: Origin::Before,
            executable: Some(format!("/opt/{program}").into()),
            command: Vec::new(),
            owner: Owner {
                user,
                cgroup: cgroup.map(Into::into),
            },
        }
    }

    fn filter(programs: &[&str], users: &[u32], cgroups: &[&str]) -> Filter {
        Filter {
            programs: programs.iter().map(ToString::to_string).collect(),
            users: users.iter().copied().collect(),
            cgroups: cgroups.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_process_matches_by_one_value_of_each_kind() {
        let both = filter(&["python3", "train"], &[7], &[]);
        assert_eq!(both.matches(&start("train", Some(7), None)), Match::Yes);
        assert_eq!(both.matches(&start("train", Some(8), None)), Match::No);
        assert_eq!(both.matches(&start("train", None, None)), Match::Unknown);
        assert_eq!(both.matches(&start("other", None, None)), Match::No);
        assert_eq!(filter(&[], &[], &[]).matches(&start("x", None, None)), Match::Yes);
        let hostile = "a\u{1b}[2J\n\"b";
        assert_eq!(
            filter(&[hostile], &[], &[]).matches(&start(hostile, None, None)),
            Match::Yes
        );
    }

    #[test]
    fn a_control_group_matches_with_all_below_it() {
        let of = |group: &str, path: &str| filter(&[], &[], &[group]).matches(&start("x", None, Some(path)));
        for (group, path) in [("/a/b", "/a/b"), ("/a/b/", "/a/b/c"), ("/", "/a"), ("/", "/")] {
            assert_eq!(of(group, path), Match::Yes, "{group} {path}");
        }
        for (group, path) in [("/a/b", "/a/bc"), ("/a/b", "/a"), ("/a", "/b/a")] {
            assert_eq!(of(group, path), Match::No, "{group} {path}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted_and_its_memory_is_given_back_at_its_end() {
        let of = |pid, program| Script::new(pid, 1, program);
        let scripts = [
            of(1, "wanted").launch(1).exit(0),
            of(2, "idle").exit(0),
            of(3, "busy").launch(1).launch(1).exit(0),
            of(4, "busy").launch(1),
        ];
        let events: Vec<Event> = scripts.into_iter().flat_map(|script| script.events).collect();
        let mut filtered = Filtered::new(Replay::new(events), filter(&["wanted"], &[], &[]));
        let mut told = Vec::new();
        filtered.poll(&mut |event| told.push(event.process.pid)).unwrap();
        assert_eq!(told, [1, 1, 1]);
        let left_out = LeftOut {
            processes: 3,
            used_the_driver: 2,
            unknown: 0,
        };
        assert_eq!(filtered.left_out(), Some(left_out));
        assert_eq!(filtered.others.len(), 1, "one runs on");
    }

    #[test]
    fn drivers_are_told_also_with_a_filter() {
        let driver = Driver {
            path: "/opt/libcuda.so.1".into(),
            recognised: Recognised::default(),
            traps: Traps::default(),
            within: Within::AllProcesses,
        };
        let source = Replay {
            drivers: vec![driver.clone()],
            ..Replay::default()
        };
        let filtered = Filtered::new(source, filter(&["wanted"], &[], &[]));
        assert_eq!(filtered.drivers(), [driver]);
    }

    #[test]
    fn without_a_filter_all_is_told_and_nothing_is_said_of_what_is_left_out() {
        let mut filtered = Filtered::new(
            Replay::new(Script::new(1, 1, "app").launch(1).events),
            Filter::default(),
        );
        assert_eq!(filtered.poll(&mut drop).unwrap(), 2);
        assert_eq!(filtered.left_out(), None);
    }
}
