//! Benchmarks in examples of type `cdylib`: real cargo with real crates.

// Some of it only `cargo_build` uses.
#[allow(dead_code)]
mod fixture;

use std::process::Command;

use assert_cmd::assert::{Assert, OutputAssertExt};
use fixture::{Fixture, Kernels};
use predicates::{prelude::*, str::contains};

/// The manifest of an example of type `cdylib`. `more` is added to its table.
fn cdylib(name: &str, more: &str) -> String {
    format!("[[example]]\nname = \"{name}\"\ncrate-type = [\"cdylib\"]\n{more}\n")
}

/// The table of a dev-dependency on the runtime.
fn dev_dependency() -> String {
    let runtime = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("gpubench");
    format!("[dev-dependencies]\ngpubench = {{ path = {runtime:?} }}\n")
}

/// The source of an example with the benchmark `name`.
fn benchmark(name: &str) -> String {
    format!(
        r#"
use gpubench::prelude::*;

fn vectors(len: usize) -> Tensors {{
    Tensors::new().input("x", f32::shape([len]), Uniform(0.0..1.0)).output("y", f32::shape([len]))
}}

fn copied(_len: usize, x: &[f32], y: &mut [f32]) {{
    y.copy_from_slice(x);
}}

#[gpubench(axes(len = [16]), tensors = vectors, reference = copied, exact)]
fn {name}(launcher: &mut Launcher, _len: usize, x: In<f32>, y: Out<f32>) -> Result<()> {{
    launcher.copy(x, y)
}}
"#
    )
}

/// Returns a package whose runtime is a dev-dependency, with a benchmark `scale` in each of these
/// examples.
fn with_examples(name: &str, examples: &[&str]) -> Fixture {
    Fixture::new(name).with_examples(".", &format!("fx-{name}"), examples, "")
}

impl Fixture {
    fn with_examples(self, path: &str, package: &str, examples: &[&str], more: &str) -> Fixture {
        let tables: String = examples.iter().map(|example| cdylib(example, "")).collect();
        let manifest = format!("{}{tables}{more}", dev_dependency());
        let fixture = self.package(path, package, Kernels::NoRuntime, &manifest);
        examples.iter().fold(fixture, |fixture, example| {
            fixture.file(&format!("{path}/examples/{example}.rs"), &benchmark("scale"))
        })
    }

    /// Adds `publish = false` to the manifest of a package.
    fn unpublished(self, path: &str) -> Fixture {
        let manifest = format!("{path}/Cargo.toml");
        let text = std::fs::read_to_string(self.path(&manifest)).expect("the file is there");
        self.file(&manifest, &text.replace("[package]\n", "[package]\npublish = false\n"))
    }

    /// Runs cargo itself in the root.
    fn cargo(&self, arguments: &[&str]) -> Assert {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .current_dir(self.path(""))
            .env("CARGO_TARGET_DIR", fixture::target_directory())
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("RUSTFLAGS")
            .assert()
    }

    /// Checks the names of all cases.
    #[track_caller]
    fn lists(&self, arguments: &[&str], names: &[&str]) {
        let names: String = names.iter().map(|name| format!("{name}::len=16\n")).collect();
        let mut command = self.command(".", arguments);
        command.arg("--list").assert().success().stdout(names);
    }
}

#[test]
fn every_example_of_type_cdylib_is_found_and_names_its_benchmarks() {
    let fixture = with_examples("ex-two", &["gpu", "more-kernels"]);
    fixture.lists(&[], &["gpu::scale", "more_kernels::scale"]);
    fixture
        .command(".", &["--test", "gpu::"])
        .assert()
        .success()
        .stdout(contains("gpu").and(contains("1 passed")).and(contains("more").not()));
}

/// Of a library and an example that links it. The library has a module of the example's name.
#[test]
fn a_benchmark_of_the_library_is_listed_once() {
    let gpu = "pub fn of_the_library() {}";
    let fixture = Fixture::new("ex-both")
        .package(".", "fx-both", Kernels::Some, &cdylib("gpu", ""))
        .source("src/lib.rs", "pub mod gpu;")
        .file("src/gpu.rs", gpu)
        .file(
            "examples/gpu.rs",
            &format!("{}\npub use fx_both::gpu::of_the_library;", benchmark("scale")),
        );
    fixture.lists(&[], &["copy", "gpu::scale"]);
    fixture
        .command(".", &["--test", "--message-format", "json"])
        .assert()
        .success()
        .stdout(contains("\"benchmark\":\"copy\"").and(contains("\"benchmark\":\"gpu::scale\"")));

    let same = benchmark("scale").replace("launcher.copy(x, y)", "panic!(\"of the library\")");
    let fixture = fixture.file("src/gpu.rs", &format!("{same}\n{gpu}"));
    fixture.command(".", &["--list"]).assert().code(104).stderr(
        contains("error: two cases are called `fx-both::gpu::scale::len=16`")
            .and(contains("(hint: give one of the two benchmarks a different `name`)")),
    );
}

