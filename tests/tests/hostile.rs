//! Kernels and host code that cheat, crash or lie: each ends in its expected verdict and cause, and
//! disturbs no other case.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Finished, Fixture, Records, Run, ends};
use serde_json::Value;

/// Runs all cases of the crate once.
fn run() -> &'static Finished {
    static RUN: OnceLock<Finished> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = Run::on(&Fixture::new("hostile")).briefly().json();
        run.giving_up("loops_forever|stops_itself|hangs", "3s").finish()
    })
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| run().records())
}

// Answers.
ends! {
    a_repeated_first_answer_is_cached:
        "answers::keeps_the_first_answer" is "wrong-output", "cached", "`y`", "the expected output of the first call", "`y[0]`", "expected", "got";
    an_answer_looked_up_by_input_address_is_cached:
        "answers::keeps_answers_by_address" is "wrong-output", "cached", "`y`", "the expected output of the first call";
    the_previous_answer_is_stale:
        "answers::gives_the_answer_before" is "wrong-output", "stale", "`y`", "the expected output of the previous call";
    an_output_written_only_in_the_first_call_is_unwritten:
        "answers::writes_the_first_time_only" is "wrong-output", "unwritten", "`y`", "call 2", "`y[0]`";
    an_output_never_written_is_unwritten:
        "answers::writes_nothing" is "wrong-output", "unwritten", "`y`", "call 1", "`y[0]`", "expected", "got";
    an_output_not_written_in_every_third_call_is_unwritten:
        "answers::skips_every_third_call" is "wrong-output", "unwritten", "`y`", "call 3", "`y[0]`";
    half_an_output_is_partial:
        "answers::writes_half" is "wrong-output", "partial", "300 of 600", "`y[300]`", "set them first, as `Launcher::memset` does";
    one_missing_element_is_partial:
        "answers::leaves_one_element_out" is "wrong-output", "partial", "1 of 600", "`y[417]`";
    a_constant_output_is_constant:
        "answers::writes_a_constant" is "wrong-output", "constant", "`y[0]`", "got 4";
    nan_is_not_finite:
        "answers::writes_nan" is "wrong-output", "non-finite", "200 of 600", "`y[1]`", "NaN";
    infinity_is_not_finite:
        "answers::writes_infinity_at_the_end" is "wrong-output", "non-finite", "1 of 600", "`y[599]`", "inf";
    one_wrong_element_is_found:
        "answers::one_element_is_wrong" is "wrong-output", "mismatch", "1 of 600", "`y[417]`", "expected", "got";
    an_output_shifted_by_one_element_is_a_mismatch:
        "answers::shifted_by_one" is "wrong-output", "mismatch", "600 of 600", "`y[0]`";
    an_untouched_in_place_tensor_is_unwritten:
        "answers::leaves_in_place" is "wrong-output", "unwritten", "nothing was written to `z`", "`z[0]`";
    an_in_place_tensor_with_an_untouched_end_is_partial:
        "answers::leaves_the_end_in_place" is "wrong-output", "partial", "5 of 600 elements of `z` were not written", "`z[591]`";
    the_wrong_output_of_two_is_named_with_its_two_dimensional_index:
        "answers::second_output_is_wrong" is "wrong-output", "mismatch", "1 of 600", "`bad[6, 3]`";
}

