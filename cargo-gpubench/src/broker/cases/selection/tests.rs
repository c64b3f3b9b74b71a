use gpubench::catalog::{Axis, AxisValue, Selection};
use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::broker::cases::SkipOrigin;
use gpubench_diagnostic::Expected;

const CPU: CaseDevice = CaseDevice {
    kind: DeviceKind::Cpu,
    capability: 0,
};
const AMPERE: CaseDevice = CaseDevice {
    kind: DeviceKind::Cuda,
    capability: 86,
};

fn axis(name: &str, values: &[i64]) -> Axis {
    Axis::of(name, values.iter().copied().map(AxisValue::Int).collect())
}

fn benchmark(path: &str, axes: Vec<Axis>) -> Benchmark {
    Benchmark {
        library: "lib".to_owned(),
        path: path.to_owned(),
        problem: path.to_owned(),
        file: "src/lib.rs".to_owned(),
        line: 1,
        selection: Selection::Default,
        requirements: Vec::new(),
        axes,
        own_axes: Vec::new(),
        counters: Vec::new(),
        device_axes: Vec::new(),
        settings: Vec::new(),
        own_library: None,
    }
}

fn ignored(benchmark: Benchmark) -> Benchmark {
    Benchmark {
        selection: Selection::Ignored,
        ..benchmark
    }
}

fn catalog(benchmarks: Vec<Benchmark>) -> Catalog {
    Catalog {
        benchmarks,
        problems: Vec::new(),
        sources: Vec::new(),
    }
}

fn suite() -> Catalog {
    catalog(vec![
        benchmark("image::grayscale", vec![axis("width", &[8, 16]), axis("height", &[4])]),
        ignored(benchmark("image::slow", vec![])),
        benchmark("scan", vec![axis("len", &[100])]),
    ])
}

fn search(filters: &[&str], skip: &[&str]) -> NameFilter {
    let search = |text: &&str| NamePattern::Search(Regex::new(text).expect("a regex"));
    let expressions = |texts: &[&str]| texts.iter().map(search).collect();
    NameFilter {
        filters: expressions(filters),
        skip: expressions(skip),
        ..NameFilter::default()
    }
}

fn exact(filters: &[&str]) -> NameFilter {
    NameFilter {
        filters: filters
            .iter()
            .map(|name| NamePattern::Exact(name.to_string()))
            .collect(),
        ..NameFilter::default()
    }
}

fn by_name(names: NameFilter) -> CaseSelection {
    CaseSelection {
        names,
        ..CaseSelection::default()
    }
}

fn with_axes(names: NameFilter, axes: &[&str]) -> CaseSelection {
    let axes = axes.iter().map(|text| text.parse().expect("an override")).collect();
    CaseSelection { axes, ..by_name(names) }
}

fn select(selection: &CaseSelection) -> Result<Vec<Case>, CaseError> {
    select_cases(
        &[LibraryCatalog {
            package: "suite",
            library: "lib",
            catalog: &suite(),
        }],
        CPU,
        selection,
    )
}

fn names(selection: &CaseSelection) -> Vec<String> {
    select(selection).expect("cases").iter().map(Case::name).collect()
}

fn refusal(selection: &CaseSelection) -> (String, Option<String>, u8) {
    let error = select(selection).expect_err("a refusal");
    (error.to_string(), error.hint(), error.exit_code().number())
}

#[test]
fn all_unignored_cases_are_selected_in_order() {
    assert_eq!(
        names(&CaseSelection::default()),
        [
            "image::grayscale::width=8,height=4",
            "image::grayscale::width=16,height=4",
            "scan::len=100"
        ]
    );
}

#[test]
fn a_filter_is_searched_in_both_forms_of_the_name() {
    assert_eq!(names(&by_name(search(&["^scan"], &[]))), ["scan::len=100"]);
    assert_eq!(names(&by_name(search(&["^suite::scan"], &[]))), ["scan::len=100"]);
    assert_eq!(
        names(&by_name(search(&["width=16", "len"], &[]))),
        ["image::grayscale::width=16,height=4", "scan::len=100"]
    );
}

#[test]
fn skip_wins_over_filters() {
    assert_eq!(
        names(&by_name(search(&["image"], &["width=8"]))),
        ["image::grayscale::width=16,height=4"]
    );
    assert_eq!(names(&by_name(search(&[], &["image"]))), ["scan::len=100"]);
}

