//! Findings as SARIF 2.1.0, for code scanning.

use std::fmt::Write;

use serde_json::{Value, json};

use super::flaw::{BrokenRule, Flaw};
use super::hidden::HiddenFlaw;
use super::session::{Judged, NOTHING_JUDGED};
use super::text::{headline, hint};
use gpubench_diagnostic::{ExitCode, printable_line};
use gpubench_measure::lint::Rule;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns the log as text.
pub(super) fn log(flaws: &[Flaw], hidden: &[HiddenFlaw], judged: &Judged) -> String {
    let results: Vec<Value> = flaws
        .iter()
        .flat_map(|flaw| flaw.broken.iter().map(move |broken| result(flaw, broken)))
        .chain(hidden.iter().map(result_of_hidden))
        .collect();
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| descriptor(*rule)).collect();
    let failed = judged
        .failures
        .iter()
        .map(|(case, failure)| format!("`{case}` could not be judged: {}", failure.message));
    let with_structs = judged.with_structs.iter().map(|(case, tensor)| {
        let text = format!("`{case}` was not judged: `{tensor}` holds structs, for which no wrong answers are tried");
        json!({ "level": "note", "message": { "text": printable_line(&text) } })
    });
    let nothing = judged.has_judged_nothing().then(|| NOTHING_JUDGED.to_owned());
    let failures: Vec<Value> = failed
        .chain(nothing)
        .map(|text| json!({ "level": "error", "message": { "text": printable_line(&text) } }))
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cargo-gpubench",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": failures.is_empty(),
                "toolExecutionNotifications": failures.iter().cloned().chain(with_structs).collect::<Vec<Value>>(),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": { "text": rule.describe() },
        "help": { "text": rule.hint() },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(flaw: &Flaw, broken: &BrokenRule) -> Value {
    let rule = broken.rule;
    let (file, line) = flaw.place();
    let message = format!(
        "{} in problem `{}`, for example in `{}` (hint: {})",
        headline(flaw, broken),
        flaw.problem,
        broken.cases.first().map_or("", |case| case),
        hint(flaw, rule)
    );
    json!({
        "ruleId": rule.name(),
        "ruleIndex": Rule::ALL.iter().position(|other| *other == rule),
        "level": "error",
        "message": { "text": printable_line(&message) },
        "locations": locations(file, line, &flaw.problem),
        "partialFingerprints": { "problemOutput/v1": printable_line(&format!("{}/{}", flaw.problem, flaw.output)) },
        "properties": {
            "cases": broken.cases,
            "exitCode": ExitCode::ProblemFlawed.number(),
        },
    })
}

fn result_of_hidden(flaw: &HiddenFlaw) -> Value {
    let (rule, (file, line)) = (Rule::HiddenIsPublic, &flaw.place);
    let message = format!(
        "{} in problem `{}` (hint: {})",
        flaw.headline(),
        flaw.problem,
        rule.hint()
    );
    json!({
        "ruleId": rule.name(),
        "ruleIndex": Rule::ALL.iter().position(|other| *other == rule),
        "level": "error",
        "message": { "text": printable_line(&message) },
        "locations": locations(file, *line, &flaw.problem),
        "partialFingerprints": { "problemOutput/v1": printable_line(&flaw.problem) },
        "properties": { "cases": flaw.cases, "exitCode": ExitCode::ProblemFlawed.number() },
    })
}

/// Returns where a problem is.
fn locations(file: &str, line: u32, problem: &str) -> Value {
    json!([{
        "physicalLocation": {
            "artifactLocation": uri(file),
            "region": { "startLine": line.max(1) },
        },
        "logicalLocations": [{ "fullyQualifiedName": printable_line(problem), "kind": "function" }],
    }])
}

/// Returns the location of a file. Relative ones are relative to the root of the sources.
fn uri(file: &str) -> Value {
    let mut escaped = String::new();
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => escaped.push(byte as char),
            _ => {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
    }
    match file.starts_with('/') {
        true => json!({ "uri": format!("file://{escaped}") }),
        false => json!({ "uri": escaped, "uriBaseId": "%SRCROOT%" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_escaped() {
        assert_eq!(uri("src/a b%.rs")["uri"], "src/a%20b%25.rs");
        assert_eq!(uri("/tmp/a.rs")["uri"], "file:///tmp/a.rs");
        assert_eq!(uri("/tmp/a.rs").get("uriBaseId"), None);
    }
}
