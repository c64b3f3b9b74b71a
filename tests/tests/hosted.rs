//! Hosted benchmarks: honest ones pass, and each of the others ends in its expected verdict and
//! cause.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Ending, Finished, Fixture, Records, Run, ends};

/// Runs all cases of the crate once, with a file descriptor and an environment variable that
/// workers must not inherit.
fn run() -> &'static Finished {
    static RUN: OnceLock<Finished> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = Run::after("exec 9<Cargo.toml", &Fixture::new("hosted"));
        let run = run.env("GPUBENCH_SECRET", "1").briefly().json();
        run.giving_up("::hangs", "3s").finish()
    })
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| run().records())
}

#[test]
fn honest_benchmarks_pass_with_their_execution() {
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
        assert_eq!(result["grade"], "unverified", "{case}");
        // An incomplete sandbox would be another reason.
        let reason = "kernels of the CPU device run inside the worker and could change the times that it reports";
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
    a_panic_during_setup_is_an_error: "set_up::panics" is "error", "setup-failed", "panicked", "no handle for 600", "src/set_up.rs:";
    an_error_during_setup_is_an_error: "set_up::fails" is "error", "setup-failed", "the library has another version";
    a_setup_that_exits_is_reported: "set_up::exits" is "crashed", "exited", "code 0", "setting up";
    a_setup_that_aborts_is_reported: "set_up::aborts" is "crashed", "killed", "SIGABRT", "setting up";
    a_setup_that_hangs_times_out: "set_up::hangs" is "timeout", "slow", "set up", "3s";
    a_benchmark_without_a_call_is_an_error: "set_up::declares_nothing" is "error", "setup-failed", "set_up::declares_nothing", "`Host::call`";
    a_benchmark_with_two_calls_is_an_error: "set_up::declares_two" is "error", "setup-failed", "two calls";
    an_ignored_error_of_a_second_call_fails_the_case: "set_up::passes_the_second_over" is "error", "setup-failed", "two calls";
    another_element_type_is_named: "set_up::takes_another_type" is "error", "setup-failed", "`x`", "In<f32>", "In<f64>";
    a_part_outside_its_buffer_is_an_error: "set_up::leaves_a_buffer" is "error", "setup-failed", "601", "600", "src/set_up.rs:";
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

/// Timing decides which check finds the late write: the output digest, the snapshot or the second
/// snapshot.
#[test]
fn calls_that_return_before_their_work_ends_never_pass() {
    for benchmark in ["late::finishes_from_a_thread", "late::keeps_writing"] {
        records().assert_is_late(benchmark);
    }
}

// Calls that may wait for the device.
ends! {
    a_failed_synchronizing_call_is_named: "sync::fails" is "crashed", "call-failed", "call 1", "cudaErrorNoDevice";
    a_synchronizing_call_that_hangs_times_out: "sync::hangs" is "timeout", "slow", "call 1", "(hint: raise the limit with `--timeout`)";
    a_synchronizing_call_that_answers_late_is_found: "sync::answers_late" is "wrong-output", "stale", "`y`", "previous call";
}

#[test]
fn synchronizing_calls_are_timed_from_outside() {
    for (case, at_least_ns) in [("sync::waits_for_a_thread::n=600", 0.0), ("sync::sleeps::n=600", 20e6)] {
        let result = records().result(case);
        assert_eq!(result["verdict"], "pass", "{case}: {}", result["message"]);
        assert_eq!(result["execution"], "hosted-sync", "{case}");
        assert_eq!(result["grade"], "unverified", "{case}");
        let median_ns = result["stats"]["median"].as_f64().unwrap();
        let empty_ns = result["empty_call_ns"].as_f64().unwrap();
        assert!(
            empty_ns > 0.0 && median_ns >= at_least_ns,
            "{case}: {empty_ns} and {median_ns}"
        );
        if at_least_ns > 0.0 {
            assert!(empty_ns < at_least_ns, "{case}: {empty_ns}");
        }
        assert!(result["event_overhead_ns"].is_null(), "{case}");
    }
    let queued = records().result("honest::on_the_host::n=600");
    assert!(queued["empty_call_ns"].is_null() && queued["event_overhead_ns"].is_number());
}

/// A thread may be done before the check that would find it.
#[test]
fn synchronizing_calls_that_do_not_do_their_work_never_pass() {
    for benchmark in ["sync::leaves_a_thread", "sync::starts_before_go"] {
        records().assert_is_late(benchmark);
    }
}

#[test]
fn synchronizing_calls_are_measured_one_by_one() {
    let run = Run::on(&Fixture::new("hosted")).json();
    let run = run
        .args(["--mode", "hot,graph", "--exact", "sync::sleeps::n=600"])
        .finish();
    assert_eq!(run.ending, Ending::Code(0));
    let records = run.records();
    let results: Vec<_> = records.results().collect();
    assert_eq!(results.len(), 2);
    for (result, why) in results.iter().zip(["back to back", "captured in a graph"]) {
        assert_eq!(result["verdict"], "skipped", "{result}");
        let message = result["message"].as_str().unwrap();
        assert!(message.contains(why) && message.contains("`hosted(sync)`"), "{message}");
    }
}

// Reaching out.
ends! {
    signals_to_the_broker_are_refused: "reach::kills_the_parent" is "error", "setup-failed", "Operation not permitted";
    signals_to_the_broker_are_refused_in_every_thread: "reach::kills_the_parent_from_another_thread" is "error", "setup-failed", "Operation not permitted";
    signals_to_all_processes_are_refused: "reach::kills_everybody" is "error", "setup-failed", "Operation not permitted";
    signals_to_the_group_are_refused: "reach::kills_its_group" is "error", "setup-failed", "Operation not permitted";
    signals_to_threads_by_id_are_refused: "reach::kills_a_thread_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    tracing_the_broker_is_refused: "reach::traces_the_parent" is "error", "setup-failed", "Operation not permitted";
    reading_the_broker_is_refused: "reach::reads_the_parent" is "error", "setup-failed", "Operation not permitted";
    a_pidfd_of_the_broker_is_refused: "reach::opens_the_parent" is "error", "setup-failed", "Operation not permitted";
    limits_for_the_broker_are_refused: "reach::limits_the_parent" is "error", "setup-failed", "Operation not permitted";
    changing_the_brokers_affinity_is_refused: "reach::moves_the_parent_to_its_processors" is "error", "setup-failed", "Operation not permitted";
    changing_the_brokers_priority_is_refused: "reach::lowers_the_priority_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    changing_the_users_priority_is_refused: "reach::lowers_the_priority_of_its_user" is "error", "setup-failed", "Operation not permitted";
    changing_the_brokers_scheduling_is_refused: "reach::schedules_the_parent" is "error", "setup-failed", "Operation not permitted";
    changing_the_brokers_io_priority_is_refused: "reach::queues_the_parents_requests_last" is "error", "setup-failed", "Operation not permitted";
    starting_siblings_is_refused: "reach::starts_a_child_of_the_parent" is "error", "setup-failed", "Operation not permitted";
    starting_children_in_other_namespaces_is_refused: "reach::starts_a_child_in_another_namespace" is "error", "setup-failed", "Operation not permitted";
    io_uring_is_refused: "reach::queues_calls_for_the_kernel" is "error", "setup-failed", "Operation not permitted";
    clone3_is_unavailable: "reach::starts_a_child_with_flags_in_memory" is "error", "setup-failed", "Function not implemented";
    other_namespaces_are_refused: "reach::leaves_its_namespaces" is "error", "setup-failed", "Operation not permitted";
    its_library_cannot_be_written: "reach::opens_its_library_for_writing" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_removed: "reach::removes_its_library" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_renamed: "reach::renames_its_library" is "error", "setup-failed", "Permission denied";
    its_library_cannot_be_linked: "reach::links_its_library" is "error", "setup-failed", "Permission denied";
    compiled_kernels_cannot_be_written: "reach::opens_compiled_kernels_for_writing" is "error", "setup-failed", "Permission denied";
    nothing_is_created_next_to_the_tool: "reach::creates_a_file_next_to_the_tool" is "error", "setup-failed", "Permission denied";
    nothing_is_created_for_other_processes_to_find: "reach::creates_a_file_for_temporary_ones" is "error", "setup-failed", "Permission denied";
    the_brokers_memory_cannot_be_opened: "reach::opens_the_parents_memory" is "error", "setup-failed", "Permission denied";
    the_brokers_descriptors_cannot_be_opened: "reach::opens_a_descriptor_of_the_parent" is "error", "setup-failed", "Permission denied";
    the_brokers_environment_cannot_be_read: "reach::reads_the_parents_environment" is "error", "setup-failed", "Permission denied";
    a_worker_inherits_only_its_connection_and_buffers:
        "reach::lists_what_it_has" is "error", "setup-failed", "descriptors [/memfd, socket], variables []";
}

#[test]
fn a_worker_may_signal_and_schedule_itself() {
    for benchmark in [
        "reach::signals_itself",
        "reach::schedules_itself",
        "reach::writes_in_its_own_folder",
    ] {
        let result = records().result(benchmark);
        assert_eq!(result["verdict"], "pass", "{benchmark}: {}", result["message"]);
    }
}

#[test]
fn the_run_has_the_exit_code_of_failed_cases() {
    assert_eq!(run().ending, Ending::Code(100));
}
