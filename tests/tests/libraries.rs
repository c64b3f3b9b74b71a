//! Host code that is not trusted: in the crate's library it can cheat everybody, in a library of
//! its own only itself.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Ending, FakeGpu, Finished, Fixture, Records, Run, ends};

/// Runs all cases of the crate once, each submission in a library of its own.
fn run() -> &'static Finished {
    static RUN: OnceLock<Finished> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = Run::on(&Fixture::new("libraries")).briefly().json();
        run.giving_up("failures::hangs", "3s").finish()
    })
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| run().records())
}

/// Runs the crate with an attack linked into its library.
fn linked(attack: &str) -> Records {
    let run = Run::on(&Fixture::new("libraries")).briefly().json();
    let run = run.args([
        "--features",
        &format!("linked-{attack}"),
        "--test",
        "linked::",
        "plan_that_copies",
    ]);
    run.finish().records()
}

#[track_caller]
fn assert_passes(records: &Records, benchmark: &str) {
    let result = records.result(benchmark);
    assert_eq!(result["verdict"], "pass", "{benchmark}: {}", result["message"]);
}

// What a crate links is trusted. These tests show why.

#[test]
fn a_linked_constructor_can_replace_the_reference_for_all() {
    let records = linked("replaces-the-reference");
    assert_passes(&records, "linked::evil");
    assert_passes(&records, "problem::plan_that_copies");
    records.assert_ends("linked::honest", "wrong-output", "mismatch", &[]);
}

#[test]
fn a_linked_function_can_be_the_one_that_the_reference_calls() {
    let records = linked("defines-expf");
    assert_passes(&records, "linked::evil");
    records.assert_ends("linked::honest", "wrong-output", "mismatch", &[]);
}

#[test]
fn a_linked_constructor_can_patch_a_rival_in_its_worker() {
    let records = linked("patches-a-rival");
    assert_passes(&records, "linked::evil");
    records.assert_ends("linked::honest", "wrong-output", "unwritten", &[]);
}

// The same code in a library of its own, and more of its kind.

#[test]
fn submissions_that_work_pass_among_hostile_ones() {
    for benchmark in [
        "own::honest::plain",
        "own::honest::with_stream",
        "own::honest::on_a_stream",
        "own::honest::all_kinds",
        "own::honest::packed",
        "own::honest::with_a_neighbour_by_path",
        // These attack something that is not in their process, and else do their work.
        "own::attacks::patches_a_rival",
        "own::attacks::interposes_libc",
        "own::attacks::runs_at_the_end",
        "own::attacks::has_unique_symbols",
        "own::attacks::resolves_its_function",
    ] {
        assert_passes(records(), benchmark);
    }
}

ends! {
    a_library_cannot_replace_the_reference: "own::attacks::replaces_the_reference" is "wrong-output", "mismatch";
    a_library_cannot_replace_it_for_a_plan: "problem::plan_that_copies" is "wrong-output", "mismatch";
    a_library_cannot_define_what_the_reference_calls: "own::attacks::defines_expf" is "wrong-output", "mismatch";
    a_library_that_opens_the_crate_replaces_nothing: "own::attacks::opens_the_crate" is "wrong-output", "mismatch";
}