// Memory.
ends! {
    a_write_just_behind_the_end_is_found_in_the_slack:
        "memory::writes_just_behind" is "wrong-output", "out-of-bounds", "4 bytes", "8 bytes past the end of `y`";
    a_write_just_before_the_start_is_found_in_the_slack:
        "memory::writes_just_before" is "wrong-output", "out-of-bounds", "4 bytes", "before the start of `y`";
    a_write_behind_scratch_is_found_in_the_slack:
        "memory::writes_behind_scratch" is "wrong-output", "out-of-bounds", "4 bytes", "the first right after the end of `scratch 0`";
    a_write_far_behind_the_end_meets_the_guard_page:
        "memory::writes_far_behind" is "crashed", "out-of-bounds", "kernel `writes_far_behind` at `src/memory.cu:23`: invalid write", "2048 bytes past the end of `y`", "block (1, 0, 0)", "thread (36, 0, 0)";
    a_write_far_before_the_start_meets_the_guard_page:
        "memory::writes_far_before" is "crashed", "out-of-bounds", "write", "before the start of `y`", "thread (0, 0, 0)";
    a_write_to_an_input_is_reported:
        "memory::writes_an_input" is "crashed", "input-written", "byte 308", "`x`", "block (1, 0, 0)", "thread (13, 0, 0)";
    noise_read_past_an_input_makes_the_answer_wrong:
        "memory::reads_just_behind" is "wrong-output", "mismatch", "1 of 600", "`y[599]`";
    a_read_far_away_is_out_of_bounds:
        "memory::reads_far_away" is "crashed", "out-of-bounds", "block (2, 0, 0)", "thread (2, 0, 0)";
    a_null_pointer_is_out_of_bounds:
        "memory::reads_null" is "crashed", "out-of-bounds", "at `src/memory.cu:3`, called from `src/memory.cu:58`: invalid read", "address 0x0";
}

#[test]
fn a_stray_access_is_reported_with_its_kernel() {
    records().assert_ends(
        "memory::writes_far_behind",
        "crashed",
        "out-of-bounds",
        &["`writes_far_behind`"],
    );
    records().assert_ends("memory::reads_null", "crashed", "out-of-bounds", &["`reads_null`"]);
}

#[test]
fn an_unknown_fault_address_is_not_invented() {
    let message = records().result("memory::reads_far_away")["message"]
        .as_str()
        .unwrap_or_default();
    assert!(!message.contains("0x0"), "{message}");
}

// Shared memory.
ends! {
    an_overrun_of_a_static_shared_array_is_reported:
        "shared::static_array_too_small" is "crashed", "out-of-bounds", "`in_a_static_array`", "write of byte 256 of the shared array `tile`, which has 256 bytes", "block (0, 0, 0)";
    an_overrun_of_a_static_shared_array_by_one_thread_is_reported:
        "shared::static_array_too_small_for_one" is "crashed", "out-of-bounds", "`in_a_static_array`", "write of byte 256 of the shared array `tile`", "block (0, 0, 0)";
    unrequested_shared_memory_is_reported:
        "shared::forgotten" is "crashed", "out-of-bounds", "`tiled`", "write of dynamic shared memory", "the launch has none (hint: set `.shared(bytes)`", "block (0, 0, 0)", "thread (0, 0, 0)";
    half_of_the_required_shared_memory_is_reported:
        "shared::half" is "crashed", "out-of-bounds", "`tiled`", "at `src/shared.cu:", "write of byte 128 of dynamic shared memory", "the launch has 128 bytes (hint: set `.shared(bytes)`", "block (0, 0, 0)", "thread (32, 0, 0)";
    shared_memory_short_by_one_element_is_reported:
        "shared::one_element_too_few" is "crashed", "out-of-bounds", "`tiled`", "write of byte 252 of dynamic shared memory", "the launch has 252 bytes (hint: set `.shared(bytes)`", "block (0, 0, 0)";
    a_read_past_shared_memory_is_reported:
        "shared::reads_one_behind" is "crashed", "out-of-bounds", "read of byte 256 of dynamic shared memory", "the launch has 256 bytes", "thread (63, 0, 0)";
    a_write_before_shared_memory_is_reported:
        "shared::writes_one_before" is "crashed", "out-of-bounds", "write 4 bytes before the start of dynamic shared memory", "block (0, 0, 0)";
    the_second_launch_gets_only_the_shared_memory_it_requests:
        "shared::the_second_of_two_sizes_is_too_small" is "crashed", "out-of-bounds", "write of byte 256 of dynamic shared memory", "the launch has 256 bytes", "step 2 of the plan", "thread (64, 0, 0)";
}

