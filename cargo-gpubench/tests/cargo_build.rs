//! `cargo gpubench` finds, builds and refuses packages like cargo: real cargo with real crates.

mod fixture;

use std::{process::Stdio, sync::atomic::AtomicBool};

use assert_cmd::assert::OutputAssertExt;
use cargo_gpubench::cdylibs::{BuildOptions, CompilationOptions, ManifestOptions, build_cdylibs};
use fixture::{Fixture, Kernels};
use predicates::{prelude::*, str::contains};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Returns the line that names a built library.
fn library(package: &str, file: &str) -> impl Predicate<str> {
    predicate::str::is_match(format!(
        r"(?m)^     Library {package} v0\.1\.0 \(/.*/gpubench/{file}\)$"
    ))
    .expect("a regex")
}

#[test]
fn a_single_package_is_built_whatever_its_crate_types() {
    for crate_types in ["", "crate-type = [\"rlib\", \"cdylib\"]", "crate-type = [\"rlib\"]"] {
        let fixture = Fixture::new("single").package(".", "fx-single", Kernels::Some, &format!("[lib]\n{crate_types}"));
        fixture
            .build(&[])
            .success()
            .stdout("")
            .stderr(library("fx-single", "libfx_single.so"));
    }
}

#[test]
fn a_library_may_have_another_name_than_its_package() {
    let fixture = Fixture::new("renamed").package(".", "fx-renamed", Kernels::Some, "[lib]\nname = \"other_name\"");
    fixture
        .build(&[])
        .success()
        .stderr(library("fx-renamed", "libother_name.so"));
}

#[test]
fn a_quiet_build_prints_nothing() {
    let fixture = Fixture::new("quiet").package(".", "fx-quiet", Kernels::Some, "");
    fixture.build(&["--quiet"]).success().stdout("").stderr("");
}

#[test]
fn a_path_that_looks_like_a_pattern_is_built() {
    let fixture = Fixture::new("[gpu] kernels").package(".", "fx-brackets", Kernels::Some, "");
    fixture
        .build(&[])
        .success()
        .stderr(library("fx-brackets", "libfx_brackets.so"));
}

#[test]
fn a_manifest_elsewhere_is_found() {
    let fixture = Fixture::new("elsewhere").package("deep/inside", "fx-elsewhere", Kernels::Some, "[workspace]");
    fixture
        .build(&["--manifest-path", "deep/inside/Cargo.toml"])
        .success()
        .stderr(library("fx-elsewhere", "libfx_elsewhere.so"));
}

/// Returns a virtual workspace of two packages with kernels, one without, and a procedural macro.
fn virtual_workspace(name: &str) -> Fixture {
    Fixture::new(name)
        .workspace(&["a", "b", "plain", "macros"], "default-members = [\"a\", \"plain\"]")
        .package("a", "fx-a", Kernels::Some, "")
        .package("b", "fx-b", Kernels::Some, "[features]\nbroken = []")
        .package("plain", "fx-plain", Kernels::NoRuntime, "")
        .package("macros", "fx-macros", Kernels::None, "[lib]\nproc-macro = true")
        .source(
            "b/src/lib.rs",
            "#[cfg(feature = \"broken\")] compile_error!(\"the feature is on\");",
        )
}

#[test]
fn a_virtual_workspace_builds_its_default_members() {
    virtual_workspace("default-members")
        .build(&[])
        .success()
        .stderr(library("fx-a", "libfx_a.so").and(library("fx-b", "libfx_b.so").not()));
}

#[test]
fn a_whole_workspace_builds_every_package_with_kernels() {
    virtual_workspace("whole")
        .build(&["--workspace"])
        .success()
        .stderr(library("fx-a", "libfx_a.so").and(library("fx-b", "libfx_b.so")));
}

#[test]
fn a_package_with_kernels_may_build_on_another() {
    Fixture::new("on-another")
        .workspace(&["base", "more"], "")
        .package("base", "fx-base", Kernels::Some, "")
        .package("more", "fx-more", Kernels::Some, "fx-base = { path = \"../base\" }")
        .build(&[])
        .success()
        .stderr(library("fx-base", "libfx_base.so").and(library("fx-more", "libfx_more.so")));
}

