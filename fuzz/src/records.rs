//! Single records.

use gpubench_contract::Record;
use gpubench_testing::{all_passed, competition, every_change, every_verdict, on_gpu};

/// Reads a record, writes it and reads it again.
pub fn run(data: &[u8]) {
    let Ok(record) = serde_json::from_slice::<Record>(data) else {
        return;
    };
    let text = serde_json::to_string(&record).expect("a record can be written");
    let again: Record = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(again, record, "{text}");
}

/// Returns the records of sample runs.
pub fn seeds() -> Vec<Vec<u8>> {
    let runs = [every_verdict(), all_passed(), on_gpu(), competition()];
    let mut records: Vec<Record> = runs.iter().flat_map(|run| run.records()).collect();
    records.push(Record::ComparisonComplete(Box::new(every_change())));
    records
        .iter()
        .map(|record| serde_json::to_vec(record).expect("a record can be written"))
        .collect()
}