// Faults.
ends! {
    an_endless_loop_times_out: "faults::loops_forever" is "timeout", "slow", "call 1", "3s", "--timeout";
    a_wait_for_a_thread_after_the_barrier_times_out:
        "faults::barrier_in_a_kernel_that_hangs_without" is "timeout", "slow", "call 1";
    an_integer_division_by_zero_is_named: "faults::divides_by_zero" is "crashed", "division-by-zero", "at `src/faults.cu:20`: integer division by zero", "block (4, 0, 0)", "thread (44, 0, 0)";
    endless_recursion_is_a_stack_overflow: "faults::recurses_forever" is "crashed", "stack-overflow", "block (", "thread (";
    a_trap_is_named_with_its_line: "faults::traps" is "crashed", "trap", "line 37", "block (3, 0, 0)", "thread (8, 0, 0)";
    a_failed_assertion_is_named_with_its_line: "faults::fails_an_assertion" is "crashed", "trap", "line 43", "block (3, 0, 0)", "thread (8, 0, 0)";
    an_illegal_instruction_is_named: "faults::executes_an_illegal_instruction" is "crashed", "illegal-instruction", "at `src/faults.cu:48`", "thread (8, 0, 0)";
    a_barrier_for_some_threads_is_reported: "faults::barrier_of_some_threads" is "crashed", "barrier-divergence", "line 54", "16 of 64";
    a_barrier_after_a_return_is_reported: "faults::barrier_after_a_return" is "crashed", "barrier-divergence", "line 61", "24 of 64";
    two_barriers_for_two_halves_are_reported:
        "faults::barriers_at_two_places" is "crashed", "barrier-divergence", "line 68", "line 70";
}

// Kernels against their process.
ends! {
    a_worker_that_exits_is_named: "process::exits" is "crashed", "exited", "code 0", "call 1";
    a_worker_that_exits_with_a_failure_is_named: "process::exits_with_a_failure" is "crashed", "exited", "code 7", "call 1";
    a_worker_that_aborts_is_named: "process::aborts" is "crashed", "killed", "SIGABRT", "call 1";
    a_worker_that_kills_itself_is_named: "process::kills_itself" is "crashed", "killed", "SIGKILL", "call 1";
    a_worker_that_stops_itself_times_out: "process::stops_itself" is "timeout", "slow", "call 1";
    a_constructor_that_exits_is_named: "process::exits_when_loaded" is "crashed", "exited", "code 0", "loading";
}

/// Any verdict of the case is fine.
#[test]
fn a_child_process_of_a_kernel_does_not_outlive_the_run() {
    let arguments = ["--ignored", "--exact", "process::leaves_a_child::n=600"];
    let _ = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(arguments)
        .finish();
}

#[test]
fn a_worker_that_closes_its_connection_fails_only_its_case() {
    let result = records().result("process::closes_every_file");
    let verdict = result["verdict"].as_str().unwrap_or_default();
    assert!(
        ["crashed", "protocol-violation"].contains(&verdict),
        "{verdict}: {}",
        result["message"]
    );
}

/// Timing decides which check finds the late write: the output digest, the snapshot or the second
/// snapshot.
#[test]
fn threads_that_write_after_the_call_never_pass() {
    for benchmark in ["answers::finishes_later", "answers::keeps_writing"] {
        records().assert_is_late(benchmark);
    }
}

