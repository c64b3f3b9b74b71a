//! The HTML report in a real browser: on a phone and a desktop, light and dark, with the keyboard
//! alone, and without a network.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Browser, Fixture, Run, Scheme, Screen, repository, tool};
use serde_json::Value;

const AUDIT: &str = include_str!("audit.js");

/// All elements that can be focused and pressed and are visible now.
const PRESSABLE: &str =
    "[...document.querySelectorAll('a[href], summary, [tabindex]')].filter(element => element.checkVisibility())";

const SCREENS: [Screen; 4] = [
    screen(360, 800, Scheme::Light),
    screen(360, 800, Scheme::Dark),
    screen(1280, 900, Scheme::Light),
    screen(1280, 900, Scheme::Dark),
];

const fn screen(width: u32, height: u32, scheme: Scheme) -> Screen {
    Screen { width, height, scheme }
}

/// Returns the folder for screenshots, which people look at.
fn pictures() -> Utf8PathBuf {
    let folder = Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The sample run on a GPU, as the machine contract's golden copy has it, compared with itself.
fn page_of_a_gpu() -> Utf8PathBuf {
    let run = run_on_a_gpu();
    report(&run, "gpu.html", &["--compare", run.as_str()])
}

/// The sample run next to copies of it, as if eight other GPUs had measured them.
fn page_of_several_devices() -> Utf8PathBuf {
    let run = run_on_a_gpu();
    let lines = std::fs::read_to_string(&run).expect("the run");
    let others = (1..9).map(|other| {
        let name = format!("NVIDIA GeForce RTX {other}090 Laptop GPU");
        let file = run.with_file_name(format!("gpu-{other}.jsonl"));
        std::fs::write(&file, lines.replace("NVIDIA H200", &name)).expect("a file");
        file
    });
    let others: Vec<Utf8PathBuf> = others.collect();
    let others: Vec<&str> = others.iter().flat_map(|other| ["--compare", other.as_str()]).collect();
    report(&run, "devices.html", &others)
}

fn run_on_a_gpu() -> Utf8PathBuf {
    let golden = repository().join("crates/gpubench-report/src/tests/snapshots");
    let golden = golden.join("gpubench_report__tests__golden__json_lines_on_a_gpu.snap");
    let golden = std::fs::read_to_string(golden).expect("the golden copy");
    let lines: String = golden
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| format!("{line}\n"))
        .collect();
    let run = pictures().join("gpu.jsonl");
    std::fs::write(&run, lines).expect("a file");
    run
}

/// The page that `cargo gpubench report` writes about a run.
fn report(run: &Utf8Path, name: &str, options: &[&str]) -> Utf8PathBuf {
    let page = run.with_file_name(name);
    let mut command = Command::new(tool());
    command.args(["gpubench", "report", run.as_str(), "-o", page.as_str()]);
    let made = command.args(options).output().expect("the tool starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    page
}

/// Returns the `--report` page of a run on the CPU device with failed cases.
fn page_of_failures() -> Utf8PathBuf {
    let page = pictures().join("failures.html");
    let report = format!("html={page}");
    let cases = ["answers::(honest|one_element)", "memory::reads_null"];
    let run = Run::on(&Fixture::new("hostile"))
        .briefly()
        .args(cases)
        .args(["--report", &report]);
    let finished = run.finish().expect_code(100);
    assert!(
        finished.stderr.contains(&format!("Report file://{page}")),
        "{}",
        finished.stderr
    );
    page
}

fn assert_nothing_is_wrong(browser: &mut Browser, of: &str) {
    let wrong = browser.evaluate(AUDIT);
    assert_eq!(wrong, Value::Array(Vec::new()), "{of}: {wrong:#}");
    let complaints: Vec<&Value> = ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"]
        .into_iter()
        .flat_map(|kind| browser.events(kind))
        .collect();
    assert!(complaints.is_empty(), "{of}: {complaints:#?}");
    let requests: Vec<&str> = browser
        .events("Network.requestWillBeSent")
        .into_iter()
        .filter_map(|event| event["request"]["url"].as_str())
        .collect();
    assert_eq!(requests.len(), 1, "{of}: only the page itself is loaded: {requests:?}");
}

/// Checks a page on every screen, folded and unfolded, and takes a screenshot of each.
fn look_at(page: &Utf8Path, name: &str) {
    let mut browser = Browser::start();
    for screen in SCREENS {
        let of = format!("{name} at {} in {}", screen.width, screen.scheme.word());
        browser.open(page, screen);
        assert_nothing_is_wrong(&mut browser, &of);
        browser.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)");
        assert_nothing_is_wrong(&mut browser, &format!("{of}, unfolded"));
        let file = pictures().join(format!("{name}-{}-{}.png", screen.width, screen.scheme.word()));
        std::fs::write(file, bytes_of(&browser.picture())).expect("a file");
    }
}