/// Both examples are built to the same file.
#[test]
fn packages_may_have_examples_of_the_same_name() {
    let fixture = Fixture::new("ex-workspace")
        .workspace(&["a", "b", "c"], "")
        .with_examples("a", "fx-ex-a", &["gpu"], "")
        .with_examples("b", "fx-ex-b", &["gpu"], "")
        .package("c", "fx-ex-c", Kernels::Some, "")
        .file("b/examples/gpu.rs", &benchmark("of_b"));
    let all = ["fx-ex-a::gpu::scale", "fx-ex-b::gpu::of_b", "fx-ex-c::copy"];
    fixture.lists(&[], &all);
    fixture.lists(&["-p", "fx-ex-b"], &["gpu::of_b"]);
    fixture.lists(&["--workspace", "--exclude", "fx-ex-b"], &[all[0], all[2]]);

    let archive = ["archive", "--archive-file", "all.tar.gz"];
    fixture.command(".", &archive).assert().success();
    fixture.lists(&["--archive-file", "all.tar.gz"], &all);
}

#[test]
fn an_example_is_compared_with_another_revision_of_itself() {
    let fixture = with_examples("ex-against", &["gpu"]);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
        command.args(arguments).current_dir(fixture.path("")).assert().success();
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "an example"]);
    let arguments = [
        "--against",
        "HEAD",
        "--workers",
        "1",
        "--max-samples",
        "10",
        "--message-format",
        "json",
    ];
    fixture
        .command(".", &arguments)
        .assert()
        .code(predicate::in_iter([0, 3]))
        .stdout(contains("\"comparison-complete\"").and(contains("\"benchmark\":\"gpu::scale\"")));
}

#[test]
fn an_example_is_built_if_its_features_are_on() {
    let gpu = cdylib("gpu", "required-features = [\"cuda\"]");
    let more = |metadata: &str| format!("{gpu}[features]\ncuda = []\nall = [\"cuda\"]\n{metadata}");
    let fixture = |name: &str, metadata: &str| {
        Fixture::new(name)
            .with_examples(".", &format!("fx-{name}"), &[], &more(metadata))
            .file("examples/gpu.rs", &benchmark("scale"))
    };
    let off = fixture("ex-features", "");
    off.build(&[]).code(4).stderr(contains(
        "(hint: package `fx-ex-features` has an example `gpu`, which needs a feature that is off: try `--features cuda`",
    ));
    for features in ["cuda", "all"] {
        off.lists(&["--features", features], &["gpu::scale"]);
    }
    let on = fixture("ex-features-on", "[package.metadata.gpubench]\nfeatures = [\"cuda\"]");
    on.lists(&[], &["gpu::scale"]);

    let both = Fixture::new("ex-features-both")
        .package(".", "fx-ex-features-both", Kernels::Some, &more(""))
        .file("examples/gpu.rs", "compile_error!(\"it is not left out\");");
    both.build(&[]).success().stderr(contains(
        "warning: example `gpu` of package `fx-ex-features-both` is left out, because it needs a feature that is off (hint: try `--features cuda`)",
    ));
}

#[test]
fn an_example_next_to_a_cdylib_is_found() {
    for crate_types in ["[\"cdylib\"]", "[\"cdylib\", \"rlib\"]"] {
        let manifest = format!(
            "{}{}[lib]\ncrate-type = {crate_types}\n",
            dev_dependency(),
            cdylib("gpu", "")
        );
        let fixture = Fixture::new("ex-cdylib")
            .package(".", "fx-ex-cdylib", Kernels::NoRuntime, &manifest)
            .source(
                "src/lib.rs",
                "#[unsafe(no_mangle)]\npub extern \"C\" fn init_of_module() {}",
            )
            .file("examples/gpu.rs", &benchmark("scale"));
        fixture.lists(&[], &["gpu::scale"]);
    }
}

