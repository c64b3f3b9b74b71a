//! Inputs from files of tensors.
#![forbid(unsafe_code)]

use gpubench_tests::{BareMachine, Finished, Fixture, Run};

/// Checks that the case passed with other inputs in each call, and that a notice names the
/// constant.
fn assert_passed(finished: &Finished) {
    let records = finished.records();
    let result = records.result("blend::rows=16,cols=12");
    assert_eq!(result["verdict"], "pass", "{result}");
    assert!(
        result["distinct_inputs"].as_u64().is_some_and(|inputs| inputs > 2),
        "{result}"
    );
    let notices = result["notices"].to_string();
    assert!(
        notices.contains("the contents of `weight` are those of a file in every run"),
        "{notices}"
    );
}

#[test]
fn tensors_of_files_are_other_inputs_for_each_call() {
    let run = Run::on(&Fixture::new("stored")).args(["--device", "cpu", "--test"]);
    assert_passed(&run.json().finish().expect_code(0));
}

#[test]
fn an_archive_has_the_files() {
    let archive = Fixture::target_directory().join(format!("stored-{}.tar.gz", std::process::id()));
    let made = Run::archiving(&Fixture::new("stored"), &archive)
        .finish()
        .expect_code(0);
    assert_eq!(made.stdout, "");
    let machine = BareMachine::with_a_cpp_compiler();
    assert_passed(&machine.run(&archive).args(["--test"]).json().finish().expect_code(0));
}

#[test]
fn a_missing_tensor_is_an_error_of_the_case_that_names_the_others() {
    let run = Run::on(&Fixture::new("stored")).args(["--device", "cpu", "--test", "--ignored"]);
    let finished = run.json().finish();
    let records = finished.records();
    let message = records.result("of_a_missing_tensor::rows=16,cols=12")["message"].to_string();
    assert!(
        message.contains("there is no tensor `layer.0.inputs`: it has `layer.0.weight`, `layer.0.input`"),
        "{message}"
    );
}