/// Two checkouts of one workspace share the target directory, as all fixtures do. One is built
/// last, and the other's files are older than that build.
#[test]
fn a_checkout_never_gets_the_build_of_another() {
    let this = Fixture::new("checkout")
        .workspace(&["base", "more"], "")
        .package("base", "fx-base-of-checkout", Kernels::Some, "")
        .package(
            "more",
            "fx-more-of-checkout",
            Kernels::Some,
            "fx-base-of-checkout = { path = \"../base\" }",
        )
        .source("base/src/lib.rs", "/// Of this one.\npub fn of_this() {}")
        .source("more/src/lib.rs", "pub use fx_base_of_checkout::of_this;");
    let other = this.copied("checkout-of-another");
    let more = "pub use fx_base_of_checkout as base;\n";
    let (this, other) = (
        this.source("more/src/lib.rs", &format!("{more}#[gpubench(axes(len = [16]), tensors = vectors, reference = copied, exact)] fn of_this_checkout(launcher: &mut Launcher, len: usize, x: In<f32>, y: Out<f32>) -> Result<()> {{ launcher.copy(x, y) }}")),
        other.source("more/src/lib.rs", more),
    );
    let age = |fixture: &Fixture| {
        let files = std::process::Command::new("find")
            .args([
                fixture.path("").as_str(),
                "-type",
                "f",
                "-exec",
                "touch",
                "-d",
                "2020-01-01",
                "{}",
                "+",
            ])
            .status();
        assert!(files.expect("find").success());
    };
    age(&this);
    age(&other);
    let list = |fixture: &Fixture| fixture.command("more", &["--list"]).assert().success();
    list(&other).stdout(contains("of_this_checkout").not());
    list(&this).stdout(contains("of_this_checkout"));
    list(&other).stdout(contains("of_this_checkout").not()).stderr(
        contains("warning: the target directory contained `fx-").and(contains("cargo built the library again")),
    );
    list(&other).stderr(contains("cargo built the library again").not());
}

/// Returns a package whose users do not need the runtime.
fn with_an_optional_runtime(name: &str, metadata: &str) -> Fixture {
    let runtime = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("gpubench");
    let package = format!("fx-{name}");
    let fixture = Fixture::new(name).package(".", &package, Kernels::Some, "");
    fixture
        .file(
            "Cargo.toml",
            &format!(
                "[workspace]\n[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                 [dependencies]\ngpubench = {{ path = {runtime:?}, optional = true }}\n\
                 [features]\nbench = [\"dep:gpubench\"]\n{metadata}\n"
            ),
        )
        .moved("src/lib.rs", "src/benches.rs")
        .file("src/lib.rs", "#[cfg(feature = \"bench\")]\nmod benches;\n")
}

#[test]
fn a_disabled_feature_with_the_runtime_has_a_hint() {
    let fixture = with_an_optional_runtime("optional-runtime", "");
    fixture.build(&[]).code(4).stderr(contains(
        "only with a feature that is not enabled: try `--features bench`",
    ));
    fixture.build(&["--features", "bench"]).success();
}

#[test]
fn a_manifest_names_the_features_of_benchmarks() {
    let metadata = "[package.metadata.gpubench]\nfeatures = [\"bench\"]";
    with_an_optional_runtime("metadata-features", metadata)
        .build(&[])
        .success();
}

#[test]
fn a_profile_names_the_features_of_benchmarks() {
    with_an_optional_runtime("profile-features", "")
        .file(".config/gpubench.toml", "[profile.default]\nfeatures = ['bench']\n")
        .build(&[])
        .success();
}

#[test]
fn an_excluded_package_is_left_out_and_an_unknown_one_is_a_warning() {
    virtual_workspace("excluded")
        .build(&["--workspace", "--exclude", "fx-a", "--exclude", "typo"])
        .success()
        .stderr(library("fx-b", "libfx_b.so").and(library("fx-a", "libfx_a.so").not()))
        .stderr(contains(
            "warning: no package of this workspace matches `--exclude typo`",
        ));
}

