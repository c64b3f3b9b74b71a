//! Output of the findings, for people and for programs.

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::check::{Area, Check, CheckStatus};
use super::machine::Verdict;
use gpubench_contract::{DeviceWords, SchemaVersion};
use gpubench_device::{Backend, kind_in_records};
use gpubench_diagnostic::layout::{fitted, padded, width, with_heading};
use gpubench_diagnostic::{SetupMissing, printable, printable_json, printable_line};

const TITLE: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Returns the findings as a page of `line` columns with ANSI styles. The output stream decides
/// whether to keep the styles.
pub fn text(checks: &[Check], verdict: &Verdict, line: usize) -> String {
    let mut page = format!("{TITLE}cargo gpubench{TITLE:#} {} doctor\n", env!("CARGO_PKG_VERSION"));
    let longest = checks.iter().map(|check| width(&check.check)).max().unwrap_or(0);
    for (area, title) in Area::ALL {
        let mut of_area = checks.iter().filter(|check| check.area == area).peekable();
        if of_area.peek().is_some() {
            page = format!("{page}\n{TITLE}{}{TITLE:#}\n", title);
        }
        page.extend(of_area.map(|check| entry(check, longest, line)));
    }
    fitted(&(page + &conclusion(verdict)), line)
}

fn entry(check: &Check, longest: usize, line: usize) -> String {
    let (sign, style) = sign_of(check.standing);
    let head = format!("  {style}{sign}{style:#} {}  ", padded(&check.check, longest));
    let texts = [Some(&check.value), check.cost.as_ref()].into_iter().flatten();
    let texts: Vec<String> = texts.map(|text| printable(text)).collect();
    with_heading(&head, texts.iter().map(String::as_str), line)
}

fn sign_of(standing: CheckStatus) -> (char, Style) {
    match standing {
        CheckStatus::Good => ('✓', GOOD),
        CheckStatus::Gap => ('!', DOUBTFUL),
        CheckStatus::Missing => ('✗', BAD),
    }
}

fn conclusion(verdict: &Verdict) -> String {
    match verdict {
        Ok((kind, name)) => {
            let DeviceWords {
                article,
                noun,
                unverified,
                ..
            } = Backend::from_kind(*kind).words();
            let name = printable_line(name);
            let notice = unverified.map_or_else(String::new, |notice| format!("{notice}\n"));
            format!("\n{GOOD}This machine can measure on {article} {noun}:{GOOD:#} {name}\n{notice}")
        }
        Err(SetupMissing { what: reason, hint }) => {
            let [reason, hint] = [reason, hint].map(|text| printable_line(text));
            format!("\n{BAD}This machine cannot measure:{BAD:#} {reason} (hint: {hint})\n")
        }
    }
}

/// One line of `--message-format json`.
#[derive(Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Line<'a> {
    DoctorCheck {
        schema_version: SchemaVersion,
        #[serde(flatten)]
        check: &'a Check,
    },
    DoctorFinished {
        schema_version: SchemaVersion,
        /// The kind of device that would measure; null if none can.
        measures_on: Option<gpubench_contract::DeviceKind>,
        /// The device's name.
        device: Option<&'a str>,
        /// Why no device can measure.
        message: Option<&'a str>,
        gaps: usize,
        missing: usize,
    },
}

/// Returns the findings as one JSON object per line.
pub fn json_lines(checks: &[Check], verdict: &Verdict) -> String {
    let schema_version = SchemaVersion;
    let count = |standing| checks.iter().filter(|check| check.standing == standing).count();
    let (measures_on, device, message) = match verdict {
        Ok((kind, name)) => (Some(kind_in_records(*kind)), Some(name.as_str()), None),
        Err(SetupMissing { what, .. }) => (None, None, Some(what.as_str())),
    };
    let found = checks.iter().map(|check| Line::DoctorCheck { schema_version, check });
    let last = Line::DoctorFinished {
        schema_version,
        measures_on,
        device,
        message,
        gaps: count(CheckStatus::Gap),
        missing: count(CheckStatus::Missing),
    };
    let lines = found.chain([last]);
    lines
        .filter_map(|line| serde_json::to_string(&line).ok())
        .map(|line| printable_json(&line) + "\n")
        .collect()
}