// Host code.
ends! {
    a_reference_that_panics_is_the_authors_error:
        "host::reference_panics" is "error", "reference-failed", "panicked", "index out of bounds", "src/host.rs:40";
    a_reference_that_fails_is_the_authors_error: "host::reference_fails" is "error", "reference-failed", "no answer to that";
    a_reference_that_hangs_is_the_authors_error: "host::reference_hangs" is "error", "reference-timeout", "3s", "--reference-timeout";
    a_reference_that_aborts_is_the_authors_error: "host::reference_aborts" is "error", "reference-failed", "SIGABRT";
    a_reference_that_exits_is_the_authors_error: "host::reference_exits" is "error", "reference-failed", "exited with code 0";
    a_reference_that_computes_nothing_disagrees_with_a_right_kernel:
        "host::reference_is_lazy" is "wrong-output", "mismatch", "`y[0]`";
    an_out_of_bounds_write_of_a_launched_reference_is_the_references_error:
        "host::launched_reference_strays" is "error", "reference-failed", "kernel `stray`", "at `src/host_references.cu:", "invalid write";
    a_launched_reference_that_writes_its_input_is_an_error:
        "host::launched_reference_writes_its_input" is "error", "reference-failed", "kernel `into_the_input`";
    a_launched_reference_of_an_unknown_kernel_is_named:
        "host::launched_reference_is_unknown" is "error", "plan-invalid", "its reference", "`unknown`", "`honest`";
    a_launched_reference_that_launches_nothing_is_refused:
        "host::launched_reference_is_empty" is "error", "plan-invalid", "its reference", "launches nothing";
    a_launched_reference_that_fails_is_named: "host::launched_reference_fails" is "error", "recording-failed", "no plan for that";
    a_generator_that_panics_is_the_authors_error:
        "host::generator_panics" is "error", "generator-failed", "panicked", "out of ideas", "src/host.rs:98";
    a_generator_that_fails_is_the_authors_error: "host::generator_fails" is "error", "generator-failed", "no data today";
    a_generator_that_hangs_is_the_authors_error: "host::generator_hangs" is "error", "generator-timeout", "3s", "--reference-timeout";
    a_generator_that_aborts_is_the_authors_error: "host::generator_kills_itself" is "error", "generator-failed", "SIGABRT";
    a_generator_with_another_element_type_is_the_authors_error:
        "host::generator_takes_another_type" is "error", "generator-failed", "`x`", "f32", "f64", "src/host.rs:102";
    a_generator_that_is_not_reproducible_is_the_authors_error:
        "host::generator_counts_its_calls" is "error", "generator-failed", "with the same seed", "`Rng`";
    a_generator_that_writes_nothing_is_the_authors_error:
        "host::generator_leaves_the_tensor" is "error", "generator-failed", "`x`";
    a_benchmark_function_that_fails_is_named: "host::function_fails" is "error", "recording-failed", "src/host.rs:", "cannot double 600 numbers";
    a_benchmark_function_that_panics_is_named:
        "host::function_panics" is "error", "recording-failed", "panicked", "600 numbers are too many", "src/host.rs:";
    a_benchmark_function_that_hangs_is_named: "host::function_hangs" is "error", "recording-timeout", "src/host.rs:", "`host::function_hangs`", "your benchmark function did not return within 15s", "`--timeout` limits only calls of kernels";
    a_benchmark_function_that_exits_is_named: "host::function_exits" is "error", "recording-failed", "exited with code 0";
    a_benchmark_function_that_aborts_is_named: "host::function_aborts" is "error", "recording-failed", "SIGABRT";
    a_benchmark_function_that_is_not_reproducible_is_found: "host::function_is_random" is "error", "not-reproducible", "second process";
}

// Plans.
ends! {
    an_unknown_kernel_is_an_error_that_lists_the_kernels: "plans::unknown_kernel" is "error", "plan-invalid", "src/plans.rs:20", "`plans.cu`", "`twicee`", "`twice`";
    an_unknown_template_is_named: "plans::unknown_template" is "error", "plan-invalid", "`plans.cu`", "thrice";
    a_grid_of_no_blocks_is_named: "plans::grid_of_nothing" is "error", "recording-failed", "src/plans.rs:26", "plans::grid_of_nothing", "`twice`", "no blocks", "(hint: launch nothing if there is nothing to do";
    a_block_too_large_is_named: "plans::block_too_large" is "error", "recording-failed", "4096 threads", "1024";
    an_offset_past_the_end_is_named: "plans::offset_past_the_end" is "error", "recording-failed", "argument 1", "601", "600";
    a_missing_argument_is_named: "plans::argument_missing" is "error", "plan-invalid", "src/plans.rs:35", "3 parameters", "2 arguments", "`size_t n` is missing", "`twice(const float *x, float *y, size_t n)`";
    an_argument_too_many_is_named: "plans::argument_too_many" is "error", "plan-invalid", "src/plans.rs:38", "3 parameters", "4 arguments", "argument 4, an `f32`, is one too many";
    an_argument_of_another_size_is_named: "plans::argument_of_another_size" is "error", "plan-invalid", "argument 3, for `n`, is a `u32`, but `size_t` is expected; the kernel is `", "(hint: convert it with `as usize`)";
    a_copy_of_unequal_lengths_is_named: "plans::copy_of_unequal_lengths" is "error", "recording-failed", "40 bytes", "44";
    an_unknown_constant_is_an_error: "plans::constant_unknown" is "error", "plan-invalid", "no variable `nothing`";
    a_constant_of_another_size_is_named:
        "plans::constant_of_another_size" is "error", "plan-invalid", "`table`", "12 bytes", "8";
    a_tensor_map_is_refused_on_a_device_without_them:
        "plans::tensor_map_where_there_are_none" is "error", "recording-failed", "argument 1", "no tensor maps", "9.0";
    a_plan_without_a_step_is_refused: "plans::launches_nothing" is "error", "plan-invalid", "src/plans.rs:", "`plans::launches_nothing`", "launches nothing";
    ignored_errors_of_the_launcher_fail_the_case: "plans::errors_passed_over" is "error", "recording-failed", "src/plans.rs:63", "2048x1x1 threads";
    scratch_of_no_elements_is_named: "plans::scratch_of_nothing" is "error", "recording-failed", "0 elements";
    too_much_shared_memory_is_named: "plans::too_much_shared_memory" is "error", "recording-failed", "1073741824 bytes";
    another_element_type_is_named: "plans::element_type_differs" is "error", "recording-failed", "`x`", "In<f32>", "In<f64>";
    a_missing_tensor_is_named: "plans::tensor_missing" is "error", "recording-failed", "src/plans.rs:", "no tensor is called `x`", "did you mean `xs`?";
    more_memory_than_available_is_refused: "plans::too_much_memory" is "error", "plan-invalid", "9223372036854775808";
}

