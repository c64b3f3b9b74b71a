//! A calibration as text.

use anstyle::{AnsiColor, Style};

use super::budget::{bound_of, time_of};
use gpubench_contract::units::{counted, percent, time};
use gpubench_contract::{
    CalibratedTimes, CalibrationComplete, CalibrationStanding, Grade, KnownLength, Method, MethodCalibration,
};
use gpubench_diagnostic::layout::{fitted, padded, width, with_heading};
use gpubench_diagnostic::printable_line;

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// What a cell without a value shows.
const UNKNOWN: &str = "-";

const HEADS: [&str; 8] = [
    "known",
    "reported",
    "spread",
    "difference",
    "",
    "unexplained",
    "drift",
    "bound",
];

/// Returns the tables of a calibration for a line of `columns` columns.
pub(super) fn text(calibration: &CalibrationComplete, columns: usize) -> String {
    let device = printable_line(&calibration.device.name);
    let tables: String = calibration.methods.iter().map(table).collect();
    let sentences: String = calibration.methods.iter().filter_map(sentence).collect();
    let legend = legend(calibration, columns);
    let tables = fitted(
        &format!("{TITLE}Kernels of known length on {device}{TITLE:#}\n{tables}"),
        columns,
    );
    let end = fitted(&format!("{sentences}\n{}", conclusion(calibration)), columns);
    format!("{tables}\n{legend}\n{end}")
}

/// Returns the name of a kind of time: `cold`, `graph, single calls`.
fn name(method: &MethodCalibration) -> String {
    match method.times {
        CalibratedTimes::Value => method.mode.to_string(),
        CalibratedTimes::SingleCalls => format!("{}, single calls", method.mode),
    }
}

/// Returns what is timed.
fn meaning(method: &MethodCalibration) -> String {
    let calls = method.lengths.iter().map(|length| length.calls_per_sample);
    match (method.times, method.mode) {
        (CalibratedTimes::SingleCalls, _) => "calls of a graph alone, each after a flush".to_owned(),
        (CalibratedTimes::Value, Method::Cold) => "one call after a flush of the caches".to_owned(),
        (CalibratedTimes::Value, Method::Warm) => "one call without a flush".to_owned(),
        (CalibratedTimes::Value, Method::Hot) => "calls back to back, divided by their number".to_owned(),
        (CalibratedTimes::Value, Method::Graph) => {
            let calls = calls.max().unwrap_or(1);
            format!("a graph of {}, divided by their number", counted(calls, "call"))
        }
        (CalibratedTimes::Value, Method::HotGraph) => "a graph of hot calls, divided by their number".to_owned(),
    }
}

/// Returns how far the times can be trusted: `graded sealed`.
fn grades(method: &MethodCalibration) -> String {
    let reported = method.lengths.iter().flat_map(|length| &length.reported);
    let mut grades: Vec<Grade> = reported.filter_map(|reported| reported.grade).collect();
    grades.sort();
    grades.dedup();
    let words: Vec<&str> = grades.into_iter().map(Grade::as_str).collect();
    match words.is_empty() {
        true => "not graded".to_owned(),
        false => format!("graded {}", words.join(" and ")),
    }
}

fn table(method: &MethodCalibration) -> String {
    let shown = |ns: Option<f64>| ns.map_or_else(|| UNKNOWN.to_owned(), |ns| time(ns).to_string());
    let mut page = format!(
        "\n{TITLE}{}{TITLE:#}: {}; {}\n  empty measurement: {}; kernel that returns at once: {}\n",
        name(method),
        meaning(method),
        grades(method),
        shown(method.empty_ns),
        shown(method.empty_kernel_ns)
    );
    let rows: Vec<[String; HEADS.len()]> = method.lengths.iter().map(cells).collect();
    let widths: [usize; HEADS.len()] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| width(&row[column]));
        cells.max().unwrap_or(0).max(width(HEADS[column]))
    });
    let line = |cells: &[String]| -> String {
        let cells = cells.iter().zip(widths).map(|(cell, room)| right(cell, room));
        cells.collect::<Vec<_>>().join("  ")
    };
    page += "  ";
    page += &line(&HEADS.map(str::to_owned));
    page += "\n";
    for (length, row) in method.lengths.iter().zip(&rows) {
        let (sign, style) = match length.standing.is_good() {
            true => ('✓', GOOD),
            false => ('✗', BAD),
        };
        let sign = format!("{style}{sign}{style:#} ");
        page.extend([&*sign, &line(row), "\n"]);
    }
    page + &clock(method)
}

/// Returns what the second clock of the kernels says, if they have one: the frequency of the
/// multiprocessor follows from both clocks, and does not depend on the length if both are right.
fn clock(method: &MethodCalibration) -> String {
    let long = method.lengths.iter().filter(|length| length.least_ns > 0.0);
    let frequencies = long.filter_map(|length| {
        let gigahertz = length.cycles? / length.known_ns?;
        Some(format!("{:.0} MHz at {}", gigahertz * 1e3, time(length.least_ns)))
    });
    let frequencies: Vec<String> = frequencies.collect();
    match frequencies.is_empty() {
        true => String::new(),
        false => format!("  clock of the multiprocessors: {}\n", frequencies.join(", ")),
    }
}

