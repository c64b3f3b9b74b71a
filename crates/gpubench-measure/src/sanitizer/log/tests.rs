//! The logs are those that NVIDIA's manual of compute-sanitizer shows, with the summaries that the
//! program prints.

use super::*;
use gpubench_contract::Cause;

fn found(text: &str) -> SanitizerReport {
    parse(text, SanitizerTool::Memcheck).unwrap()
}

fn problem(text: &str) -> String {
    parse(text, SanitizerTool::Memcheck).unwrap_err().to_string()
}

#[test]
fn a_log_without_errors_is_clean() {
    for summary in [
        "ERROR SUMMARY: 0 errors",
        "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
    ] {
        let report = found(&format!("========= COMPUTE-SANITIZER\n========= {summary}\n"));
        assert_eq!((report.errors, report.findings.len()), (0, 0), "{summary}");
    }
}

#[test]
fn invalid_accesses_have_kernel_line_thread_and_block() {
    let report = found(
        "\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at unaligned_kernel()+0x100 in memcheck_demo.cu:34
=========     by thread (5,0,0) in block (1,0,0)
=========     Address 0x7cc43aa00001 is misaligned
=========     and is inside the nearest allocation at 0x7cc43aa00000 of size 4 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: run_unaligned() [0xacd4] in memcheck_demo
=========
========= Invalid __global__ write of size 4 bytes
=========     at out_of_bounds_function()+0xb0 in memcheck_demo.cu:39
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x87654320 is out of bounds
=========     and is 137,179,965,340,896 bytes before the nearest allocation at 0x7cc43a800000 of size 1,024 bytes
=========         Device Frame: out_of_bounds_kernel()+0x30 in memcheck_demo.cu:44
=========
========= ERROR SUMMARY: 2 errors
",
    );
    assert_eq!(report.errors, 2);
    insta::assert_debug_snapshot!(report.findings);
}

#[test]
fn errors_of_many_threads_at_one_line_are_one_finding() {
    let one = |thread: u32| {
        format!(
            "========= Uninitialized __global__ memory read of size 4 bytes\n\
             =========     at vectorAdd(int *)+0x70 in memset_error.cu:41\n\
             =========     by thread ({thread},0,0) in block (1,0,0)\n\
             =========     Address 0x7f3c7ec000f{thread}\n=========\n"
        )
    };
    let log: String = (1..=9).map(one).collect();
    let report = found(&format!(
        "{log}========= ERROR SUMMARY: 96 errors\n========= ERROR SUMMARY: 87 errors were not printed. Use --print-limit option to adjust the number of printed errors\n"
    ));
    let [finding] = &report.findings[..] else {
        panic!("{report:?}")
    };
    assert_eq!((report.errors, finding.count), (96, 9));
    assert_eq!(
        (finding.cause, finding.thread),
        (Cause::UninitializedRead, Some([1, 0, 0]))
    );
}

#[test]
fn both_forms_of_data_races_are_found() {
    let report = found(
        "\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sumKernel(int *, int *)+0x90 in /home/cuda/block_error.cu:41
=========     and Read access at sumKernel(int *, int *)+0x100 in /home/cuda/block_error.cu:51 [508 hazards]
=========
========= Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8c in block (2,0,0) :
=========     Write Thread (35,0,0) at sumKernel(int *, int *)+0x90 in /home/cuda/warp_error.cu:44
=========     Read Thread (32,0,0) at sumKernel(int *, int *)+0x120 in /home/cuda/warp_error.cu:56
=========     Current Value : 35
=========
========= Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8d in block (2,0,0) :
=========     Write Thread (35,0,0) at sumKernel(int *, int *)+0x90 in /home/cuda/warp_error.cu:44
=========     Read Thread (32,0,0) at sumKernel(int *, int *)+0x120 in /home/cuda/warp_error.cu:56
=========     Current Value : 0
=========
========= RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)
",
    );
    assert_eq!(report.errors, 3);
    insta::assert_debug_snapshot!(report.findings);
}

#[test]
fn barrier_errors_are_named_by_their_class() {
    let barrier = |class: &str| {
        format!(
            "========= Barrier error detected. {class}\n=========     at outlineSync()+0x11f0 in test.cu:42\n\
             =========     by thread (32,0,0) in block (0,0,0)\n\
             =========         Device Frame: myKernel(int *, int *)+0xe40 in test.cu:60\n=========\n"
        )
    };
    let log = barrier("Divergent thread(s) in block.") + &barrier("Invalid arguments");
    let report = found(&format!("{log}========= ERROR SUMMARY: 2 errors\n"));
    let causes: Vec<Cause> = report.findings.iter().map(|finding| finding.cause).collect();
    assert_eq!(causes, [Cause::BarrierDivergence, Cause::SanitizerFinding]);
    let first = &report.findings[0];
    assert_eq!(
        (first.kernel.as_deref(), first.line),
        (Some("myKernel(int *, int *)"), Some(42))
    );
}

#[test]
fn errors_count_even_if_the_tool_was_killed() {
    let report = found(
        "========= COMPUTE-SANITIZER\n========= Invalid __shared__ read of size 4 bytes\n=========     at k()+0x10\n",
    );
    assert_eq!((report.errors, report.findings[0].cause), (1, Cause::OutOfBounds));
}

#[test]
fn a_tool_that_failed_is_never_clean() {
    assert_eq!(problem(""), "it did not finish: its log has no summary");
    assert_eq!(
        problem("========= COMPUTE-SANITIZER\n"),
        "it did not finish: its log has no summary"
    );
    let no_call = "Error: Target application terminated before first instrumented API call";
    assert_eq!(
        problem(&format!("========= COMPUTE-SANITIZER\n========= {no_call}\n")),
        format!("it says: {no_call}")
    );
    let incomplete = "Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the launch. Errors might go undetected.";
    let log = format!("========= COMPUTE-SANITIZER\n========= {incomplete}\n========= ERROR SUMMARY: 0 errors\n");
    assert_eq!(problem(&log), format!("it says: {incomplete}"));
    let unknown = "========= COMPUTE-SANITIZER\n========= Something new\n========= ERROR SUMMARY: 1 error\n";
    assert_eq!(problem(unknown), "it says: Something new");
}

#[test]
fn findings_are_limited_in_number_and_length() {
    let long = "x".repeat(10_000);
    let one = |line: u32| {
        format!("========= Invalid __global__ read of size 4 bytes\n=========     at {long}()+0x10 in a.cu:{line}\n")
    };
    let log: String = (0..100).map(one).collect();
    let report = found(&format!("{log}========= ERROR SUMMARY: 1,000,000 errors\n"));
    assert_eq!(
        (report.errors, report.findings.len()),
        (1_000_000, SanitizerReport::MOST_FINDINGS)
    );
    let kernel = report.findings[0].kernel.as_deref().unwrap();
    assert_eq!(kernel.chars().count(), 400);
}
