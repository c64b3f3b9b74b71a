//! Checks that the JSON schema in the repository matches the record types.

use serde_json::{Value, json};

use gpubench_contract::{BenchmarkListed, ParamValue, Params, Record, SchemaVersion};
use gpubench_testing::{SampleRun, all_passed, every_change, every_verdict, on_another_device, on_gpu};

/// Set this variable to regenerate the schema.
const UPDATE: &str = "GPUBENCH_UPDATE_SCHEMA";

fn path() -> camino::Utf8PathBuf {
    let name = format!("schema/gpubench-v{}.schema.json", SchemaVersion::NUMBER);
    camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Generates the schema of one line.
fn generated() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Record>().to_value();
    schema["title"] = json!("A record of `cargo gpubench --message-format json`");
    schema
}

fn checked_in() -> Value {
    serde_json::from_str(&std::fs::read_to_string(path()).unwrap()).unwrap()
}

#[test]
fn the_checked_in_schema_matches_the_records() {
    if std::env::var_os(UPDATE).is_some() {
        let text = serde_json::to_string_pretty(&generated()).unwrap() + "\n";
        std::fs::write(path(), text).unwrap();
    }
    assert_eq!(
        checked_in(),
        generated(),
        "run this test with {UPDATE}=1 and look at the difference"
    );
}

#[test]
fn every_sample_record_is_valid() {
    let validator = jsonschema::validator_for(&checked_in()).unwrap();
    let mut with_hidden_rows = every_change();
    with_hidden_rows.keep_changes_of(0.03);
    let comparisons = [every_change(), on_another_device(), with_hidden_rows]
        .map(|comparison| Record::ComparisonComplete(Box::new(comparison)));
    let runs = [every_verdict(), all_passed(), on_gpu()];
    let listed = ["needs a CUDA device", ""].map(|reason| {
        Record::BenchmarkListed(BenchmarkListed {
            schema_version: SchemaVersion,
            package: "suite".into(),
            benchmark: "axpy".into(),
            params: Params(vec![("n".into(), ParamValue::Int(1024))]),
            case: "axpy::n=1024".into(),
            index: 0,
            skipped: (!reason.is_empty()).then(|| reason.into()),
        })
    });
    let records = runs
        .iter()
        .flat_map(SampleRun::records)
        .chain(comparisons)
        .chain(listed);
    for record in records {
        let record = serde_json::to_value(record).unwrap();
        let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} in {record}");
    }
}

#[test]
fn records_that_break_the_schema_are_not_valid() {
    let validator = jsonschema::validator_for(&checked_in()).unwrap();
    let good = serde_json::to_value(&every_verdict().records()[2]).unwrap();
    assert!(validator.is_valid(&good));
    let mut incomplete = good.clone();
    incomplete.as_object_mut().unwrap().remove("grade");
    assert!(!validator.is_valid(&incomplete), "unknown values are null, not missing");
    let broken = [
        ("reason", json!("benchmark-done")),
        ("schema_version", json!(1)),
        ("verdict", json!("fine")),
        ("params", json!({ "len": [1] })),
        ("samples", json!(["1"])),
        ("run_id", json!(null)),
    ];
    for (field, value) in broken {
        let mut record = good.clone();
        record[field] = value;
        assert!(!validator.is_valid(&record), "{field}");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let validator = jsonschema::validator_for(&checked_in()).unwrap();
    let mut record = serde_json::to_value(&every_verdict().records()[2]).unwrap();
    record["added_later"] = json!(1);
    assert!(validator.is_valid(&record));
    assert!(serde_json::from_value::<Record>(record).is_ok());
}

#[test]
fn required_fields_are_always_present() {
    let record = serde_json::to_value(every_verdict().records().pop().unwrap()).unwrap();
    for field in [
        "reason",
        "schema_version",
        "run_id",
        "passed",
        "failed",
        "skipped",
        "wall_ns",
    ] {
        assert!(record.get(field).is_some(), "{field}");
    }
    let skipped = every_verdict()
        .results
        .into_iter()
        .find(|result| result.stats.is_none())
        .unwrap();
    let record = serde_json::to_value(Record::BenchmarkComplete(Box::new(skipped))).unwrap();
    let fields = "reason schema_version run_id package benchmark params verdict cause message grade mode device metric samples workers sample_flags \
        stats host_ns event_overhead_ns stop throughput checks windows distinct_inputs conservation environment wall_ns";
    for field in fields.split_whitespace() {
        assert!(record.get(field).is_some(), "{field}");
    }
}
