//! What happened in each audited call, from what was seen and the spans of the calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::SeenCalls;
use gpubench_contract::{CallAudit, ObservedCall, ObservedKernel, ObservedSystemCall, ObservedWork};
use gpubench_device::harness::kernel_names;
use gpubench_measure::verdict::WindowSpan;

/// What happened in one call.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Its totals. Their launches, streams and kernels are still zero.
    pub(super) totals: CallAudit,
    /// Submissions to the GPU that its calls of the driver explain at most, besides launches.
    pub(super) explained: u64,
    pub(super) streams: BTreeSet<u64>,
    /// Launches by kernel; `None` for kernels whose name the driver did not tell.
    pub(super) kernels: BTreeMap<Option<ObservedKernel>, u64>,
    /// System calls in the timed region, by name. `None` if the region has no host code.
    pub(super) system_calls: Option<BTreeMap<String, u64>>,
}

/// Returns what happened in the span of each call, by its worker and the processes that it started.
/// The first call, which may set things up, is left out if there are more. `None` without spans, or
/// if no call of a driver was seen in these processes.
pub(super) fn calls(seen: &SeenCalls, spans: &[WindowSpan]) -> Option<Vec<Call>> {
    let processes = Processes::new(&seen.calls, spans);
    let mut spans = Spans::new(spans);
    let is_seen = add_driver_calls(&mut spans, &processes, &seen.calls);
    add_system_calls(&mut spans, &processes, &seen.system_calls);
    let left_out = usize::from(spans.0.len() > 1);
    let calls: Vec<Call> = spans.0.into_iter().skip(left_out).map(|(_, call)| call).collect();
    (is_seen && !calls.is_empty()).then_some(calls)
}

/// Adds what processes asked of the driver to the calls in whose spans they did. Returns whether
/// they asked for anything, within a span or not.
fn add_driver_calls(spans: &mut Spans, processes: &Processes, calls: &[ObservedCall]) -> bool {
    let own: BTreeSet<&str> = kernel_names().collect();
    let mut is_seen = false;
    for call in calls {
        let Some(worker) = processes.worker_of(call.process) else {
            continue;
        };
        is_seen |= !matches!(call.work, ObservedWork::Forked { .. } | ObservedWork::Lived);
        if let Some(position) = spans.position(worker, call.at_ns) {
            spans.0[position].1.add(&call.work, &own);
        }
    }
    is_seen
}

/// Adds system calls to the calls in whose timed regions they began.
fn add_system_calls(spans: &mut Spans, processes: &Processes, system_calls: &[ObservedSystemCall]) {
    for call in system_calls {
        let position = processes
            .worker_of(call.process)
            .and_then(|worker| spans.position(worker, call.at_ns));
        let Some((span, within)) = position.and_then(|position| spans.0.get_mut(position)) else {
            continue;
        };
        let is_timed = |(from, until): (u64, u64)| (from..until).contains(&call.at_ns);
        if let Some(calls) = within
            .system_calls
            .as_mut()
            .filter(|_| span.timed_ns.is_some_and(is_timed))
        {
            *calls.entry(call.name.clone()).or_default() += 1;
        }
    }
}

impl Call {
    /// Returns the number of launches, without those of the tool.
    pub(super) fn launches(&self) -> u64 {
        self.kernels.values().sum()
    }

    fn new(span: &WindowSpan) -> Call {
        Call {
            system_calls: span.timed_ns.map(|_| BTreeMap::new()),
            ..Call::default()
        }
    }

    /// Adds what a process asked for. `own` has the symbols of the tool's kernels.
    fn add(&mut self, work: &ObservedWork, own: &BTreeSet<&str>) {
        let totals = &mut self.totals;
        match work {
            ObservedWork::Launch { kernel, stream } => {
                if !kernel.as_ref().is_some_and(|kernel| own.contains(&*kernel.symbol)) {
                    self.streams.insert(*stream);
                    *self.kernels.entry(kernel.clone()).or_default() += 1;
                }
            }
            ObservedWork::GraphLaunch { stream } => {
                self.explained += 1;
                totals.graph_launches += 1.0;
                self.streams.insert(*stream);
            }
            ObservedWork::Copy {
                bytes,
                submissions,
                stream,
            } => {
                self.explained += submissions;
                totals.copies += 1.0;
                totals.copied_bytes += *bytes as f64;
                self.streams.insert(*stream);
            }
            ObservedWork::Fill { stream } => {
                self.explained += 1;
                totals.memsets += 1.0;
                self.streams.insert(*stream);
            }
            ObservedWork::RecordEvent => self.explained += 1,
            ObservedWork::Allocate { bytes } => {
                totals.allocations += 1.0;
                totals.unfreed_bytes += *bytes as f64;
            }
            ObservedWork::Free { bytes } => {
                totals.frees += 1.0;
                totals.unfreed_bytes -= *bytes as f64;
            }
            ObservedWork::LoadModule => totals.modules_loaded += 1.0,
            ObservedWork::Failed => totals.failed_calls += 1.0,
            ObservedWork::Forked { .. } | ObservedWork::Lived | ObservedWork::Other => {}
        }
    }
}

