//! `--list`.

use std::io::Write;

use super::cases::Naming;
use super::options::MessageFormat;
use super::run::LibraryCase;
use crate::error::ExpectedError;

/// Prints one name a line, each of which `--exact` accepts; as JSON, one object a line.
pub(super) fn print(cases: &[LibraryCase], naming: Naming, format: MessageFormat) -> Result<(), ExpectedError> {
    let mut text = String::new();
    for LibraryCase { case, .. } in cases {
        let name = case.name_as(naming);
        match format {
            MessageFormat::Human => text.push_str(&name),
            MessageFormat::Json => {
                let line = serde_json::json!({
                    "reason": "benchmark-listed",
                    "schema_version": crate::report::SchemaVersion::NUMBER,
                    "package": case.package,
                    "benchmark": case.path,
                    "params": crate::report::Params::from(&case.params),
                    "case": case.name(),
                });
                text.push_str(&line.to_string());
            }
        }
        text.push('\n');
    }
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|source| ExpectedError::Output {
        what: "the list of benchmarks".to_owned(),
        source,
    })
}
