//! Eight kernels of the usual kinds, each with a benchmark of at most ten lines.
#![forbid(unsafe_code)]

use gpubench_tests::{Fixture, Run};

#[test]
fn eight_kernels_of_the_usual_kinds_pass() {
    let finished = Run::on(&Fixture::new("short"))
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(0);
    assert!(
        finished.stdout.contains("8 passed, 0 failed, 0 skipped"),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_benchmark_is_at_most_ten_lines() {
    let source = Fixture::new("short").directory().join("src/lib.rs");
    let source = std::fs::read_to_string(source).expect("text");
    let benchmarks: Vec<&str> = source.split("#[gpubench(").skip(1).collect();
    assert_eq!(benchmarks.len(), 8);
    for benchmark in benchmarks {
        let (declaration, _) = benchmark.split_once(");\n").expect("it has no body");
        assert!(declaration.lines().count() <= 10, "{declaration}");
    }
}