#[test]
fn exact_matches_only_whole_names_in_either_form() {
    assert_eq!(names(&by_name(exact(&["scan::len=100"]))), ["scan::len=100"]);
    assert_eq!(names(&by_name(exact(&["suite::scan::len=100"]))), ["scan::len=100"]);
    let (_, hint, code) = refusal(&by_name(exact(&["scan"])));
    assert_eq!((hint.as_deref(), code), (Some("did you mean `scan::len=100`?"), 4));
}

#[test]
fn ignored_benchmarks_run_on_request() {
    let with = |ignored| CaseSelection {
        ignored,
        ..by_name(search(&["image"], &[]))
    };
    assert_eq!(names(&with(IgnoredSelection::Only)), ["image::slow"]);
    assert_eq!(names(&with(IgnoredSelection::Include)).len(), 3);
}

#[test]
fn an_ignored_name_has_a_hint() {
    let (message, hint, code) = refusal(&by_name(exact(&["image::slow"])));
    assert_eq!(message, "no case is selected");
    assert_eq!(
        hint.as_deref(),
        Some("1 case matches but is ignored; add `--include-ignored`")
    );
    assert_eq!(code, 4);
}

#[test]
fn a_filter_similar_to_a_name_suggests_the_name() {
    let hint = |names: NameFilter| refusal(&by_name(names)).1;
    assert_eq!(
        hint(search(&["graysacle"], &[])).as_deref(),
        Some("did you mean `grayscale`?")
    );
    assert_eq!(
        hint(exact(&["grayscale"])).as_deref(),
        Some("did you mean `image::grayscale::width=8,height=4`?")
    );
}

#[test]
fn a_skipped_name_has_a_hint() {
    let hint = |names: NameFilter| refusal(&by_name(names)).1;
    let skipped = NameFilter {
        skip: exact(&["scan::len=100"]).filters,
        ..exact(&["scan::len=100"])
    };
    assert_eq!(
        hint(skipped).as_deref(),
        Some("1 case matches, but `--skip` excludes it")
    );
    assert_eq!(
        hint(search(&["grayscale"], &["image"])).as_deref(),
        Some("2 cases match, but `--skip` excludes all of them")
    );
}

#[test]
fn an_invalid_value_of_an_axis_has_a_hint_about_what_to_write() {
    let tiles = ["16,16", "32,8"].map(|text| AxisValue::Text(text.to_owned())).to_vec();
    let bools = [false, true].map(AxisValue::Bool).to_vec();
    let axis = Axis::of;
    let catalog = catalog(vec![benchmark(
        "gemm",
        vec![
            axis("rows", vec![AxisValue::Int(64)]),
            axis("tile", tiles),
            axis("tanh", bools),
        ],
    )]);
    let package = LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &catalog,
    };
    let refused = |text: &str| {
        let error = select_cases(&[package], CPU, &with_axes(NameFilter::default(), &[text])).expect_err("a refusal");
        let hint = error.hint().expect("a hint");
        format!(
            "$ cargo gpubench --axis '{text}'\n{}\n(hint: {hint})\n",
            gpubench_diagnostic::chain(&error)
        )
    };
    let texts = [
        "rows=1..4",
        "rows=[4:8:1]",
        "rows=8:4",
        "rows=wide",
        "rows=1e3",
        "rows=64k",
        "tile=16,16",
        "tanh=1",
    ];
    insta::assert_snapshot!(texts.map(refused).join("\n"));
}

#[test]
fn a_bool_is_true_or_false_in_names_and_filters() {
    let axis = Axis::of("tanh", [false, true].map(AxisValue::Bool).to_vec());
    let catalog = catalog(vec![benchmark("gelu", vec![axis])]);
    let package = LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &catalog,
    };
    let cases = select_cases(&[package], CPU, &by_name(search(&["tanh=true"], &[]))).expect("a case");
    assert_eq!(cases.iter().map(Case::name).collect::<Vec<_>>(), ["gelu::tanh=true"]);
    assert_eq!(cases[0].params_in_record().to_string(), "tanh=true");
}

fn warnings(selection: &CaseSelection) -> Vec<String> {
    let catalog = suite();
    let package = LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &catalog,
    };
    selection_warnings(&[package], CPU, selection)
}