#[test]
fn the_package_of_the_current_directory_is_the_default() {
    virtual_workspace("member")
        .build_in("b", &[])
        .success()
        .stderr(library("fx-b", "libfx_b.so"));
}

#[test]
fn a_feature_goes_to_the_package_that_has_it() {
    let fixture = virtual_workspace("features");
    fixture.build(&["-p", "fx-a", "-p", "fx-b"]).success();
    fixture
        .build(&["-p", "fx-a", "-p", "fx-b", "--features", "broken"])
        .code(101)
        .stderr(
            contains("the feature is on").and(contains("error: could not build package `fx-b` (exit status: 101)")),
        );
}

#[test]
fn an_unknown_feature_is_left_to_cargo_to_report() {
    virtual_workspace("no-feature")
        .build(&["-p", "fx-a", "--features", "typo"])
        .code(102)
        .stderr(contains("typo"));
}

#[test]
fn packages_that_cannot_have_benchmarks_are_refused_by_name() {
    let fixture = virtual_workspace("refused");
    fixture.build(&["-p", "fx-plain"]).code(2).stderr(contains(
        "error: package `fx-plain` does not depend on `gpubench`\n(hint: add `gpubench = { path = ",
    ));
    fixture.build(&["-p", "fx-macros"]).code(2).stderr(contains(
        "error: package `fx-macros` is a procedural macro, which cannot have benchmarks",
    ));
    fixture.build(&["-p", "fx-plan"]).code(2).stderr(contains(
        "error: no package of this workspace matches `--package fx-plan`\n(hint: did you mean `fx-plain`?)",
    ));
}

#[test]
fn a_package_without_a_library_is_refused_by_name() {
    let fixture = Fixture::new("binary")
        .package(".", "fx-binary", Kernels::None, "")
        .moved("src/lib.rs", "src/main.rs");
    fixture
        .source("src/main.rs", "fn main() {}")
        .build(&["-p", "fx-binary"])
        .code(2)
        .stderr(contains("error: package `fx-binary` has no library for benchmarks"));
}

#[test]
fn nothing_to_benchmark_is_exit_code_4() {
    virtual_workspace("nothing")
        .build_in("plain", &[])
        .code(4)
        .stderr(contains(
            "error: no package with benchmarks is selected\n(hint: package `fx-plain` does not depend on",
        ));
}

#[test]
fn a_package_may_opt_out() {
    let opted_out = "[package.metadata.gpubench]\nbenchmarks = false";
    let fixture = Fixture::new("opted-out").package(".", "fx-out", Kernels::Some, opted_out);
    fixture
        .build(&[])
        .code(4)
        .stderr(contains("`fx-out` sets `benchmarks = false` in its manifest"));
    fixture
        .build(&["-p", "fx-out"])
        .code(2)
        .stderr(contains("(hint: remove `benchmarks = false`"));
}

#[test]
fn an_unused_runtime_is_reported_with_the_package() {
    let fixture = Fixture::new("bare").package(".", "fx-bare", Kernels::None, "");
    fixture
        .build(&[])
        .code(4)
        .stderr(contains("error: package `fx-bare` has no `#[gpubench]` functions"));
}

#[test]
fn a_library_without_benchmarks_among_others_is_a_warning() {
    Fixture::new("some-bare")
        .workspace(&["full", "bare"], "")
        .package("full", "fx-full", Kernels::Some, "")
        .package("bare", "fx-bare", Kernels::None, "")
        .build(&[])
        .success()
        .stderr(library("fx-full", "libfx_full.so"))
        .stderr(contains("warning: package `fx-bare` has no `#[gpubench]` functions"));
}

