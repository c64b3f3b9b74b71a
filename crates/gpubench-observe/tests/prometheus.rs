//! A real Prometheus server scrapes the metrics, and each expression of the dashboard has data.
//!
//! Needs the program `prometheus`, Debian's package of the same name: `.ci/run prometheus`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use gpubench_observe::ledger::{Ledger, Limits};
use gpubench_observe::metrics::{Exporter, Server};
use gpubench_observe::sample::Totals;
use gpubench_observe::testing::Script;
use gpubench_observe::{
    CopyDirection, DriverCall, EventKind, Execution, FunctionTotal, LaunchKind, MemoryKind, Synchronization, Timestamp,
};

const DASHBOARD: &str = include_str!("../../../docs/grafana/gpubench-probe.json");

/// The longest wait for data.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server that ends with the test.
struct Prometheus {
    process: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn scraping(target: SocketAddr) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = port.local_addr().expect("an address");
        drop(port);
        let configuration = format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
             scrape_configs: [{{job_name: gpubench, static_configs: [{{targets: ['{target}']}}]}}]\n"
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, configuration).expect("a configuration");
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the package `prometheus` is installed");
        Self {
            process,
            address,
            _folder: folder,
        }
    }

    /// Returns the answer to a request. `None` while the server starts.
    fn get(&self, path: &str) -> Option<Value> {
        let mut client = TcpStream::connect(self.address).ok()?;
        write!(client, "GET {path} HTTP/1.0\r\nHost: prometheus\r\n\r\n").ok()?;
        let mut answer = String::new();
        client.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    /// Returns the rows of an expression.
    ///
    /// # Panics
    /// Prometheus refuses the expression.
    fn query(&self, expression: &str) -> Vec<Value> {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let Some(answer) = self.get(&format!("/api/v1/query?query={encoded}")) else {
            return Vec::new();
        };
        assert_ne!(answer["status"], "error", "{expression}: {answer}");
        answer["data"]["result"].as_array().cloned().unwrap_or_default()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns what a program did by a second: more with each.
fn busy(second: u64) -> (Ledger, Totals) {
    let hostile = "evil\"}\\ kernel";
    let mut script = Script::new(7, 1, "train").name(1, "_Z4axpyPf").name(2, hostile);
    for step in 0..=second {
        script = script
            .allocate(0x1000 + step * 0x1000, 4096)
            .allocate_as(MemoryKind::Pinned, 0x10_0000 + step * 0x1000, 64)
            .free(0x10_0000 + step * 0x1000)
            .launch(1)
            .launch_as(2, LaunchKind::Extended, Execution::Runs)
            .launch_as(1, LaunchKind::Plain, Execution::Captured)
            .copy(CopyDirection::HostToDevice, 1 << 20, Duration::from_millis(1))
            .fail("cuMemAlloc", 2)
            .push(EventKind::Synchronize {
                what: Synchronization::Context,
                duration: Duration::from_millis(5),
            });
    }
    let leaky = (0..=second).flat_map(|pid| {
        let pid = 100 + u32::try_from(pid).expect("a small number");
        Script::new(pid, 2, "leaky").allocate(0x1000, 64).exit(0).events
    });
    let mut ledger = Ledger::new(Limits::default());
    script
        .events
        .into_iter()
        .chain(leaky)
        .for_each(|event| ledger.apply(event));
    let totals = Totals {
        functions: vec![FunctionTotal {
            call: DriverCall("cuLaunchKernel".into()),
            entries: 2 * (second + 1),
            returns: 0,
            errors: 0,
            dropped: 0,
        }],
        ..Totals::default()
    };
    (ledger, totals)
}

fn expressions() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets
        .map(|target| target["expr"].as_str().expect("an expression").to_owned())
        .map(|expression| {
            let all = ["$instance", "$program", "$pod"];
            let of_all = all.iter().fold(expression, |text, name| text.replace(name, ".*"));
            of_all.replace("$__rate_interval", "20s").replace("$__range", "60s")
        })
        .collect()
}

#[test]
#[ignore = "needs `prometheus`: `.ci/run prometheus`"]
fn prometheus_scrapes_the_metrics_and_each_expression_of_the_dashboard_has_data() {
    let server = Server::listening_at(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let prometheus = Prometheus::scraping(server.address());
    let expressions = expressions();
    assert!(expressions.len() > 10);
    let mut exporter = Exporter::default();
    let started = Instant::now();
    let mut missing = expressions.clone();
    while !missing.is_empty() && started.elapsed() < PATIENCE {
        let second = started.elapsed().as_secs();
        let (ledger, totals) = busy(second);
        server.publish(exporter.page(&ledger, &totals, Timestamp(second * 1_000_000_000)));
        missing.retain(|expression| prometheus.query(expression).is_empty());
        std::thread::sleep(Duration::from_millis(500));
    }
    let targets = prometheus.get("/api/v1/targets").unwrap_or_default();
    assert!(missing.is_empty(), "no data for {missing:#?}\n{targets:#}");
    // Types and names with quotes arrive as they were meant.
    let metadata = prometheus.get("/api/v1/metadata").expect("metadata");
    assert_eq!(metadata["data"]["gpubench_cuda_kernel_launches"][0]["type"], "counter");
    assert_eq!(metadata["data"]["gpubench_cuda_live_bytes"][0]["type"], "gauge");
    assert_eq!(metadata["data"]["gpubench_cuda_copied_bytes"][0]["unit"], "bytes");
    let kernels = prometheus.query("gpubench_cuda_kernel_launches_total");
    let names: Vec<_> = kernels
        .iter()
        .filter_map(|row| row["metric"]["kernel"].as_str())
        .collect();
    assert!(
        names.contains(&"axpy(float*)") && names.contains(&"evil\"}\\ kernel"),
        "{names:?}"
    );
}

#[test]
#[ignore = "needs `promtool`: `.ci/run prometheus`"]
fn promtool_has_nothing_to_say_about_the_page() {
    let (ledger, totals) = busy(3);
    let page = Exporter::default().page(&ledger, &totals, Timestamp(0));
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the package `prometheus` is installed");
    let mut input = promtool.stdin.take().expect("a pipe");
    let text = page.format(gpubench_observe::metrics::Format::Text);
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let output = promtool.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && said.iter().all(String::is_empty), "{said:?}");
}

#[test]
fn the_dashboard_names_only_metrics_that_are_exported() {
    let (ledger, totals) = busy(1);
    let page = Exporter::default().page(&ledger, &totals, Timestamp(0));
    let page = page.format(gpubench_observe::metrics::Format::Text);
    let name = regex::Regex::new(r"gpubench_\w+").expect("an expression");
    for expression in expressions() {
        for found in name.find_iter(&expression) {
            let name = found.as_str();
            let is_row_of_it = |row: &str| row.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
            let is_family = page.contains(&format!("# TYPE {name} "));
            // The rows of a histogram have names of their own.
            assert!(is_family || page.lines().any(is_row_of_it), "{name}");
        }
    }
}