// Libraries that cannot be called.
ends! {
    a_missing_function_is_named:
        "own::failures::another_name" is "error", "setup-failed", "src/own.rs:", "exports neither `solution` nor `__tvm_ffi_solution`", "`extern \"C\"`";
    an_undefined_symbol_is_named:
        "own::failures::undefined_symbol" is "error", "setup-failed", "the library: undefined symbol: defined_nowhere", "(hint: link the library that defines it";
    a_function_for_several_gpus_is_named:
        "own::failures::of_several_gpus" is "error", "unsupported", "imports `ncclAllReduce`, a function for several GPUs", "(hint: ";
    a_missing_dependency_is_named:
        "own::failures::needs_a_neighbour" is "error", "setup-failed", "libneighbour.so: cannot open shared object file", "`LD_LIBRARY_PATH`";
    a_library_that_does_not_compile_is_missing:
        "own::failures::does_not_compile" is "error", "setup-failed", "libfailures_does_not_compile.so", "No such file or directory";
    a_library_that_throws_crashes: "own::failures::throws" is "crashed", "killed", "SIGABRT", "call 1";
    a_constructor_that_exits_is_reported: "own::failures::exits" is "crashed", "exited", "code 0", "setting up";
    a_constructor_that_hangs_times_out: "own::failures::hangs" is "timeout", "slow", "set up", "3s";
    a_constructor_that_writes_to_the_connection_is_to_blame: "own::failures::garbles" is "protocol-violation", "bad-message", "broke the protocol";
    data_that_is_called_crashes: "own::failures::is_data" is "crashed", "killed", "SIGSEGV";
    a_folder_is_no_library: "own::failures::folder" is "error", "setup-failed", "directory";
    a_text_is_no_library: "own::failures::text" is "error", "setup-failed", "is no ELF file", "`-shared`";
    a_path_to_nothing_is_named: "own::failures::missing" is "error", "setup-failed", "no/such/library.so`", "No such file or directory";
    a_device_is_no_library: "own::failures::device" is "error", "setup-failed", "`/dev/zero` is a pipe, a socket or a device";
    an_error_of_tvm_ffi_during_setup_is_shown:
        "own::failures::packed_fails" is "error", "setup-failed", "the scale is not 0.5";
    an_error_of_tvm_ffi_in_a_call_is_shown:
        "own::failures::packed_gets_too_little" is "crashed", "call-failed", "call 1", "five arguments are expected";
}

/// A library that loads its kernels in its first call would wait for the stream, which waits for
/// *go*, if no call came before.
#[test]
fn a_library_queues_its_work_on_the_stream_of_a_gpu() {
    let gpu = FakeGpu::for_host_code();
    let run = gpu.run(&Fixture::new("libraries")).briefly().json();
    let cases = ["--device", "cuda", "--exact", "own::honest::on_a_stream::n=600"];
    let records = run
        .args(cases)
        .args(["--mode", "cold,graph", "--timeout", "20s"])
        .finish()
        .records();
    let results: Vec<_> = records.results().collect();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["verdict"], "pass", "{result:#}");
        assert_eq!(result["execution"], "hosted");
    }
}

#[test]
fn the_record_has_the_digest_of_the_library() {
    let digest = |benchmark| records().result(benchmark)["own_library_sha256"].as_str();
    let packed = digest("own::honest::packed").unwrap();
    assert_eq!(packed.len(), 64);
    assert_eq!(digest("own::failures::packed_gets_too_little"), Some(packed));
    assert_ne!(digest("own::honest::plain"), Some(packed));
    assert_eq!(digest("problem::plan_that_copies"), None);
}

/// A run of an archive opens what the archive has, and nothing at the places that it names.
#[test]
fn an_archive_has_the_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let folder = camino::Utf8Path::from_path(folder.path()).unwrap();
    let archive = folder.join("libraries.tar.gz");
    let archived = Run::archiving(&Fixture::new("libraries"), &archive).finish();
    assert_eq!(archived.ending, Ending::Code(0), "{}", archived.stderr);
    assert!(
        archived.stderr.contains("the archive lacks a library: cannot read"),
        "{}",
        archived.stderr
    );
    let run = Run::from_archive(&archive, folder, camino::Utf8Path::new("/usr/bin"))
        .briefly()
        .json();
    let records = run
        .args(["honest::plain", "failures::device", "failures::text"])
        .finish()
        .records();
    assert_passes(&records, "own::honest::plain");
    for absent in ["own::failures::device", "own::failures::text"] {
        records.assert_ends(
            absent,
            "error",
            "setup-failed",
            &["the archive does not have its library"],
        );
    }
    let digest = |records: &Records| records.result("own::honest::plain")["own_library_sha256"].clone();
    assert_eq!(digest(&records), digest(self::records()));
}