#[test]
fn a_compiler_error_is_shown_unchanged_and_exits_with_101() {
    let fixture = Fixture::new("broken").package(".", "fx-broken", Kernels::Some, "");
    fixture
        .source("src/lib.rs", "fn broken() -> u8 { \"text\" }")
        .build(&[])
        .code(101)
        .stderr(contains("error[E0308]").and(contains("src/lib.rs")).and(contains(
            "error: could not build package `fx-broken` (exit status: 101)",
        )));
}

#[test]
fn a_c_runtime_that_is_linked_statically_is_named() {
    let flags = "rustflags = [\"-C\", \"target-feature=+crt-static\"]\n";
    // With a target, cargo's own message is about the library instead of the macros.
    for (name, config) in [
        ("static", format!("[build]\n{flags}")),
        (
            "static-target",
            format!(
                "[build]\ntarget = \"{}-unknown-linux-gnu\"\n{flags}",
                std::env::consts::ARCH
            ),
        ),
    ] {
        let fixture = Fixture::new(name).package(".", "fx-static", Kernels::Some, "");
        fixture.file(".cargo/config.toml", &config).build(&[]).code(101).stderr(
            contains("error: could not build package `fx-static` as a shared library")
                .and(contains("(`crt-static`)"))
                .and(contains("(hint: set `RUSTFLAGS=\"-C target-feature=-crt-static\"`")),
        );
    }
}

#[test]
fn a_broken_manifest_exits_with_102() {
    let fixture = Fixture::new("manifest").file("Cargo.toml", "[package]\nname = 7\n");
    fixture
        .build(&[])
        .code(102)
        .stderr(contains("error: `cargo metadata` failed"));
}

#[test]
fn a_locked_build_refuses_to_write_a_lockfile() {
    let fixture = Fixture::new("locked").package(".", "fx-locked", Kernels::Some, "");
    fixture.build(&["--locked"]).code(102).stderr(contains("--locked"));
    fixture.build(&[]).success();
    fixture.build(&["--locked", "--offline"]).success();
}

#[test]
fn the_bench_profile_is_inherited_and_the_gpubench_profile_adds_to_it() {
    let profiles = "[profile.bench]\ndebug-assertions = true\n[profile.gpubench]\noverflow-checks = true";
    let checks = "#[cfg(not(debug_assertions))] compile_error!(\"bench is not inherited\");\n\
                  pub const CHECKED: fn(u8) -> u8 = |x| x + 1;";
    let fixture = Fixture::new("profile").package(".", "fx-profile", Kernels::Some, profiles);
    fixture.source("src/lib.rs", checks).build(&[]).success();
}

#[test]
fn another_profile_builds_into_another_folder() {
    let fixture = Fixture::new("dev").package(".", "fx-dev", Kernels::Some, "");
    fixture
        .build(&["--cargo-profile", "dev"])
        .success()
        .stderr(contains("/debug/libfx_dev.so)"));
}

#[test]
fn two_runtimes_in_one_graph_are_refused_with_a_clear_message() {
    let old = "[package]\nname = \"gpubench\"\nversion = \"0.0.9\"\nedition = \"2024\"\nlinks = \"gpubench\"\n";
    let fixture = Fixture::new("two-runtimes")
        .package(
            ".",
            "fx-two",
            Kernels::Some,
            "old-runtime = { package = \"gpubench\", path = \"old\" }",
        )
        .file("old/Cargo.toml", old)
        .file("old/build.rs", "fn main() {}")
        .file("old/src/lib.rs", "");
    fixture
        .build(&[])
        .code(102)
        .stderr(contains(
            "error: the dependency graph has several versions of `gpubench`",
        ))
        .stderr(contains(
            "(hint: make every crate with benchmarks depend on the same version",
        ));
}

#[test]
fn a_missing_cargo_is_reported_by_name() {
    let fixture = Fixture::new("no-cargo").package(".", "fx-no-cargo", Kernels::Some, "");
    fixture
        .command(".", &["--no-run"])
        .env("CARGO", "/nonexistent/cargo")
        .assert()
        .code(102)
        .stderr(contains(
            "error: could not start `/nonexistent/cargo`\ncaused by: No such file or directory",
        ));
}

