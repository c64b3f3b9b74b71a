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
    for words in ["error: `first` exists already", "run `cargo gpubench init`"] {
        assert!(again.stderr.contains(words), "{}", again.stderr);
    }
}

#[test]
fn a_new_crate_cannot_have_the_name_of_one_that_it_needs() {
    let folder = folder();
    for arguments in [
        &["gpubench"][..],
        &["a", "--name", "gpubench"],
        &["cudarc", "--template", "cudarc"],
        &["bindgen", "--template", "bindgen"],
        &["cc", "--template", "bindgen"],
    ] {
        let arguments = [&["new"], arguments].concat();
        let refused = in_folder(&folder.path, &arguments).finish().expect_code(2);
        assert!(refused.stderr.contains("cannot be named `"), "{}", refused.stderr);
    }
    assert_eq!(folder.path.read_dir_utf8().expect("a folder").count(), 0);
}

#[test]
fn the_way_to_a_new_crate_is_quoted_for_the_shell() {
    let folder = folder();
    let made = in_folder(&folder.path, &["new", "my crates/first", "--template", "ptx"])
        .finish()
        .expect_code(0);
    let words = "`cd 'my crates/first' && cargo gpubench`";
    assert!(made.stderr.contains(words), "{}", made.stderr);
}

#[test]
fn a_new_crate_of_ptx_needs_a_gpu() {
    for (template, file) in [("ptx", "`src/kernels.ptx`"), ("rust-ptx", "`kernels/add1.ptx`")] {
        check_that_a_crate_of_ptx_needs_a_gpu(template, file);
    }
}

fn check_that_a_crate_of_ptx_needs_a_gpu(template: &str, file: &str) {
    let folder = folder();
    let made = in_folder(
        &folder.path,
        &["new", "image", "--template", template, "--name", "other"],
    )
    .finish();
    assert!(made.expect_code(0).stderr.contains(file));
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
        "bindgen/build.rs",
        "bindgen/src/add1.cu",
        "bindgen/src/add1.h",
        "bindgen/src/lib.rs",
        "launcher/build.rs",
        "launcher/src/add1.cu",
        "launcher/src/lib.rs",
        "cudarc/src/lib.rs",
        "rust-ptx/kernels/add1.ptx",
        "rust-ptx/kernels/add1.rs",
        "rust-ptx/src/lib.rs",
    ] {
        let [template, example] =
            [&templates, &examples].map(|folder| std::fs::read_to_string(folder.join(file)).expect("text"));
        assert_eq!(template, example, "{file}");
    }
    let folder = folder();
    for (template, packages) in [("cudarc", &["cudarc"][..]), ("bindgen", &["bindgen", "cc"])] {
        let name = format!("by-{template}");
        let _ = in_folder(&folder.path, &["new", &name, "--template", template])
            .finish()
            .expect_code(0);
        let of_crate = text_of(&folder.path.join(name).join("Cargo.toml"));
        let of_example = text_of(&examples.join(template).join("Cargo.toml"));
        for package in packages {
            let line = |manifest: &str| {
                let start = format!("{package} = ");
                manifest
                    .lines()
                    .find(|line| line.starts_with(&start))
                    .map(str::to_owned)
            };
            assert!(line(&of_crate).is_some(), "{of_crate}");
            assert_eq!(line(&of_crate), line(&of_example));
        }
    }
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

const ONE_KERNEL: &str = "__global__ void one(float *y, size_t n) {}";

/// Makes a package, `package` in the folder, that has a kernel.
fn package_in(folder: &Folder, manifest: &str) -> Utf8PathBuf {
    let package = folder.path.join("package");
    write(&package.join("Cargo.toml"), manifest);
    write(&package.join("src/lib.rs"), "");
    write(&package.join("src/k.cu"), ONE_KERNEL);
    package
}

fn text_of(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).expect("text")
}

#[test]
fn an_example_of_the_same_name_is_found_before_anything_is_written() {
    for (manifest, program, words) in [
        (
            "example = [{ name = \"gpu\", path = \"demo.rs\" }]\n[package]\nname = \"p\"\n",
            "demo.rs",
            "`Cargo.toml` has an example `gpu` already",
        ),
        (
            "[package]\nname = \"p\"\n",
            "examples/gpu/main.rs",
            "`examples/gpu/main.rs` exists already",
        ),
    ] {
        let folder = folder();
        let package = package_in(&folder, manifest);
        write(&package.join(program), "fn main() {}");
        let refused = in_folder(&package, &["init"]).finish().expect_code(2);
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
        assert!(refused.stderr.contains("`--example`"), "{}", refused.stderr);
        assert_eq!(text_of(&package.join("Cargo.toml")), manifest);
        assert!(!package.join("examples/gpu.rs").exists());
    }
}