/// Link arguments for the cdylib of the library, such as a Python module, and for examples that are
/// programs, do not reach such an example. Cargo passes it only `rustc-link-arg`.
#[test]
fn link_arguments_for_other_targets_do_not_break_an_example() {
    let build_script = |kind: &str| format!("fn main() {{ println!(\"cargo::rustc-{kind}=-Wl,--no-such-option\"); }}");
    let fixture = with_examples("ex-linked", &["gpu"]);
    let fixture = fixture.file("build.rs", &build_script("link-arg-examples"));
    fixture.lists(&[], &["gpu::scale"]);
    let fixture = fixture.file("build.rs", &build_script("link-arg"));
    fixture
        .build(&[])
        .code(101)
        .stderr(contains("no-such-option").and(contains(
            "error: could not build example `gpu` of package `fx-ex-linked`",
        )));

    let module = "[lib]\ncrate-type = [\"cdylib\"]\n";
    let manifest = format!("{}{}{module}", dev_dependency(), cdylib("gpu", ""));
    Fixture::new("ex-module")
        .package(".", "fx-ex-module", Kernels::NoRuntime, &manifest)
        .file("build.rs", &build_script("cdylib-link-arg"))
        .file("examples/gpu.rs", &benchmark("scale"))
        .lists(&[], &["gpu::scale"]);
}

#[test]
fn cargo_builds_and_tests_a_crate_with_such_an_example() {
    let fixture = with_examples("ex-cargo", &["gpu"]).source("src/lib.rs", "#[test]\nfn runs() {}");
    for arguments in [&["build", "--examples"][..], &["test"], &["check", "--all-targets"]] {
        fixture.cargo(arguments).success();
    }
    let library = fixture::target_directory().join("debug/examples/libgpu.so");
    assert!(library.is_file());
}

#[test]
fn an_example_that_is_not_about_benchmarks_is_ignored() {
    let quiet = |fixture: Fixture, names: &[&str]| {
        fixture.build(&["--quiet"]).success().stderr("");
        fixture.lists(&[], names);
    };
    let other = cdylib("other", "");
    // The package depends on the runtime.
    quiet(
        Fixture::new("ex-other")
            .with_examples(".", "fx-ex-other", &["gpu"], &other)
            .file(
                "examples/other.rs",
                "#[unsafe(no_mangle)] pub extern \"C\" fn other() {}",
            ),
        &["gpu::scale"],
    );
    // It links a library with benchmarks, and has none.
    Fixture::new("ex-links")
        .workspace(&["base", "more"], "")
        .package("base", "fx-ex-base", Kernels::Some, "")
        .with_examples(
            "more",
            "fx-ex-more",
            &["gpu"],
            &format!("{other}[dependencies.fx-ex-base]\npath = \"../base\""),
        )
        .file("more/examples/other.rs", "pub use fx_ex_base as base;")
        .lists(&[], &["fx-ex-base::copy", "fx-ex-more::gpu::scale"]);
    // The package has nothing to do with the runtime: the example is not built.
    quiet(
        Fixture::new("ex-plain")
            .workspace(&["plain", "gpu"], "")
            .package("plain", "fx-ex-plain", Kernels::NoRuntime, &other)
            .file("plain/examples/other.rs", "compile_error!(\"it is built\");")
            .package("gpu", "fx-ex-gpu", Kernels::Some, ""),
        &["copy"],
    );
}

#[test]
fn an_example_that_does_not_compile_is_named() {
    let fixture = with_examples("ex-broken", &["broken", "gpu"]);
    let fixture = fixture.file("examples/broken.rs", "fn broken() -> u8 { \"text\" }");
    fixture
        .build(&[])
        .code(101)
        .stderr(contains("error[E0308]").and(contains(
            "error: could not build example `broken` of package `fx-ex-broken` (exit status: 101)",
        )));
}

#[test]
fn an_example_with_the_name_of_a_library_with_benchmarks_is_refused() {
    let fixture = Fixture::new("ex-namesake")
        .package(".", "fx-namesake", Kernels::Some, &cdylib("fx-namesake", ""))
        .file("examples/fx-namesake.rs", &benchmark("scale"));
    fixture.build(&[]).code(2).stderr(contains(
        "error: example `fx-namesake` of package `fx-namesake` has the name of the library of package `fx-namesake`, \
         which can have benchmarks, too\n(hint: give the example another `name` in its `[[example]]`)",
    ));
    // A library without the runtime has no benchmarks.
    with_examples("ex-alone", &["fx-ex-alone"]).lists(&[], &["fx_ex_alone::scale"]);
}

#[test]
fn an_example_may_do_without_the_standard_library_and_rename_the_runtime() {
    let no_std = |name: &str| format!("#![no_std]\n{}", benchmark(name));
    let fixture = with_examples("ex-no-std", &["gpu"]);
    fixture
        .file("examples/gpu.rs", &no_std("scale"))
        .lists(&[], &["gpu::scale"]);

    let renamed = dev_dependency().replace("gpubench = { ", "gb = { package = \"gpubench\", ");
    let fixture = Fixture::new("ex-renamed")
        .package(
            ".",
            "fx-ex-renamed",
            Kernels::NoRuntime,
            &format!("{renamed}{}", cdylib("gpu", "")),
        )
        .file("examples/gpu.rs", &benchmark("scale").replace("use gpubench", "use gb"));
    fixture.lists(&[], &["gpu::scale"]);
}

