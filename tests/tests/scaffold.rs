//! First files: `cargo gpubench new` and `cargo gpubench init`.
#![forbid(unsafe_code)]

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Fixture, Run, repository};

/// A folder that is removed with the value.
struct Folder {
    path: Utf8PathBuf,
    _removed: tempfile::TempDir,
}

fn folder() -> Folder {
    let removed = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(removed.path().canonicalize().expect("a path")).expect("UTF-8");
    Folder {
        path,
        _removed: removed,
    }
}

fn in_folder(folder: &Utf8Path, arguments: &[&str]) -> Run {
    Run::outside_of_workspaces(folder).args(arguments.iter().copied())
}

fn write(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("written");
}

#[test]
fn a_new_crate_runs_at_once_and_ranks_its_kernels() {
    let folder = folder();
    let made = in_folder(&folder.path, &["new", "first"]).finish().expect_code(0);
    assert!(made.stderr.contains("cd first && cargo gpubench"), "{}", made.stderr);
    let finished = Run::on(&Fixture::made_in(&folder.path.join("first")))
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(0);
    assert!(
        finished.stdout.contains("4 passed, 0 failed, 0 skipped"),
        "{}",
        finished.stdout
    );
    let again = in_folder(&folder.path, &["new", "first"]).finish().expect_code(2);
    assert!(
        again.stderr.contains("error: cargo could not make the crate `first`"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_new_crate_of_ptx_needs_a_gpu() {
    let folder = folder();
    let made = in_folder(&folder.path, &["new", "image", "--template", "ptx", "--name", "other"]).finish();
    assert!(made.expect_code(0).stderr.contains("`src/kernels.ptx`"));
    let finished = Run::on(&Fixture::made_in(&folder.path.join("image")))
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(0);
    assert!(
        finished.stdout.contains("skipped: needs a CUDA device"),
        "{}",
        finished.stdout
    );
}

#[test]
fn templates_with_host_code_are_the_hosted_examples() {
    let templates = repository().join("cargo-gpubench/src/scaffold/templates");
    let examples = repository().join("kernels/hosted-examples");
    for file in [
        "launcher/build.rs",
        "launcher/src/add1.cu",
        "launcher/src/lib.rs",
        "cudarc/src/lib.rs",
    ] {
        let [template, example] =
            [&templates, &examples].map(|folder| std::fs::read_to_string(folder.join(file)).expect("text"));
        assert_eq!(template, example, "{file}");
    }
    let folder = folder();
    let _ = in_folder(&folder.path, &["new", "by-cudarc", "--template", "cudarc"])
        .finish()
        .expect_code(0);
    let of_crate = std::fs::read_to_string(folder.path.join("by-cudarc/Cargo.toml")).expect("text");
    let of_example = std::fs::read_to_string(examples.join("cudarc/Cargo.toml")).expect("text");
    let cudarc = |manifest: &str| {
        manifest
            .lines()
            .find(|line| line.starts_with("cudarc = "))
            .map(str::to_owned)
    };
    assert!(cudarc(&of_crate).is_some());
    assert_eq!(cudarc(&of_crate), cudarc(&of_example));
}

const KERNELS: &str = "
__global__ void scale(const float *x, float *type, float factor, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) type[i] = factor * x[i];
}
namespace image { __global__ void Invert(unsigned char *pixels, int width, int height) {} }
template <int N> __global__ void any(float *x) {}
";

#[test]
fn every_kernel_of_a_package_gets_a_benchmark_that_lacks_only_its_reference() {
    let folder = folder();
    let package = folder.path.join("kernels");
    write(
        &package.join("Cargo.toml"),
        "[package]\nname = \"kernels\"\nedition = \"2024\"\n",
    );
    write(&package.join("src/lib.rs"), "");
    write(&package.join("src/deep/ops.cu"), KERNELS);
    let made = in_folder(&package, &["init"]).finish().expect_code(0);
    for words in [
        "Wrote 2 benchmarks to `examples/gpu.rs`",
        "Left out `any` in src/deep/ops.cu:7: it is a template",
    ] {
        assert!(made.stderr.contains(words), "{}", made.stderr);
    }
    let finished = Run::on(&Fixture::made_in(&package))
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(100);
    assert!(
        finished.stdout.contains("0 passed, 2 failed, 0 skipped"),
        "{}",
        finished.stdout
    );
    let missing = "it panicked: not yet implemented: the right answer of `scale`";
    assert!(finished.stdout.contains(missing), "{}", finished.stdout);
    let example = package.join("examples/gpu.rs");
    let text = std::fs::read_to_string(&example).expect("text");
    let right = text.replace(
        "todo!(\"the right answer of `scale`\")",
        "_x.iter().zip(_type).for_each(|(x, y)| *y = _factor * x)",
    );
    write(&example, &right);
    let finished = Run::on(&Fixture::made_in(&package))
        .args(["--test", "--device", "cpu", "scale"])
        .finish()
        .expect_code(0);
    assert!(finished.stdout.contains("1 passed"), "{}", finished.stdout);
}

#[test]
fn nothing_that_exists_is_replaced() {
    let folder = folder();
    let manifest = "[package]\nname = \"kernels\"\n";
    write(&folder.path.join("Cargo.toml"), manifest);
    write(&folder.path.join("k.cu"), KERNELS);
    write(&folder.path.join("examples/gpu.rs"), "mine");
    let refused = in_folder(&folder.path, &["init"]).finish().expect_code(2);
    assert!(
        refused.stderr.contains("error: `examples/gpu.rs` exists already"),
        "{}",
        refused.stderr
    );
    let kept = |path: &str| std::fs::read_to_string(folder.path.join(path)).expect("text");
    assert_eq!(
        (kept("Cargo.toml").as_str(), kept("examples/gpu.rs").as_str()),
        (manifest, "mine")
    );
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_hint() {
    let folder = folder();
    let in_no_package = in_folder(&folder.path, &["init"]).finish().expect_code(2);
    assert!(
        in_no_package.stderr.contains("is not the manifest of a package"),
        "{}",
        in_no_package.stderr
    );
    write(&folder.path.join("Cargo.toml"), "[package]\nname = \"kernels\"\n");
    let without_kernels = in_folder(&folder.path, &["init"]).finish().expect_code(4);
    assert!(
        without_kernels.stderr.contains("there is no kernel in"),
        "{}",
        without_kernels.stderr
    );
    let missing = in_folder(&folder.path, &["init", "no.cu"]).finish().expect_code(2);
    assert!(missing.stderr.contains("cannot read `no.cu`"), "{}", missing.stderr);
    for name in ["../x", "", "a/b", "1"] {
        let named = in_folder(&folder.path, &["init", "--example", name])
            .finish()
            .expect_code(2);
        assert!(named.stderr.contains("must be letters, digits"), "{}", named.stderr);
    }
    assert!(!folder.path.join("examples").exists());
}