#[test]
fn a_filter_that_matches_nothing_next_to_one_that_matches_is_warned_about() {
    let idle = |names: NameFilter| warnings(&by_name(names));
    insta::assert_snapshot!(
        [
            idle(search(&["scan", "grayscal$"], &[])),
            idle(search(&["scan", "nothing like it"], &[])),
            idle(search(&["scan"], &["naive"])),
            idle(search(&[], &["scam"])),
            idle(exact(&["scan", "scan::len=100"])),
        ]
        .concat()
        .join("\n"),
        @r"
    the filter `grayscal$` matches no case (hint: did you mean `grayscale`?)
    the filter `nothing like it` matches no case (hint: `cargo gpubench --list` shows their names)
    no case matches `--skip naive`, so it skips nothing (hint: `cargo gpubench --list` shows their names)
    no case matches `--skip scam`, so it skips nothing (hint: did you mean `scan`?)
    the filter `scan` matches no case (hint: did you mean `scan::len=100`?)
    "
    );
    assert!(idle(search(&["nothing", "at all"], &[])).is_empty(), "that is an error");
    assert!(idle(search(&["scan"], &["scan"])).is_empty());
    assert!(warnings(&with_axes(search(&["len=7"], &["len=8"]), &["len=7,8"])).is_empty());
}

#[test]
fn an_expression_of_a_profile_may_skip_cases_of_another_package() {
    let of_profile = |names: NameFilter| {
        let skip_origin = SkipOrigin::Lower;
        warnings(&by_name(NameFilter { skip_origin, ..names }))
    };
    assert!(of_profile(search(&[], &["naive"])).is_empty());
    let whole = NameFilter {
        skip: exact(&["scan", "scan::len=100"]).filters,
        ..NameFilter::default()
    };
    assert_eq!(of_profile(whole).len(), 1);
}

#[test]
fn a_filter_without_matches_has_a_hint() {
    let (_, hint, code) = refusal(&by_name(search(&["nothing like it"], &[])));
    assert_eq!(
        hint.as_deref(),
        Some("none of 4 cases matches the filters; `cargo gpubench --list` shows their names")
    );
    assert_eq!(code, 4);
}

#[test]
fn the_hint_of_a_grading_names_what_shows_its_problem() {
    let selection = CaseSelection {
        shown_by: ShownBy::Problem("row_sums".to_owned()),
        ..by_name(search(&["nothing like it"], &[]))
    };
    let (_, hint, _) = refusal(&selection);
    let shows = "`cargo gpubench problem show row_sums` shows the values of their axes";
    assert_eq!(hint, Some(format!("none of 4 cases matches the filters; {shows}")));
}

#[test]
fn a_crate_without_benchmarks_is_named() {
    let empty = catalog(vec![]);
    let error = select_cases(
        &[LibraryCatalog {
            package: "bare",
            library: "lib",
            catalog: &empty,
        }],
        CPU,
        &CaseSelection::default(),
    )
    .expect_err("nothing");
    assert_eq!(
        error.hint().as_deref(),
        Some("package `bare` has no `#[gpubench]` functions")
    );
    assert_eq!(error.exit_code().number(), 4);
}

#[test]
fn axis_values_of_the_command_line_replace_the_declared_ones() {
    assert_eq!(
        names(&with_axes(search(&["image"], &[]), &["width=32,64", "height=1:2"])),
        [
            "image::grayscale::width=32,height=1",
            "image::grayscale::width=32,height=2",
            "image::grayscale::width=64,height=1",
            "image::grayscale::width=64,height=2"
        ]
    );
}

#[test]
fn an_axis_override_skips_benchmarks_without_the_axis() {
    assert_eq!(
        names(&with_axes(NameFilter::default(), &["width=1", "height=1"])).len(),
        2
    );
}

#[test]
fn an_axis_that_no_selected_benchmark_has_is_an_error() {
    let (message, hint, code) = refusal(&with_axes(search(&["scan"], &[]), &["width=1"]));
    assert_eq!(message, "no selected benchmark has an axis `width`");
    assert_eq!(hint.as_deref(), Some("their axes are: len"));
    assert_eq!(code, 2);
    let (_, hint, _) = refusal(&with_axes(NameFilter::default(), &["widht=1"]));
    assert_eq!(hint.as_deref(), Some("did you mean `width`?"));
}

