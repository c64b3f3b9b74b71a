//! The checks of the fixture for a real GPU that need no GPU.

use std::collections::BTreeSet;

use gpubench_tests::{Fixture, Run, nvrtc};

/// Returns the first column of the table of expected verdicts.
fn expected() -> BTreeSet<String> {
    let table = Fixture::new("gpu").directory().join("expected.tsv");
    let table = std::fs::read_to_string(table).expect("a table");
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.split('\t').next().expect("a column").to_owned())
        .collect()
}

#[test]
fn every_benchmark_has_an_expected_verdict() {
    let listed = Run::on(&Fixture::new("gpu"))
        .args(["--device", "cpu", "--list"])
        .finish()
        .expect_code(0);
    let cases = listed.stdout.lines();
    let benchmarks: BTreeSet<String> = cases
        .map(|case| {
            case.rsplit_once("::")
                .filter(|(_, axes)| axes.contains('='))
                .map_or(case, |(path, _)| path)
                .to_owned()
        })
        .collect();
    assert_eq!(benchmarks, expected());
}

#[test]
fn its_kernels_compile_for_a_gpu() {
    let folder = tempfile::tempdir().expect("a directory");
    let archive = camino::Utf8Path::from_path(folder.path())
        .expect("UTF-8")
        .join("gpu.tar.gz");
    let made = Run::archiving(&Fixture::new("gpu"), &archive)
        .args(["--gpu-arch", "sm_90", "--nvrtc", &nvrtc()])
        .finish()
        .expect_code(0);
    assert!(made.stderr.contains(" kernels for sm_90, "), "{}", made.stderr);
    assert!(!made.stderr.contains("warning"), "{}", made.stderr);
}

#[test]
fn the_ptx_of_hosted_kernels_matches_their_source() {
    let packages = camino::Utf8PathBuf::from(nvrtc());
    let python = packages.ancestors().nth(3).expect("an environment").join("bin/python");
    let script = Fixture::new("gpu").directory().join("compile.py");
    let checked = std::process::Command::new(python).arg(script).arg("--check").output();
    let checked = checked.expect("Python runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