/// The spans of calls, in the order of time. Calls are audited one after another.
struct Spans(Vec<(WindowSpan, Call)>);

impl Spans {
    fn new(spans: &[WindowSpan]) -> Spans {
        let mut spans: Vec<_> = spans.iter().map(|span| (*span, Call::new(span))).collect();
        spans.sort_by_key(|(span, _)| span.began_ns);
        Spans(spans)
    }

    /// Returns the position of the span in which a worker was at a point in time.
    fn position(&self, worker: u32, at_ns: u64) -> Option<usize> {
        let after = self.0.partition_point(|(span, _)| span.began_ns <= at_ns);
        let position = after.checked_sub(1)?;
        let (span, _) = &self.0[position];
        (span.process == worker && at_ns <= span.ended_ns).then_some(position)
    }
}

/// The workers of the spans, and the processes that they started.
struct Processes(HashMap<u32, u32>);

impl Processes {
    fn new(calls: &[ObservedCall], spans: &[WindowSpan]) -> Processes {
        let mut workers: HashMap<u32, u32> = spans.iter().map(|span| (span.process, span.process)).collect();
        for call in calls {
            if let ObservedWork::Forked { parent } = call.work
                && let Some(worker) = workers.get(&parent).copied()
            {
                workers.insert(call.process, worker);
            }
        }
        Processes(workers)
    }

