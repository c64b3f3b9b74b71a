//! A line for each interval, where there is no terminal.

use super::figures::{age, bytes_in_words, bytes_rate, rate_in_words, several};
use super::outline;
use super::screen::failures;
use gpubench_contract::units::listed;
use gpubench_contract::{ProbeSample, ProbeState};

/// Returns the interval in one line, with a line break.
pub fn probe_line(sample: &ProbeSample) -> String {
    let line = match (&sample.calls, &sample.processes_only) {
        (Some(seen), _) => line_of_calls(seen),
        (None, Some(outline)) => outline::line(outline),
        (None, None) => String::new(),
    };
    format!("{}: {line}\n", age(sample.elapsed_ns))
}

fn line_of_calls(seen: &ProbeState) -> String {
    let running = seen.processes.iter().filter(|process| process.running).count() as u64;
    let live: u64 = seen.memory.iter().map(|memory| memory.live_bytes).sum();
    let copied: f64 = seen.copies.iter().map(|copies| copies.bytes_per_second).sum();
    let failed = failures(seen);
    listed([
        Some(several(running, "process", "processes")),
        Some(format!("{} launches/s", rate_in_words(seen.work.launches_per_second))),
        (seen.work.graph_launches > 0)
            .then(|| format!("{} graphs/s", rate_in_words(seen.work.graph_launches_per_second))),
        Some(format!("{} live", bytes_in_words(live))),
        (!seen.copies.is_empty()).then(|| format!("{} copied", bytes_rate(copied))),
        (failed > 0).then(|| several(failed, "error", "errors")),
        (seen.lost_events > 0).then(|| format!("{} lost", several(seen.lost_events, "event", "events"))),
    ])
}