#[test]
fn a_kernel_that_does_not_compile_fails_only_its_case() {
    for neighbour in ["sources::good_instantiation", "sources::no_instantiation"] {
        let result = records().result(neighbour);
        assert_eq!(result["verdict"], "pass", "{neighbour}: {}", result["message"]);
    }
}

// Sources.
ends! {
    a_compile_error_has_file_and_line:
        "sources::does_not_compile" is "error", "compile-failed", "src/sources/broken.cu:5:21", "'wrong'";
    a_compile_error_in_a_header_has_file_and_line:
        "sources::includes_what_does_not_compile" is "error", "compile-failed", "src/sources/broken_header.cuh:4:25";
    a_bad_instantiation_is_named: "sources::bad_instantiation" is "error", "compile-failed", "times<no_such_factor>";
    a_bad_kernel_among_good_ones_is_named: "sources::bad_kernel" is "error", "compile-failed", "instantiations.cu:14:21: error:";
    a_missing_definition_is_named: "sources::calls_what_there_is_not" is "error", "compile-failed", "computed_elsewhere";
    inline_ptx_is_refused_by_name_and_line:
        "sources::has_inline_ptx" is "error", "unsupported", "src/sources/inline_ptx.cu:5", "inline PTX", "`asm`";
    tensor_cores_are_refused_by_name_and_line:
        "sources::uses_tensor_cores" is "error", "unsupported", "src/sources/tensor_cores.cu:4", "tensor cores", "`experimental`";
}

#[test]
fn standard_headers_can_be_included() {
    let result = records().result("sources::includes_standard_headers");
    assert_eq!(result["verdict"], "pass", "{}", result["message"]);
}

/// Honest cases between the others pass, with the right inputs.
#[test]
fn honest_benchmarks_between_them_pass() {
    let honest: Vec<&Value> = records()
        .results()
        .filter(|result| {
            result["benchmark"]
                .as_str()
                .is_some_and(|name| name.contains("::honest"))
        })
        .collect();
    assert_eq!(honest.len(), 15);
    for result in honest {
        assert_eq!(
            result["verdict"], "pass",
            "{}: {}",
            result["benchmark"], result["message"]
        );
        assert_eq!(result["checks"][0]["matched"], 600);
    }
    assert_eq!(records().result("host::function_prints")["verdict"], "pass");
}

#[test]
fn the_first_wrong_element_is_in_the_record() {
    let check = &records().result("answers::one_element_is_wrong")["checks"][0];
    assert_eq!(
        (&check["elements"], &check["matched"]),
        (&Value::from(600), &Value::from(599))
    );
    assert_eq!(
        (&check["first_wrong"]["index"], &check["worst_index"]),
        (&Value::from(417), &Value::from(417))
    );
    let value = |of: &str| check["first_wrong"][of].as_f64().expect("a number");
    assert!((value("got") - value("expected") - 1.0).abs() < 1e-5, "{check:#}");
}