#[test]
fn a_manifest_that_cannot_be_changed_stays_and_no_file_is_made() {
    let folder = folder();
    let manifest = "dev-dependencies = 1\n[package]\nname = \"p\"\n";
    let package = package_in(&folder, manifest);
    let refused = in_folder(&package, &["init"]).finish().expect_code(2);
    assert!(refused.stderr.contains("cannot add an example"), "{}", refused.stderr);
    assert_eq!(text_of(&package.join("Cargo.toml")), manifest);
    assert!(!package.join("examples").exists());
}

#[test]
fn the_path_in_the_example_leads_to_the_file() {
    for (from, arguments) in [
        ("", &["init"][..]),
        ("", &["init", "src/k.cu"]),
        ("", &["init", "src/../src/k.cu", "./src/k.cu"]),
        ("src", &["init", "--manifest-path", "../Cargo.toml", "k.cu"]),
        ("src", &["init", "--manifest-path", "../Cargo.toml"]),
        (
            "..",
            &["init", "--manifest-path", "package/Cargo.toml", "package/src/k.cu"],
        ),
    ] {
        let folder = folder();
        let package = package_in(&folder, "[package]\nname = \"p\"\n");
        let _ = in_folder(&package.join(from), arguments).finish().expect_code(0);
        let example = text_of(&package.join("examples/gpu.rs"));
        assert!(example.contains("cuda_source!(K = \"../src/k.cu\");"), "{example}");
        assert!(example.contains("in src/k.cu:1."), "{example}");
        assert_eq!(example.matches("cuda_source!").count(), 1, "{example}");
    }
    let folder = folder();
    let package = package_in(&folder, "[package]\nname = \"p\"\n");
    let absolute = package.join("src/k.cu");
    let _ = in_folder(&package, &["init", absolute.as_str()])
        .finish()
        .expect_code(0);
    let example = text_of(&package.join("examples/gpu.rs"));
    assert!(example.contains("cuda_source!(K = \"../src/k.cu\");"), "{example}");
}

#[test]
fn a_file_whose_name_cannot_be_shown_is_refused() {
    for (name, shown) in [
        ("x\npub fn injected() {}\n.cu", "`src/x\\npub fn injected() {}\\n.cu`"),
        ("e\u{1b}[31mred.cu", "`src/e\\u{1b}[31mred.cu`"),
        ("a\u{202e}b.cu", "`src/a\\u{202e}b.cu`"),
    ] {
        let folder = folder();
        let package = package_in(&folder, "[package]\nname = \"p\"\n");
        write(&package.join("src").join(name), ONE_KERNEL);
        let refused = in_folder(&package, &["init"]).finish().expect_code(2);
        assert!(refused.stderr.contains(shown), "{}", refused.stderr);
        assert!(!package.join("examples").exists());
    }
}

#[test]
fn files_that_are_no_text_are_left_out() {
    let folder = folder();
    let package = package_in(&folder, "[package]\nname = \"p\"\n");
    std::fs::write(package.join("src/bad.cu"), b"// \xff\n").expect("written");
    let alone = in_folder(&package, &["init", "src/bad.cu"]).finish().expect_code(4);
    assert!(
        alone.stderr.contains("left out `src/bad.cu`: it is not UTF-8"),
        "{}",
        alone.stderr
    );
    let made = in_folder(&package, &["init"]).finish().expect_code(0);
    for words in ["Wrote 1 benchmark ", "Left out `src/bad.cu`: it is not UTF-8"] {
        assert!(made.stderr.contains(words), "{}", made.stderr);
    }
}

const ODD_NAMES: &str = "
__global__ void self(const float *self, float *Self, int crate) {}
__global__ void super(const float *Ok, float *Err, int _, int K) {}
__global__ void launcher(const float *launcher, float *launcher_, int __gpubench) {}
__global__ void Self(float *F16, int N, int n) {}
__global__ void gemm(const float *A, float *C, int M, int N, int K) {}
";

#[test]
fn any_names_make_benchmarks_that_compile_with_a_runtime_of_another_name() {
    let folder = folder();
    let runtime = repository().join("gpubench");
    let manifest = format!(
        "[package]\r\nname = \"p\"\r\nedition = \"2024\"\r\n\r\n[features]\r\nbench = [\"dep:g-b\"]\r\n\r\n\
         [dependencies]\r\ng-b = {{ package = \"gpubench\", path = \"{runtime}\", optional = true }}\r\n"
    );
    let package = package_in(&folder, &manifest);
    write(&package.join("src/f16.cu"), ODD_NAMES);
    let made = in_folder(&package, &["init"]).finish().expect_code(0);
    assert!(made.stderr.contains("Wrote 6 benchmarks"), "{}", made.stderr);
    let finished = Run::on(&Fixture::made_in(&package))
        .args(["--test", "--device", "cpu"])
        .finish()
        .expect_code(100);
    let summary = "0 passed, 6 failed, 0 skipped";
    assert!(
        finished.stdout.contains(summary),
        "{}{}",
        finished.stdout,
        finished.stderr
    );
    let missing = "not yet implemented: the right answer of `super`";
    assert!(finished.stdout.contains(missing), "{}", finished.stdout);
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