/// Decodes Base64 (RFC 4648).
fn bytes_of(base64: &str) -> Vec<u8> {
    let digits = base64.bytes().filter_map(|letter| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    });
    let digits: Vec<u8> = digits.collect();
    let groups = digits.chunks(4).flat_map(|group| {
        let number = (0..4).fold(0u32, |number, position| {
            number << 6 | u32::from(group.get(position).copied().unwrap_or(0))
        });
        number.to_be_bytes()[1..group.len()].to_vec()
    });
    groups.collect()
}

#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn the_report_of_a_gpu_run_is_readable_on_every_screen() {
    look_at(&page_of_a_gpu(), "gpu");
}

#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn the_report_of_several_devices_is_readable_on_every_screen() {
    look_at(&page_of_several_devices(), "devices");
}

#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn the_report_of_failures_is_readable_on_every_screen() {
    look_at(&page_of_failures(), "failures");
}

/// The picture in the README. `GPUBENCH_UPDATE_BOOK=1` replaces it.
#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn the_picture_of_the_readme_can_be_taken() {
    let mut browser = Browser::start();
    browser.open(
        &report(&run_on_a_gpu(), "alone.html", &[]),
        screen(1000, 860, Scheme::Light),
    );
    let picture = bytes_of(&browser.picture_of_the_screen());
    let folder = match std::env::var_os("GPUBENCH_UPDATE_BOOK") {
        Some(_) => repository().join("docs/images"),
        None => pictures(),
    };
    std::fs::write(folder.join("report.png"), picture).expect("a file");
}

#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn everything_is_reachable_and_visible_with_the_keyboard() {
    let mut browser = Browser::start();
    browser.open(&page_of_a_gpu(), SCREENS[2]);
    browser.evaluate(&format!(
        "{PRESSABLE}.forEach((element, position) => element.dataset.position = position)"
    ));
    let count = browser
        .evaluate(&format!("{PRESSABLE}.length"))
        .as_u64()
        .expect("a number");
    assert!(count > 20, "{count}");
    let mut reached = HashSet::new();
    for _ in 0..count {
        browser.press("Tab");
        let focused = browser.evaluate(
            "(() => { const style = getComputedStyle(document.activeElement); \
             return [document.activeElement.dataset.position ?? document.activeElement.outerHTML.slice(0, 80), style.outlineStyle, parseFloat(style.outlineWidth)]; })()",
        );
        assert!(
            focused[1] != "none" && focused[2].as_f64() >= Some(1.0),
            "the focus cannot be seen: {focused}"
        );
        reached.insert(focused[0].to_string());
    }
    assert_eq!(reached.len() as u64, count, "some are not reached: {reached:?}");
}

#[test]
#[ignore = "needs a browser: `.ci/run browser` installs one"]
fn a_link_to_a_case_unfolds_it_and_enter_folds_it_again() {
    let mut browser = Browser::start();
    browser.open(&page_of_a_gpu(), SCREENS[0]);
    let is_open = "document.querySelector('#case-2').closest('details').open";
    assert_eq!(browser.evaluate(is_open), false);
    browser.evaluate("document.querySelector('#cases a[href=\"#case-2\"]').focus()");
    browser.press("Enter");
    assert_eq!(browser.evaluate(is_open), true);
    browser.evaluate("document.querySelector('#case-2').closest('details').querySelector('summary').focus()");
    browser.press("Enter");
    assert_eq!(browser.evaluate(is_open), false);
}