#[test]
fn the_first_wrong_elements_and_their_pattern_are_in_the_record() {
    let check = &records().result("answers::writes_half")["checks"][0];
    assert_eq!(check["pattern"], "the wrong elements are `y[300..600]`");
    let indices = check["wrong"].as_array().expect("a list").iter();
    let indices: Vec<&Value> = indices.map(|wrong| &wrong["index"]).collect();
    assert_eq!(
        indices,
        (300..310)
            .map(Value::from)
            .collect::<Vec<_>>()
            .iter()
            .collect::<Vec<_>>()
    );
    let check = &records().result("answers::writes_nan")["checks"][0];
    assert_eq!(check["pattern"], "the wrong elements are `y[1..599 step 3]`");
    let check = &records().result("answers::one_element_is_wrong")["checks"][0];
    assert_eq!(check["pattern"], Value::Null, "the message names it");
}

#[test]
fn only_the_wrong_output_of_two_has_wrong_elements() {
    let checks = &records().result("answers::second_output_is_wrong")["checks"];
    let counts = |check: &Value| (check["output"].clone(), check["matched"].clone());
    assert_eq!(counts(&checks[0]), ("good".into(), 600.into()));
    assert_eq!(counts(&checks[1]), ("bad".into(), 599.into()));
}

#[test]
fn every_case_has_one_result_and_the_run_counts_them() {
    let records = records();
    let count = |verdicts: fn(&str) -> bool| {
        records
            .results()
            .filter(|result| verdicts(result["verdict"].as_str().expect("a word")))
            .count() as u64
    };
    let finished = records.the("run-finished");
    assert_eq!(finished["passed"], count(|verdict| verdict == "pass"));
    assert_eq!(finished["failed"], count(|verdict| verdict != "pass"));
    assert_eq!(
        (&finished["skipped"], &finished["not_run"]),
        (&Value::from(0), &Value::from(0))
    );
    assert_eq!(records.the("run-started")["cases"], count(|_| true));
    assert_eq!(records.with_reason("benchmark-started").count() as u64, count(|_| true));
}

#[test]
fn user_output_is_kept_out_of_the_data() {
    assert!(!run().stdout.contains("this is no data"));
}

/// With `--no-capture`, separate from the data.
fn assert_shown_on_request(case: &str, printed: &str) {
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(["--no-capture", "--include-ignored", "--exact", case])
        .finish()
        .expect_code(0);
    assert!(finished.stderr.contains(printed), "{}", finished.stderr);
    assert!(!finished.stdout.contains(printed));
}

#[test]
fn user_output_is_shown_on_request() {
    assert_shown_on_request("host::function_prints::n=600", "this is no data");
}

#[test]
fn a_check_that_accepts_old_answers_gives_a_notice() {
    let names = ["answers::copies_what_hardly_changes", "answers::changes_at_the_end"];
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(["--ignored"].into_iter().chain(names))
        .finish()
        .expect_code(0);
    let records = finished.records();
    let [blind, seeing] = names.map(|name| records.result(name));
    assert_eq!(blind["checks"][0]["stale_output_passes"], true);
    let notice = blind["notices"][0].as_str().expect("a notice");
    assert!(notice.contains("repeats an old answer"), "{notice}");
    assert_eq!(seeing["checks"][0]["stale_output_passes"], false);
    assert_eq!(seeing["notices"], Value::Array(Vec::new()));
}

/// Measures one ignored case of the crate.
fn alone(case: &str, arguments: &[&str]) -> Run {
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    run.args(["--include-ignored", "--exact", case])
        .args(arguments.iter().copied())
}

#[track_caller]
fn assert_alone(case: &str, arguments: &[&str], cause: &str, words: &[&str]) {
    let benchmark = case.trim_end_matches("::n=600");
    let records = alone(case, arguments).finish().expect_code(100).records();
    records.assert_ends(benchmark, "error", cause, words);
}

