//! `cargo gpubench emit`: compiled kernels as text, without a GPU.
#![forbid(unsafe_code)]

use std::os::unix::fs::PermissionsExt as _;

use gpubench_tests::{FakeGpu, Finished, Fixture, Run, nvdisasm, nvrtc};

/// A case whose source has another kernel.
const CASE: &str = "sums::one_block_a_row::rows=33,cols=100,threads=32";

fn emit(arguments: &[&str]) -> Run {
    let run = Run::on_verb("emit", &Fixture::of("tidy")).args(["--offline", "--nvrtc", &nvrtc()]);
    run.args(arguments.iter().copied())
}

/// Returns `PATH` with another folder in front.
fn path_after(folder: &str) -> String {
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

#[track_caller]
fn assert_says(finished: &Finished, error: &str) {
    assert!(finished.stderr.contains(error), "{}", finished.stderr);
    assert_eq!(finished.stdout, "");
}

#[test]
fn the_ptx_of_a_case_has_its_kernels_under_their_names() {
    let finished = emit(&["--ptx", "--exact", CASE, "--gpu-arch", "sm_90"])
        .finish()
        .expect_code(0);
    let text = finished.stdout;
    assert!(
        text.starts_with("// sums.cu of tidy, for sm_90, by NVRTC 12.9 ("),
        "{text}"
    );
    for part in [
        "\n// sums::one_block_a_row<32>\n",
        ".entry _ZN4sums15one_block_a_rowILi32EEE",
        ".target sm_90",
        ".file\t1 \"src/sums.cu\"",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert!(!text.contains("one_thread_a_row("), "{text}");
    assert!(
        finished
            .stderr
            .contains("     Emitted 1 kernel for sm_90 to standard output\n"),
        "{}",
        finished.stderr
    );
}

#[test]
fn all_kernels_of_its_source_are_printed_on_request() {
    let finished = emit(&["--ptx", "--all-kernels", "--exact", CASE, "--gpu-arch", "8.0"]);
    let text = finished.finish().expect_code(0).stdout;
    for part in [
        "\n// sums::one_block_a_row<32>\n",
        "\n// one_thread_a_row\n",
        ".target sm_80",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

#[test]
fn sass_has_instructions_and_source_lines_and_can_go_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("out/sums.sass").to_str().expect("UTF-8").to_owned();
    let run = emit(&["--sass", "--exact", CASE, "--gpu-arch", "sm_90", "--output", &file]);
    let finished = run.env("PATH", &path_after(&nvdisasm())).finish().expect_code(0);
    assert_eq!(finished.stdout, "");
    let text = std::fs::read_to_string(file).expect("a text");
    for part in [
        "\n// sums::one_block_a_row<32>: ",
        " registers, 0 bytes of shared memory, 0 bytes of stack, 0 bytes of spill stores, 0 bytes of spill loads\n",
        ".text._ZN4sums15one_block_a_rowILi32EEE",
        "BAR.SYNC",
        "EXIT",
        "File \"src/sums.cu\", line ",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    assert!(!text.contains("one_thread_a_row:"), "{text}");
}

#[test]
fn a_disassembler_that_fails_is_an_error_with_its_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("nvdisasm");
    std::fs::write(&program, "#!/bin/sh\necho 'unknown architecture' >&2\nexit 3\n").expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = path_after(folder.path().to_str().expect("UTF-8"));
    let run = emit(&["--sass", "--exact", CASE, "--gpu-arch", "sm_90"]).env("PATH", &path);
    let finished = run.finish().expect_code(96);
    assert_says(&finished, "error: cannot print the kernels of `sums.cu`\ncaused by: `");
    assert_says(
        &finished,
        "could not read the machine code: exit status: 3: unknown architecture\n(hint: ",
    );
}

#[test]
fn without_an_architecture_kernels_are_for_the_gpu_at_hand() {
    let gpu = FakeGpu::new();
    let run = gpu.run_of_verb("emit", &Fixture::of("tidy"));
    let run = run.args(["--offline", "--nvrtc", &nvrtc(), "--ptx", "--exact", CASE]);
    let text = run.env("FAKE_CUDA_ATTRIBUTES", "75=8").finish().expect_code(0).stdout;
    assert!(text.contains(".target sm_80"), "{text}");
}

#[test]
fn the_cpu_device_and_a_machine_without_a_gpu_have_no_such_text() {
    let finished = emit(&["--ptx", "--exact", CASE, "--device", "cpu"])
        .finish()
        .expect_code(96);
    assert_says(
        &finished,
        "error: the CPU device has neither PTX nor SASS\n(hint: name an architecture with",
    );
    let gpu = FakeGpu::new();
    let absent = gpu
        .run_of_verb("emit", &Fixture::of("tidy"))
        .env("FAKE_CUDA_DEVICES", "0");
    let finished = absent
        .args(["--offline", "--ptx", "--exact", CASE])
        .finish()
        .expect_code(96);
    assert_says(&finished, "error: no GPU to compile for: ");
}

#[test]
fn cases_without_kernels_are_named_and_nothing_to_print_is_an_error() {
    let finished = emit(&["--ptx", "--gpu-arch", "sm_90", "devices::"])
        .finish()
        .expect_code(4);
    assert_says(&finished, "warning: left out `devices::needs_the_cpu_device`: ");
    assert_says(&finished, "error: no selected case has kernels for sm_90\n(hint: ");
    let hosted = Run::on_verb("emit", &Fixture::of("hosted")).args(["--offline", "--nvrtc", &nvrtc()]);
    let hosted = hosted.args(["--ptx", "--gpu-arch", "sm_90", "honest::"]).finish();
    assert!(
        hosted
            .stderr
            .contains("host code launches the kernels of a hosted benchmark"),
        "{}",
        hosted.stderr
    );
}

#[test]
fn a_kernel_that_does_not_compile_is_quoted_and_the_others_are_printed() {
    let run = Run::on_verb("emit", &Fixture::of("hostile")).args(["--offline", "--nvrtc", &nvrtc()]);
    let run = run.args(["--ptx", "--gpu-arch", "sm_90", "instantiation"]);
    let finished = run.finish().expect_code(101);
    assert!(
        finished.stderr.contains("warning: not compiled for sm_90: "),
        "{}",
        finished.stderr
    );
    assert!(
        finished
            .stderr
            .contains("error: some kernels could not be compiled for sm_90"),
        "{}",
        finished.stderr
    );
    assert!(finished.stdout.contains(".entry"), "{}", finished.stdout);
}