#[test]
fn an_unknown_axis_is_reported_before_a_filter_without_matches() {
    let (message, ..) = refusal(&with_axes(search(&["widht=1"], &[]), &["widht=1"]));
    assert_eq!(message, "no selected benchmark has an axis `widht`");
}

#[test]
fn a_value_of_the_wrong_type_is_an_error_of_its_benchmark() {
    let error = select(&with_axes(search(&["scan"], &[]), &["len=long"])).expect_err("a refusal");
    assert_eq!(error.to_string(), "invalid value for axis `len` of `scan`");
    assert_eq!(
        std::error::Error::source(&error).map(ToString::to_string).as_deref(),
        Some("`long` is not an integer")
    );
    assert_eq!(error.exit_code().number(), 2);
}

#[test]
fn a_wrong_value_for_an_unselected_benchmark_is_no_error() {
    let text = Axis::of("len", vec![AxisValue::Text("short".to_owned())]);
    let both = catalog(vec![
        benchmark("a", vec![text]),
        benchmark("b", vec![axis("len", &[1])]),
    ]);
    let packages = [LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &both,
    }];
    let cases = select_cases(&packages, CPU, &with_axes(search(&["^a"], &[]), &["len=long"])).expect("cases");
    assert_eq!(cases.iter().map(Case::name).collect::<Vec<_>>(), ["a::len=long"]);
}

#[test]
fn a_missing_device_feature_skips_a_case_with_a_reason() {
    let needing = |requirement| {
        catalog(vec![Benchmark {
            requirements: vec![requirement],
            ..benchmark("needy", vec![])
        }])
    };
    let reason = |requirement, device| {
        let catalog = needing(requirement);
        let packages = [LibraryCatalog {
            package: "suite",
            library: "lib",
            catalog: &catalog,
        }];
        select_cases(&packages, device, &CaseSelection::default()).expect("a case")[0]
            .disposition
            .clone()
    };
    let skip = |text: &str| Disposition::Skip(text.to_owned());
    assert_eq!(
        reason(Requirement::Device(DeviceKind::Cuda), CPU),
        skip("needs a CUDA device")
    );
    assert_eq!(
        reason(Requirement::Device(DeviceKind::Cpu), AMPERE),
        skip("needs the CPU device")
    );
    assert_eq!(
        reason(Requirement::Capability(90), CPU),
        skip("needs a CUDA device of compute capability 9.0")
    );
    assert_eq!(
        reason(Requirement::Capability(90), AMPERE),
        skip("needs compute capability 9.0; the device has 8.6")
    );
    assert_eq!(reason(Requirement::Capability(80), AMPERE), Disposition::Run);
    assert_eq!(reason(Requirement::Device(DeviceKind::Cpu), CPU), Disposition::Run);
}

#[test]
fn two_benchmarks_with_one_name_are_refused() {
    let twins = catalog(vec![benchmark("twin", vec![]), benchmark("twin", vec![])]);
    let packages = [LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &twins,
    }];
    let error = select_cases(&packages, CPU, &CaseSelection::default()).expect_err("a refusal");
    assert_eq!(
        error,
        CaseError::SameName {
            name: "suite::twin".to_owned()
        }
    );
}