#[test]
fn a_check_that_accepts_one_value_does_not_judge_a_kernel_that_writes_it() {
    let zeros = "answers::zeros_for_what_is_small::n=600";
    let words = ["every element of `y` was 0.0 in every call", "atol 1e-2"];
    assert_alone(zeros, &[], "blind-check", &words);
    assert_alone(zeros, &["--test"], "blind-check", &words);
    let four = "answers::writes_one_value_for_all::n=600";
    assert_alone(
        four,
        &[],
        "blind-check",
        &["every element of `y` was 4.0 in every call"],
    );
}

#[test]
fn more_shared_memory_than_every_gpu_has_is_a_notice() {
    let records = alone("shared::honest_with_much_memory::n=600", &[])
        .finish()
        .expect_code(0)
        .records();
    let notices = records.result("shared::honest_with_much_memory")["notices"].to_string();
    assert!(
        notices.contains(
            "kernel `tiled` has 232448 bytes of dynamic shared memory, more than the 49152 that every GPU has"
        ),
        "{notices}"
    );
}

#[test]
fn notices_can_be_denied() {
    let honest = "answers::copies_what_hardly_changes::n=600";
    assert_alone(
        honest,
        &["--deny", "notices"],
        "denied-notice",
        &["repeats an old answer"],
    );
    let records = alone(honest, &["--test"]).finish().expect_code(0).records();
    let notices = records.result("answers::copies_what_hardly_changes")["notices"].to_string();
    assert!(
        notices.contains("repeats an old answer"),
        "a test tells it, too: {notices}"
    );
}

#[test]
fn a_check_that_accepts_zeros_and_old_answers_judges_no_kernel() {
    let honest = "answers::copies_what_is_small::n=600";
    let words = ["accepts zeros, and the right answers to other inputs"];
    assert_alone(honest, &[], "blind-check", &words);
    assert_alone(honest, &["--test"], "blind-check", &words);
    let records = alone(honest, &[]).finish().expect_code(100).records();
    let notices = records.result("answers::copies_what_is_small")["notices"].to_string();
    assert!(notices.contains("writes only zeros would pass"), "{notices}");
}

#[test]
fn requiring_a_grade_that_the_device_cannot_give_is_refused() {
    let honest = "answers::honest::n=600";
    assert_alone(
        honest,
        &["--require-grade", "sealed"],
        "grade-too-low",
        &["`unverified`", "`sealed`"],
    );
    let _ = alone(honest, &["--require-grade", "sealed", "--test"])
        .finish()
        .expect_code(0);
}

#[test]
fn test_mode_finds_a_missing_barrier_by_reordering_threads() {
    let case = "shared::lacks_its_barrier::n=600";
    let _ = alone(case, &["--test", "--schedule", "0"]).finish().expect_code(0);
    let records = alone(case, &["--test"]).finish().expect_code(100).records();
    let result = records.result("shared::lacks_its_barrier");
    assert_eq!(
        result["windows"], 6,
        "three in the usual order, and one in another with two more for the diagnosis"
    );
    let message = result["message"].as_str().unwrap_or_default();
    assert!(message.contains("`--schedule 1` repeats the order"), "{message}");
    let records = alone(case, &["--test", "--schedule", "1"])
        .finish()
        .expect_code(100)
        .records();
    let message = records.result("shared::lacks_its_barrier")["message"].to_string();
    assert!(!message.contains("in the usual order"), "nobody looked: {message}");
}

#[test]
fn test_mode_names_a_missing_barrier_that_fails_in_every_order() {
    let case = "shared::lacks_its_barrier_in_every_order::n=600";
    let records = alone(case, &["--test"]).finish().expect_code(100).records();
    let words = [
        "gives other outputs when its blocks and threads run in another order",
        "`--schedule 1`",
    ];
    records.assert_ends(
        "shared::lacks_its_barrier_in_every_order",
        "wrong-output",
        "mismatch",
        &words,
    );
    let always_wrong = alone("answers::shifted_by_one::n=600", &["--test"]);
    let records = always_wrong.finish().expect_code(100).records();
    let message = records.result("answers::shifted_by_one")["message"].to_string();
    assert!(!message.contains("another order"), "{message}");
}

