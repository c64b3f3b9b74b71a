//! Hosted benchmarks: those that do what they should pass, and every other one ends in its own
//! verdict and cause.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Ending, Finished, Fixture, Records, Run, ends};

/// All cases of the crate in one run, with a descriptor and a variable that a worker must not have.
fn run() -> &'static Finished {
    static RUN: OnceLock<Finished> = OnceLock::new();
    RUN.get_or_init(|| {
        let limits = ["--timeout", "3s"];
        let run = Run::after("exec 9<Cargo.toml", &Fixture::of("hosted"));
        run.env("GPUBENCH_SECRET", "1").briefly().json().args(limits).finish()
    })
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| run().records())
}

#[test]
fn honest_benchmarks_pass_and_say_who_launched() {
    let expected = [
        ("honest::on_the_host::n=600", "hosted"),
        ("honest::in_two_parts::n=600,cut=1", "hosted"),
        ("honest::in_two_parts::n=600,cut=300", "hosted"),
        ("honest::of_every_kind::n=600", "hosted"),
        ("honest::by_plan::n=600", "sealed"),
    ];
    for (case, execution) in expected {
        let result = records().result(case);
        assert_eq!(result["verdict"], "pass", "{case}: {}", result["message"]);
        assert_eq!(result["execution"], execution, "{case}");
        assert_eq!(result["grade"], "advisory", "{case}");
        // A sandbox that is not closed would be another reason.
        let reason = "kernels of the CPU device are native code in the worker";
        assert_eq!(result["grade_reason"], reason, "{case}");
        assert!(result["distinct_inputs"].as_u64() > Some(4), "{case}");
    }
}

#[test]
fn a_hosted_benchmark_competes_with_a_sealed_one() {
    let problem = |case| &records().result(case)["problem"];
    assert_eq!(problem("honest::on_the_host"), problem("honest::by_plan"));
}

// Set-up.
ends! {
    a_panic_in_the_set_up_is_an_error: "set_up::panics" is "error", "setup-failed", "panicked", "no handle for 600", "src/set_up.rs:";
    an_error_in_the_set_up_is_an_error: "set_up::fails" is "error", "setup-failed", "the library has another version";
    a_set_up_that_exits_is_named: "set_up::exits" is "crashed", "exited", "code 0", "set up";
    a_set_up_that_aborts_is_named: "set_up::aborts" is "crashed", "killed", "SIGABRT", "set up";
    a_set_up_that_hangs_times_out: "set_up::hangs" is "timeout", "slow", "set up", "3s";
    a_benchmark_without_a_call_is_an_error: "set_up::declares_nothing" is "error", "setup-failed", "set_up::declares_nothing", "`Host::call`";
    a_benchmark_with_two_calls_is_an_error: "set_up::declares_two" is "error", "setup-failed", "two calls";
    a_second_call_is_an_error_also_where_it_is_passed_over: "set_up::passes_the_second_over" is "error", "setup-failed", "two calls";
    another_element_type_is_named: "set_up::takes_another_type" is "error", "setup-failed", "`x`", "In<f32>", "In<f64>";
    a_part_that_leaves_its_buffer_is_named: "set_up::leaves_a_buffer" is "error", "setup-failed", "601", "600", "src/set_up.rs:";
}

// Calls.
ends! {
    a_call_that_fails_is_named: "calls::fails" is "crashed", "call-failed", "call 1", "the launch failed with code 98";
    a_later_call_that_fails_is_named: "calls::fails_in_the_third" is "crashed", "call-failed", "call 3", "out of workspaces";
    a_call_that_panics_is_named: "calls::panics" is "crashed", "call-failed", "call 1", "panicked", "out of ideas", "src/calls.rs:";
    a_call_that_exits_is_named: "calls::exits" is "crashed", "exited", "code 0", "call 1";
    a_call_that_writes_an_input_crashes: "calls::writes_an_input" is "crashed", "killed", "SIGSEGV", "call 1";
    a_call_that_hangs_times_out: "calls::hangs" is "timeout", "slow", "call 1", "3s";
    a_call_that_does_nothing_is_found: "calls::does_nothing" is "wrong-output", "unwritten", "`y`", "call 1";
    a_call_that_computes_once_is_found: "calls::computes_the_first_time_only" is "wrong-output", "unwritten", "`y`", "call 2";
}