fn cells(length: &KnownLength) -> [String; HEADS.len()] {
    let unknown = || UNKNOWN.to_owned();
    let reported = time_of(length);
    let known = length.known_ns.filter(|_| length.least_ns > 0.0);
    let share = length.difference_ns.zip(known);
    let spreads = length
        .reported
        .iter()
        .map(|reported| (reported.q3_ns - reported.q1_ns) / 2.0 / reported.time_ns);
    [
        length.known_ns.map_or_else(unknown, |ns| time(ns).to_string()),
        reported.map_or_else(unknown, |ns| time(ns).to_string()),
        spreads
            .reduce(f64::max)
            .map_or_else(unknown, |spread| format!("±{}", percent(spread))),
        length.difference_ns.map_or_else(unknown, signed),
        share.map_or_else(unknown, |(ns, known)| signed_share(ns / known)),
        length.unexplained_ns.map_or_else(unknown, signed),
        length.drift_ns.map_or_else(unknown, signed),
        bound_of(length).map_or_else(unknown, |ns| time(ns).to_string()),
    ]
}

/// Returns a time with its sign: `+1.312 µs`.
fn signed(ns: f64) -> String {
    format!("{}{}", sign_of(ns), time(ns.abs()))
}

fn signed_share(share: f64) -> String {
    format!("{}{}", sign_of(share), percent(share.abs()))
}

fn sign_of(number: f64) -> &'static str {
    match number {
        _ if number > 0.0 => "+",
        _ if number < 0.0 => "-",
        _ => "",
    }
}

fn right(cell: &str, room: usize) -> String {
    format!("{}{cell}", padded("", room.saturating_sub(width(cell))))
}

/// Says what the columns mean, and what is known and what is not.
fn legend(calibration: &CalibrationComplete, columns: usize) -> String {
    let tick = calibration
        .device
        .clock_tick_ns
        .map_or_else(|| "unknown".to_owned(), |ns| time(ns).to_string());
    let known =
        format!("the kernel's length by its own first and last reading of the device's clock, whose step is {tick}");
    let lines = [
        (
            "empty",
            "two timing events with nothing between them; part of each sample",
        ),
        ("known", known.as_str()),
        (
            "reported",
            "what the mode says, the mean of both runs; spread is half of the distance between the quartiles",
        ),
        (
            "difference",
            "reported minus known: the launch before the first reading and the end after the last one, which are not known by themselves",
        ),
        (
            "unexplained",
            "the difference minus that of the kernel that returns at once",
        ),
        ("drift", "from the first run to the second"),
        ("bound", "how much of a call may be missing from the time"),
    ];
    let longest = lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let lines =
        lines.map(|(name, meaning)| with_heading(&format!("  {}  ", padded(name, longest)), [meaning], columns));
    lines.concat()
}

/// Returns the plain sentence about a kind of time, if it was measured twice.
fn sentence(method: &MethodCalibration) -> Option<String> {
    let (ns, share) = (method.noise_ns?, method.noise_share?);
    let mode = name(method);
    Some(format!(
        "`{mode}`: differences below {} of kernels up to 10 µs, or below {} of longer ones, mean nothing on this machine.\n",
        time(ns),
        percent(rounded_up(share))
    ))
}

/// Rounds a fraction up to a hundredth of a percent. A smaller one would call noise a difference.
fn rounded_up(share: f64) -> f64 {
    (share * 1e4).ceil() / 1e4
}

fn conclusion(calibration: &CalibrationComplete) -> String {
    let lengths = || {
        calibration
            .methods
            .iter()
            .flat_map(|method| method.lengths.iter().map(move |length| (method, length)))
    };
    let mut bad = lengths().filter(|(_, length)| !length.standing.is_good()).peekable();
    if bad.peek().is_none() {
        return format!(
            "{GOOD}No time contradicts what is known.{GOOD:#} {}\n",
            bounds(lengths().map(|(_, length)| length))
        );
    }
    let lines = bad.map(|(method, length)| {
        let what = match (&length.message, length.standing) {
            (Some(message), _) => printable_line(message).to_string(),
            (None, CalibrationStanding::NotMeasured) => "it was not measured".to_owned(),
            (None, standing) => standing.describe().to_lowercase(),
        };
        format!("{BAD}{}, {}{BAD:#}: {what}\n", name(method), time(length.least_ns))
    });
    lines.collect()
}

/// Says how many times claim a bound, if all of them are as good as they claim.
fn bounds<'a>(lengths: impl Iterator<Item = &'a KnownLength>) -> String {
    let is_bounded = |length: &&KnownLength| length.reported.iter().all(|reported| reported.bound_ns.is_some());
    let (bounded, others): (Vec<_>, Vec<_>) = lengths.partition(is_bounded);
    let within = || {
        format!(
            "The truth lies within the bounds of {}.",
            counted(bounded.len() as u64, "time")
        )
    };
    let unbounded = || {
        let count = counted(others.len() as u64, "time");
        format!("Of {count} without a bound, none is shorter than its kernel.")
    };
    match (bounded.is_empty(), others.is_empty()) {
        (_, true) => within(),
        (true, false) => unbounded(),
        (false, false) => format!("{} {}", within(), unbounded()),
    }
}
