//! Windows as NVTX ranges. A small profiler, written in C, logs them.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use gpubench_tests::{Fixture, Run};

const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";

/// A minimal NVTX injection library, written from the documented layout.
const PROFILER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*Function)(void);
struct Callbacks {
    size_t bytes;
    int (*module_table)(int module, Function ***table, unsigned *size);
};

static void note(const char *word, const char *text) {
    FILE *log = fopen(getenv("PROFILER_LOG"), "a");
    if (!log) abort();
    fprintf(log, "%s%s\n", word, text);
    fclose(log);
}

static int push(const char *text) { note("push ", text); return 0; }
static int pop(void) { note("pop", ""); return 0; }

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
    const struct Callbacks *callbacks = export_table(1);
    if (!callbacks || callbacks->bytes < sizeof *callbacks) return 0;
    Function **table;
    unsigned size;
    for (int module = 1; module <= 6; ++module) {
        if (!callbacks->module_table(module, &table, &size)) return 0;
        for (unsigned slot = 1; slot < size; ++slot)
            if (!table[slot]) return 0;
    }
    if (callbacks->module_table(7, 0, 0)) return 0;
    if (!callbacks->module_table(1, &table, &size) || size != 16) return 0;
    *table[9] = (Function)push;
    *table[11] = (Function)pop;
    return 1;
}
"#;

fn compiled(source: &str, folder: &Path) -> PathBuf {
    let (text, library) = (folder.join("profiler.c"), folder.join("libprofiler.so"));
    std::fs::write(&text, source).expect("it is written");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &text])
        .status()
        .expect("a C compiler");
    assert!(made.success());
    library
}

fn run() -> Run {
    Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--exact", CASE, "--device", "cpu", "--nvtx"])
}

#[test]
fn a_profiler_sees_every_window_with_case_and_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = compiled(PROFILER, folder.path());
    let log = folder.path().join("log");
    let finished = run()
        .json()
        .env("NVTX_INJECTION64_PATH", library.to_str().expect("UTF-8"))
        .env("PROFILER_LOG", log.to_str().expect("UTF-8"))
        .finish()
        .expect_code(0);
    let windows = finished.records().result(CASE)["windows"].as_u64().expect("a number");
    let expected: String = (1..=windows)
        .map(|window| format!("push gpubench tidy::{CASE} window {window}\npop\n"))
        .collect();
    assert_eq!(
        std::fs::read_to_string(log).expect("the profiler wrote a log"),
        expected
    );
}

#[test]
fn without_a_profiler_the_option_is_refused() {
    let finished = run().env("NVTX_INJECTION64_PATH", "").finish().expect_code(96);
    let errors = finished.errors();
    assert_eq!(errors.len(), 1, "{}", finished.stderr);
    assert!(errors[0].contains("NVTX"), "{}", errors[0]);
    assert!(finished.stderr.contains("nsys"), "{}", finished.stderr);
}

#[test]
fn a_profiler_that_cannot_be_loaded_is_an_error_with_its_path() {
    let finished = run()
        .env("NVTX_INJECTION64_PATH", "/no/such/profiler.so")
        .finish()
        .expect_code(96);
    assert!(finished.stderr.contains("/no/such/profiler.so"), "{}", finished.stderr);
}

#[test]
fn a_crashing_profiler_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = compiled(
        "#include <stdlib.h>\nint InitializeInjectionNvtx2(void *f) { abort(); }",
        folder.path(),
    );
    let finished = run()
        .env("NVTX_INJECTION64_PATH", library.to_str().expect("UTF-8"))
        .finish()
        .expect_code(96);
    assert!(finished.stderr.contains("SIGABRT"), "{}", finished.stderr);
}