#[test]
fn usage_errors_exit_with_2() {
    let fixture = Fixture::new("usage");
    fixture
        .build(&["--target-cv", "0"])
        .code(2)
        .stderr(contains("must be above 0% and below 100%"));
    fixture.build(&["("]).code(2).stderr(contains(
        "error: the filter `(` is not a regular expression\ncaused by:",
    ));
}

#[test]
fn a_built_library_has_its_path_and_its_dependencies() {
    let build_script = "fn main() {
        let out = std::env::var(\"OUT_DIR\").unwrap();
        println!(\"cargo::rustc-link-search=native={out}\");
        println!(\"cargo::rustc-link-search=native=/usr/lib\");
    }";
    const SETTINGS: &str = "[package.metadata.gpubench]\nmax-samples = 7";
    let fixture = Fixture::new("described")
        .package(".", "fx-described", Kernels::Some, SETTINGS)
        .file("build.rs", build_script);
    let options = BuildOptions {
        manifest: ManifestOptions {
            manifest_path: Some(fixture.path("Cargo.toml")),
            ..Default::default()
        },
        compilation: CompilationOptions {
            target_dir: Some(fixture::target_directory()),
            ..Default::default()
        },
        ..Default::default()
    };
    let built = build_cdylibs(&options, &AtomicBool::new(false)).expect("it builds");
    assert_eq!(built.target_directory, fixture::target_directory());
    let [library] = &built.libraries[..] else {
        panic!("one library, not {:?}", built.libraries)
    };
    assert_eq!(
        (&*library.package, &*library.crate_name, &*library.version),
        ("fx-described", "fx_described", "0.1.0")
    );
    assert_eq!(library.root, fixture.path(""));
    assert_eq!(library.settings.entries(), [("max-samples", "7".to_owned())]);
    assert!(library.library.is_file());

    let within = |directory: &camino::Utf8PathBuf| {
        directory
            .strip_prefix(fixture::target_directory())
            .ok()
            .map(ToString::to_string)
    };
    let own: Vec<_> = library.library_path.iter().filter_map(within).collect();
    assert!(
        own[0].starts_with("gpubench/build/fx-described-") && own[0].ends_with("/out"),
        "{own:?}"
    );
    assert_eq!(own[1..], ["gpubench/deps", "gpubench"]);
    let compiler = library.library_path.last().expect("the compiler's directory");
    assert!(
        compiler.ends_with("lib/rustlib/x86_64-unknown-linux-gnu/lib"),
        "{compiler}"
    );
    assert!(!library.library_path.iter().any(|directory| directory == "/usr/lib"));
}

#[test]
fn an_interrupted_build_leaves_no_process() {
    // The build script records its process ID and never ends by itself.
    let build_script = "fn main() {
        std::os::unix::fs::symlink(std::process::id().to_string(), \"pid\").unwrap();
        loop { std::thread::park() }
    }";
    let fixture = Fixture::new("interrupted")
        .package(".", "fx-interrupted", Kernels::Some, "")
        .file("build.rs", build_script);
    for signal in [Signal::INT, Signal::TERM] {
        let _ = std::fs::remove_file(fixture.path("pid"));
        let mut command = fixture.command(".", &["--no-run"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("started");
        let script = loop {
            match std::fs::read_link(fixture.path("pid")) {
                Ok(pid) => {
                    break pid
                        .to_str()
                        .and_then(|pid| pid.parse().ok())
                        .and_then(Pid::from_raw)
                        .expect("a process");
                }
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
            assert!(
                child.try_wait().expect("a state").is_none(),
                "the build ended by itself"
            );
        };
        kill_process(Pid::from_child(&child), signal).expect("signalled");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130));
        assert!(String::from_utf8_lossy(&output.stderr).contains("error: interrupted while building"));
        let gone = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            test_kill_process(script).is_err() || is_zombie(script)
        });
        assert!(gone, "the build script still runs");
    }
}

/// Returns whether a process has ended and only waits for its parent.
fn is_zombie(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_none_or(|fields| fields.trim_start().starts_with('Z'))
}