/// A file with benchmarks at the place of `benches/`, as an example.
#[test]
fn an_example_may_be_in_another_folder() {
    let fixture = Fixture::new("ex-benches")
        .with_examples(".", "fx-ex-benches", &[], &cdylib("gpu", "path = \"benches/gpu.rs\""))
        .file("benches/gpu.rs", &benchmark("scale"));
    fixture.lists(&[], &["gpu::scale"]);
}

#[test]
fn benchmarks_in_files_that_are_not_searched_have_a_hint() {
    let fixture = Fixture::new("ex-mistakes").with_examples(".", "fx-mistakes", &[], "");
    let lacks = "package `fx-mistakes` has `gpubench` only in `[dev-dependencies]`, and no example with `crate-type = [\"cdylib\"]`: ";
    let add = "write in `Cargo.toml`: `[[example]]`, `name = \"gpu\"`, `crate-type = [\"cdylib\"]`)";
    let hint = |fixture: &Fixture, what: &str| {
        fixture
            .build(&[])
            .code(4)
            .stderr(contains(format!("{lacks}{what}{add}")));
    };
    hint(&fixture, "put the benchmarks in `examples/gpu.rs`, and ");
    let fixture = fixture.file("benches/gpu.rs", &benchmark("scale"));
    hint(&fixture, "move `benches/gpu.rs` to `examples`, and ");
    let fixture = fixture.file("examples/gpu.rs", &benchmark("scale"));
    hint(&fixture, "`examples/gpu.rs` is built as a program; ");

    let typo = Fixture::new("ex-typo")
        .with_examples(".", "fx-mistakes", &[], &cdylib("gpu", "").replace("cdylib", "cdlib"))
        .file("examples/gpu.rs", &benchmark("scale"));
    hint(&typo, "`examples/gpu.rs` has `crate-type = [\"cdlib\"]`; ");

    // The runtime is a normal dependency.
    let normal = Fixture::new("ex-mistake")
        .package(".", "fx-mistake", Kernels::None, "")
        .file("benches/gpu.rs", &benchmark("scale"));
    normal.build(&[]).code(4).stderr(contains(format!(
        "error: package `fx-mistake` has no `#[gpubench]` functions\n(hint: move `benches/gpu.rs` to `examples`, and {add}"
    )));
}

/// Whoever types `cargo bench` from habit. Other benchmarks that link the library say nothing.
#[test]
fn cargo_bench_ends_with_a_note_where_it_runs_no_benchmark() {
    let other = "[[bench]]\nname = \"other\"\nharness = false\n";
    let fixture = Fixture::new("bench-habit")
        .package(
            ".",
            "fx-bench-habit",
            Kernels::Some,
            &format!("{}{other}", cdylib("gpu", "")),
        )
        .file("benches/other.rs", "use fx_bench_habit as _;\nfn main() {}")
        .file("examples/gpu.rs", &benchmark("scale"));
    let note = "note: `cargo bench` does not run functions with `#[gpubench]`: use `cargo gpubench`\n";
    let once = |arguments: &[&str]| {
        let text = contains(note).count(1);
        fixture.cargo(arguments).success().stderr(text);
    };
    once(&["bench"]);
    once(&["bench", "--example", "gpu"]);
    fixture.cargo(&["test"]).success().stderr(contains(note).not());
}

/// A bench crate needs only paths.
#[test]
fn a_crate_of_benchmarks_reads_the_kernels_of_the_library_next_to_it() {
    let kernel = "extern \"C\" __global__ void scale(const float *x, float *y, size_t len) {\n    \
                  size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < len) y[i] = x[i];\n}\n";
    let source = benchmark("scale").replace(
        "launcher.copy(x, y)",
        "launcher.launch(SCALE.kernel(\"scale\"), Grid::covering(fx_kernels::LEN, 16), (x, y, fx_kernels::LEN))",
    );
    Fixture::new("bench-crate")
        .workspace(&["kernels", "benches"], "")
        .package("kernels", "fx-kernels", Kernels::NoRuntime, "")
        .source("kernels/src/lib.rs", "pub const LEN: usize = 16;")
        .file("kernels/src/scale.cu", kernel)
        .package(
            "benches",
            "fx-benches",
            Kernels::Some,
            "fx-kernels = { path = \"../kernels\" }",
        )
        .file(
            "benches/src/lib.rs",
            &format!("{source}\ncuda_source!(SCALE = \"../../kernels/src/scale.cu\");\n"),
        )
        .unpublished("benches")
        .command(".", &["--test"])
        .assert()
        .success()
        .stdout(contains("1 passed"));
}
