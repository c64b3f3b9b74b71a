//! The JSON schemas of stored files.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::history::{HISTORY_FORMAT, HISTORY_FORMAT_VERSION, HistoryEntry, HistoryHead};
use super::{FORMAT, FORMAT_VERSION, StoredRun};

/// Returns the file names and schemas of a stored run, a history's first line and its other lines.
pub(super) fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("gpubench-run-v2.schema.json", stored_run()),
        ("gpubench-history-head-v2.schema.json", history_head()),
        ("gpubench-history-entry-v2.schema.json", schema_of::<HistoryEntry>()),
    ]
}

fn schema_of<T: schemars::JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn stored_run() -> Value {
    let mut schema = schema_of::<StoredRun>();
    schema["title"] = json!("A run that `cargo gpubench --save-baseline` stores");
    schema["properties"]["format"]["const"] = json!(FORMAT);
    schema["properties"]["format_version"]["const"] = json!(FORMAT_VERSION);
    schema["properties"]["sha256"] = json!({
        "description": "SHA-256 digest of the whole file with these digits as zeros.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    });
    if let Some(required) = schema["required"].as_array_mut() {
        required.push(json!("sha256"));
    }
    schema
}

fn history_head() -> Value {
    let mut schema = schema_of::<HistoryHead>();
    schema["properties"]["format"]["const"] = json!(HISTORY_FORMAT);
    schema["properties"]["format_version"]["const"] = json!(HISTORY_FORMAT_VERSION);
    schema
}