#[test]
fn test_mode_finds_state_that_outlives_a_call() {
    for (case, cause) in [
        ("answers::writes_the_first_time_only::n=600", "unwritten"),
        ("answers::skips_every_third_call::n=600", "unwritten"),
        ("answers::keeps_the_first_answer::n=600", "cached"),
        ("answers::gives_the_answer_before::n=600", "stale"),
    ] {
        let records = alone(case, &["--test"]).finish().expect_code(100).records();
        let words = ["the first call in the process was right", "`__device__` variable"];
        records.assert_ends(case.trim_end_matches("::n=600"), "wrong-output", cause, &words);
    }
    let wrong_at_once = alone("answers::shifted_by_one::n=600", &["--test"]);
    let records = wrong_at_once.finish().expect_code(100).records();
    let message = records.result("answers::shifted_by_one")["message"].to_string();
    assert!(!message.contains("was right"), "{message}");
}

#[test]
fn test_mode_finds_blocks_that_rely_on_their_order_and_names_the_order() {
    let tested = |arguments: &[&str]| {
        let run = Run::on(&Fixture::new("hostile")).json().args(["--test", "--ignored"]);
        run.args(["--exact", "shared::relies_on_the_order_of_blocks::n=600"])
            .args(arguments.iter().copied())
            .finish()
    };
    let _ = tested(&["--threads", "1", "--schedule", "0"]).expect_code(0);
    let records = tested(&["--threads", "1"]).expect_code(100).records();
    let words = ["`--schedule 1` repeats the order", "rely on blocks that run before it"];
    let benchmark = "shared::relies_on_the_order_of_blocks";
    records.assert_ends(benchmark, "wrong-output", "mismatch", &words);
    let _ = tested(&["--threads", "2", "--schedule", "1"]).expect_code(100);
}

#[test]
fn kernel_output_is_shown_on_request() {
    assert_shown_on_request("process::prints::n=600", "this is element 3");
}

#[test]
fn kernel_output_is_shown_with_a_failure() {
    let arguments = ["--ignored", "process::prints"];
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(arguments)
        .finish();
    let records = finished.expect_code(100).records();
    let message = |benchmark: &str| records.result(benchmark)["message"].to_string();
    assert_eq!(message("process::prints"), "null");
    for failed in ["prints_and_writes_nothing", "prints_and_traps", "prints_and_aborts"] {
        let message = message(&format!("process::{failed}"));
        assert!(
            message.contains(r"last wrote:\n    this is element 3"),
            "{failed}: {message}"
        );
    }
}

/// Some of the failures are compile errors, but not all.
#[test]
fn failed_benchmarks_have_exit_code_100() {
    let _ = run().clone().expect_code(100);
}

#[test]
fn a_source_that_does_not_compile_has_exit_code_101() {
    let names = ["--exact", "sources::does_not_compile::n=600", "sources::honest::n=600"];
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(names)
        .finish()
        .expect_code(101);
    assert_eq!(finished.records().result("sources::honest")["verdict"], "pass");
    let shown = finished.stderr.matches("src/sources/broken.cu:5:21: error").count();
    assert_eq!(shown, 1, "as cargo shows its own:\n{}", finished.stderr);
}

#[test]
fn the_first_failure_ends_a_run_that_fails_fast() {
    let arguments = [
        "--fail-fast",
        "--exact",
        "memory::honest::n=600",
        "memory::reads_null::n=600",
        "memory::writes_an_input::n=600",
    ];
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .json()
        .args(arguments)
        .finish()
        .expect_code(100);
    let verdicts: Vec<Value> = finished
        .records()
        .results()
        .map(|result| result["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["pass", "crashed"]);
    let records = finished.records();
    let end = records.the("run-finished");
    assert_eq!(
        (&end["not_run"], &end["end"]),
        (&Value::from(1), &Value::from("failed-fast"))
    );
}

/// The kernel attacks the files that a later run would load: the built library, compiled kernels, a
/// baseline.
#[test]
fn a_kernel_of_the_cpu_device_changes_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "as it was").expect("written");
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    let run = run.env("CARGO_GPUBENCH_TESTS_FILE", &file.to_string_lossy());
    let run = run.args(["--include-ignored", "--exact", "process::changes_a_file::n=600"]);
    let records = run.finish().expect_code(0).records();
    assert_eq!(records.result("process::changes_a_file")["verdict"], "pass");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "as it was");
    let entries = std::fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(entries.count(), 1);
}