    fn worker_of(&self, pid: u32) -> Option<u32> {
        self.0.get(&pid).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(process: u32, began_ns: u64) -> WindowSpan {
        WindowSpan {
            process,
            began_ns,
            ended_ns: began_ns + 10,
            timed_ns: Some((began_ns + 2, began_ns + 8)),
            submissions: None,
        }
    }

    fn at(at_ns: u64, process: u32, work: ObservedWork) -> ObservedCall {
        ObservedCall { at_ns, process, work }
    }

    fn launch(symbol: &str) -> ObservedWork {
        ObservedWork::Launch {
            kernel: Some(ObservedKernel {
                symbol: symbol.to_owned(),
                name: symbol.to_owned(),
            }),
            stream: 1,
        }
    }

    /// The only call of worker 7, in which all of this happens.
    fn call_with(work: Vec<ObservedWork>) -> Call {
        let seen = SeenCalls {
            calls: work.into_iter().map(|work| at(105, 7, work)).collect(),
            ..SeenCalls::default()
        };
        let mut calls = calls(&seen, &[span(7, 100)]).expect("a call");
        assert_eq!(calls.len(), 1);
        calls.remove(0)
    }

    #[test]
    fn each_kind_of_work_adds_to_its_own_numbers() {
        use ObservedWork::{Allocate, Copy, Failed, Fill, Free, GraphLaunch, Lived, LoadModule, Other, RecordEvent};
        let copy = |bytes, submissions, stream| Copy {
            bytes,
            submissions,
            stream,
        };
        let none = CallAudit::default;
        type Expected = (CallAudit, u64, &'static [u64]);
        let rows: [(Vec<ObservedWork>, Expected); 10] = [
            (
                vec![GraphLaunch { stream: 4 }, GraphLaunch { stream: 5 }],
                (
                    CallAudit {
                        graph_launches: 2.0,
                        ..none()
                    },
                    2,
                    &[4, 5],
                ),
            ),
            (
                vec![copy(100, 3, 6), copy(20, 1, 6)],
                (
                    CallAudit {
                        copies: 2.0,
                        copied_bytes: 120.0,
                        ..none()
                    },
                    4,
                    &[6],
                ),
            ),
            (
                vec![Fill { stream: 2 }, Fill { stream: 3 }],
                (CallAudit { memsets: 2.0, ..none() }, 2, &[2, 3]),
            ),
            (vec![RecordEvent; 3], (none(), 3, &[])),
            (
                vec![Allocate { bytes: 64 }, Allocate { bytes: 8 }],
                (
                    CallAudit {
                        allocations: 2.0,
                        unfreed_bytes: 72.0,
                        ..none()
                    },
                    0,
                    &[],
                ),
            ),
            (
                vec![Allocate { bytes: 64 }, Free { bytes: 60 }, Free { bytes: 5 }],
                (
                    CallAudit {
                        allocations: 1.0,
                        frees: 2.0,
                        unfreed_bytes: -1.0,
                        ..none()
                    },
                    0,
                    &[],
                ),
            ),
            (
                vec![LoadModule; 2],
                (
                    CallAudit {
                        modules_loaded: 2.0,
                        ..none()
                    },
                    0,
                    &[],
                ),
            ),
            (
                vec![Failed; 2],
                (
                    CallAudit {
                        failed_calls: 2.0,
                        ..none()
                    },
                    0,
                    &[],
                ),
            ),
            (vec![launch("gemm"), launch("gb_digest")], (none(), 0, &[1])),
            (vec![Lived, Other], (none(), 0, &[])),
        ];
        for (work, (totals, explained, streams)) in rows {
            let call = call_with(work.clone());
            assert_eq!(call.totals, totals, "{work:?}");
            assert_eq!(call.explained, explained, "{work:?}");
            assert_eq!(call.streams, streams.iter().copied().collect(), "{work:?}");
        }
        assert_eq!(
            call_with(vec![launch("gemm"), launch("gemm"), launch("gb_digest")]).launches(),
            2
        );
    }

    #[test]
    fn a_call_has_the_work_of_its_worker_and_of_what_that_started_while_it_lasted() {
        let forked = |at_ns, process, parent| at(at_ns, process, ObservedWork::Forked { parent });
        let seen = SeenCalls {
            calls: vec![
                forked(50, 71, 7),
                forked(51, 72, 71),
                forked(52, 90, 1),
                at(99, 7, launch("before")),
                at(100, 7, launch("first")),
                at(105, 71, launch("of-a-child")),
                at(105, 72, launch("of-a-grandchild")),
                at(105, 90, launch("of-another")),
                at(105, 8, launch("of-the-next-worker")),
                at(110, 7, launch("last")),
                at(111, 7, launch("after")),
                at(205, 8, launch("of-worker-8")),
                at(205, 7, launch("of-worker-7")),
            ],
            ..SeenCalls::default()
        };
        let names = |spans: &[WindowSpan]| -> Vec<Vec<String>> {
            let calls = calls(&seen, spans).expect("calls");
            let names = |call: &Call| {
                call.kernels
                    .keys()
                    .flatten()
                    .map(|kernel| kernel.name.clone())
                    .collect()
            };
            calls.iter().map(names).collect()
        };
        let first = ["first", "last", "of-a-child", "of-a-grandchild"];
        assert_eq!(names(&[span(7, 100)]), [first]);
        // The first call is left out, in whichever order the spans are.
        assert_eq!(names(&[span(8, 200), span(7, 100)]), [["of-worker-8"]]);
    }

    #[test]
    fn system_calls_count_only_while_the_time_is_taken() {
        let system_call = |at_ns| ObservedSystemCall {
            at_ns,
            process: 7,
            name: "read".to_owned(),
        };
        let seen = SeenCalls {
            calls: vec![at(105, 7, launch("gemm"))],
            system_calls: [101, 102, 107, 108].map(system_call).into(),
            lost: 0,
        };
        let number = |span| {
            let calls = calls(&seen, &[span]).expect("a call");
            calls[0].system_calls.as_ref().map(|calls| calls.values().sum::<u64>())
        };
        assert_eq!(number(span(7, 100)), Some(2));
        let untimed = WindowSpan {
            timed_ns: None,
            ..span(7, 100)
        };
        assert_eq!(number(untimed), None);
    }

    #[test]
    fn a_worker_of_which_nothing_but_its_life_was_seen_has_no_calls() {
        for (work, is_seen) in [
            (vec![], false),
            (vec![ObservedWork::Lived, ObservedWork::Forked { parent: 7 }], false),
            (vec![ObservedWork::Other], true),
        ] {
            let seen = SeenCalls {
                calls: work.iter().map(|work| at(5, 7, work.clone())).collect(),
                ..SeenCalls::default()
            };
            assert_eq!(calls(&seen, &[span(7, 100)]).is_some(), is_seen, "{work:?}");
            assert!(calls(&seen, &[]).is_none());
        }
    }
}