#[test]
fn benchmarks_of_dependencies_do_not_count_as_the_packages() {
    let of_dependency = Benchmark {
        library: "other".to_owned(),
        ..benchmark("twin", vec![])
    };
    let both = catalog(vec![of_dependency, benchmark("twin", vec![])]);
    let packages = [LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &both,
    }];
    let cases = select_cases(&packages, CPU, &CaseSelection::default()).expect("cases");
    assert_eq!(cases.iter().map(|case| case.benchmark).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_benchmark_with_too_many_cases_is_refused_by_name() {
    let too_many = CaseError::TooMany {
        benchmark: "image::grayscale".to_owned(),
        most: MOST_CASES,
    };
    let values = ["width=1:10000", "height=1:10000"];
    for names in [search(&["image"], &[]), exact(&["image::grayscale::width=5,height=5"])] {
        let error = select(&with_axes(names, &values)).expect_err("a refusal");
        assert_eq!(error, too_many);
    }
}

#[test]
fn a_benchmark_with_too_many_cases_does_not_keep_others_from_running() {
    let values = |count| (0..count).map(AxisValue::Int).collect();
    let huge = benchmark("huge", vec![Axis::of("n", values(400)), Axis::of("m", values(400))]);
    let all = catalog(vec![huge, benchmark("other", vec![Axis::of("n", values(4))])]);
    let packages = [LibraryCatalog {
        package: "suite",
        library: "lib",
        catalog: &all,
    }];
    let cases = select_cases(&packages, CPU, &by_name(exact(&["other::n=3"]))).expect("a case");
    assert_eq!(cases.len(), 1);
    let error = select_cases(&packages, CPU, &CaseSelection::default()).expect_err("a refusal");
    assert!(error.to_string().contains("`huge`"), "{error}");
}

#[test]
fn across_packages_the_listed_form_comes_first() {
    let a = catalog(vec![benchmark("b::c", vec![])]);
    let b = catalog(vec![benchmark("c", vec![])]);
    let packages = [
        LibraryCatalog {
            package: "a",
            library: "lib",
            catalog: &a,
        },
        LibraryCatalog {
            package: "b",
            library: "lib",
            catalog: &b,
        },
    ];
    let cases = select_cases(&packages, CPU, &by_name(exact(&["b::c"]))).expect("cases");
    assert_eq!(cases.iter().map(Case::full_name).collect::<Vec<_>>(), ["b::c"]);
}

/// Names that are easily confused.
fn awkward_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a::b", "b::a", "n", "a::n=1"]).prop_map(str::to_owned)
}

fn any_axis() -> impl Strategy<Value = Axis> {
    let values = prop_oneof![
        prop::collection::vec(any::<i8>().prop_map(|value| AxisValue::Int(value.into())), 1..4),
        prop::collection::vec(any::<f64>().prop_map(AxisValue::Float), 1..4),
        prop::collection::vec("[ab,=:\"\\\\ \n1]{0,4}".prop_map(AxisValue::Text), 1..4),
    ];
    (prop::sample::select(vec!["n", "m", "k"]), values).prop_map(|(name, values)| Axis::of(name, values))
}

fn any_benchmark() -> impl Strategy<Value = Benchmark> {
    let axes = || {
        prop::collection::vec(any_axis(), 0..3).prop_map(|mut axes| {
            axes.sort_by(|a, b| a.names.cmp(&b.names));
            axes.dedup_by(|a, b| a.names == b.names);
            axes
        })
    };
    (awkward_name(), axes(), axes()).prop_map(|(path, axes, of_cpu)| Benchmark {
        own_axes: Vec::new(),
        counters: Vec::new(),
        device_axes: vec![(DeviceKind::Cpu, of_cpu)],
        ..benchmark(&path, axes)
    })
}

proptest! {
    #[test]
    fn every_listed_name_selects_exactly_its_case(
        a in prop::collection::vec(any_benchmark(), 1..4),
        b in prop::option::of(prop::collection::vec(any_benchmark(), 0..3)),
    ) {
        let (a, b) = (catalog(a), b.map(catalog));
        let packages: Vec<_> = [("a", Some(&a)), ("b", b.as_ref())]
            .into_iter()
            .filter_map(|(package, catalog)| catalog.map(|catalog| LibraryCatalog { package, library: "lib", catalog }))
            .collect();
        let naming = Naming::for_packages(packages.len());
        match select_cases(&packages, CPU, &CaseSelection::default()) {
            Err(error) => prop_assert!(matches!(error, CaseError::SameName { .. }), "{error}"),
            Ok(cases) => for case in &cases {
                let listed = case.name_as(naming);
                prop_assert!(!listed.contains('\n'));
                let again = select_cases(&packages, CPU, &by_name(exact(&[&listed]))).expect("the listed case");
                prop_assert_eq!(&again[..], std::slice::from_ref(case));
            },
        }
    }
}

#[test]
fn a_filter_without_matches_may_suggest_a_subcommand() {
    let hint = |filter: &str| {
        let selection = CaseSelection {
            meant: Some("the subcommand `compare`".to_owned()),
            ..by_name(search(&[filter], &[]))
        };
        select(&selection).err().and_then(|error| error.hint())
    };
    assert_eq!(
        hint("comapre").as_deref(),
        Some("did you mean the subcommand `compare`?")
    );
    assert_eq!(hint("image"), None);
}