/// Which look comes first, the output digest, the snapshot or the second snapshot, is a matter of luck.
#[test]
fn calls_that_return_before_their_work_is_done_never_pass() {
    for benchmark in ["late::finishes_from_a_thread", "late::keeps_writing"] {
        let result = records().result(benchmark);
        let verdict = result["verdict"].as_str().unwrap_or_default();
        assert!(
            ["late-write", "wrong-output"].contains(&verdict),
            "{benchmark}: {verdict}: {}",
            result["message"]
        );
    }
}

// Reaching out.
ends! {
    signals_to_the_broker_are_refused: "reach::kills_the_parent" is "error", "setup-failed", "Operation not permitted";
    so_they_are_in_every_thread: "reach::kills_the_parent_from_another_thread" is "error", "setup-failed", "Operation not permitted";
    signals_to_everybody_are_refused: "reach::kills_everybody" is "error", "setup-failed", "Operation not permitted";
    signals_to_the_group_are_refused: "reach::kills_its_group" is "error", "setup-failed", "Operation not permitted";
    signals_to_threads_by_number_are_refused: "reach::kills_a_thread_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    tracing_the_broker_is_refused: "reach::traces_the_parent" is "error", "setup-failed", "Operation not permitted";
    reading_the_broker_is_refused: "reach::reads_the_parent" is "error", "setup-failed", "Operation not permitted";
    a_handle_of_the_broker_is_refused: "reach::opens_the_parent" is "error", "setup-failed", "Operation not permitted";
    limits_for_the_broker_are_refused: "reach::limits_the_parent" is "error", "setup-failed", "Operation not permitted";
    the_brokers_processors_are_its_own: "reach::moves_the_parent_to_its_processors" is "error", "setup-failed", "Operation not permitted";
    the_brokers_priority_is_its_own: "reach::lowers_the_priority_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    the_users_priority_is_its_own: "reach::lowers_the_priority_of_its_user" is "error", "setup-failed", "Operation not permitted";
    the_brokers_scheduling_is_its_own: "reach::schedules_the_parent" is "error", "setup-failed", "Operation not permitted";
    the_brokers_requests_wait_for_no_worker: "reach::queues_the_parents_requests_last" is "error", "setup-failed", "Operation not permitted";
    children_of_the_broker_are_refused: "reach::starts_a_child_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    children_in_other_namespaces_are_refused: "reach::starts_a_child_in_another_namespace" is "error", "setup-failed", "Operation not permitted";
    calls_that_no_filter_sees_are_refused: "reach::queues_calls_for_the_kernel" is "error", "setup-failed", "Operation not permitted";
    flags_that_no_filter_sees_are_unknown: "reach::starts_a_child_with_flags_in_memory" is "error", "setup-failed", "Function not implemented";
    other_namespaces_are_refused: "reach::leaves_its_namespaces" is "error", "setup-failed", "Operation not permitted";
    its_library_cannot_be_written: "reach::opens_its_library_for_writing" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_removed: "reach::removes_its_library" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_renamed: "reach::renames_its_library" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_linked: "reach::links_its_library" is "error", "setup-failed", "Permission denied";
    compiled_kernels_cannot_be_written: "reach::opens_compiled_kernels_for_writing" is "error", "setup-failed", "Permission denied";
    nothing_is_created_beside_the_tool: "reach::creates_a_file_beside_the_tool" is "error", "setup-failed", "Permission denied";
    nothing_is_created_for_other_processes_to_find: "reach::creates_a_file_for_temporary_ones" is "error", "setup-failed", "Permission denied";
    the_brokers_memory_cannot_be_opened: "reach::opens_the_parents_memory" is "error", "setup-failed", "Permission denied";
    the_brokers_descriptors_cannot_be_opened: "reach::opens_a_descriptor_of_the_parent" is "error", "setup-failed", "Permission denied";
    the_brokers_environment_cannot_be_read: "reach::reads_the_parents_environment" is "error", "setup-failed", "Permission denied";
    a_worker_has_its_connection_and_its_buffers_and_nothing_of_the_run:
        "reach::lists_what_it_has" is "error", "setup-failed", "descriptors [/memfd, socket], variables []";
}

#[test]
fn a_worker_may_do_to_itself_what_it_may_not_do_to_others() {
    for benchmark in [
        "reach::signals_itself",
        "reach::schedules_itself",
        "reach::writes_in_its_own_folder",
    ] {
        let result = records().result(benchmark);
        assert_eq!(result["verdict"], "pass", "{benchmark}: {}", result["message"]);
    }
}

/// Between the others, and with what they were given.
#[test]
fn nothing_is_left_behind_and_the_run_says_that_cases_failed() {
    assert_eq!(run().ending, Ending::Code(100));
}
