//! A day of a node: a hundred programs, many thousands of kernels, and nothing that stays.

use gpubench_observe::Timestamp;
use gpubench_observe::ledger::{Ledger, Limits};
use gpubench_observe::metrics::{Exporter, Format, MOST_ROWS};
use gpubench_observe::sample::Totals;
use gpubench_observe::testing::Script;

/// Steps of three quarters of an hour.
const STEPS: u64 = 32;
const PROGRAMS: u64 = 100;
/// Processes that begin at each step, and run for two.
const PROCESSES: u64 = 40;
/// Kernels of a process, of all that there are.
const KERNELS: u64 = 40;
const NAMES: u64 = 20_000;

/// Returns what a process does until it ends.
fn process(step: u64, number: u64) -> Script {
    let serial = step * PROCESSES + number;
    let pid = u32::try_from(1000 + serial).expect("a pid");
    let mut script = Script::new(pid, step * 2_700_000, &format!("program{}", serial % PROGRAMS));
    for kernel in 0..KERNELS {
        // After a few hours the names come again, in other programs.
        let name = (serial * KERNELS + kernel) % NAMES;
        script = script
            .name(kernel + 1, &format!("_Z{}kernel{name:06}Pf", 12))
            .launch(kernel + 1);
    }
    script.allocate(0x1000, 1 << 20).fail("cuMemAlloc", 2)
}

/// Returns the pages of memory that this process has.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the kernel tells");
    let pages = statm.split_whitespace().nth(1).expect("a field");
    pages.parse().expect("a number")
}

#[test]
fn a_day_of_a_node_needs_no_more_memory_and_rows_than_half_of_it() {
    // Half a day fills the tables.
    let limits = Limits {
        names: 1 << 14,
        kernels_of_programs: 1 << 14,
        ..Limits::default()
    };
    let mut ledger = Ledger::new(limits);
    let mut exporter = Exporter::default();
    let mut running: Vec<Script> = Vec::new();
    let mut most_rows = 0;
    let mut after_half = 0;
    for step in 0..STEPS {
        let now = Timestamp((step + 1) * 2_700_000_000_000 - 1);
        for number in 0..PROCESSES {
            let mut script = process(step, number);
            script.events.drain(..).for_each(|event| ledger.apply(event));
            running.push(script);
        }
        let over = running
            .len()
            .saturating_sub(2 * usize::try_from(PROCESSES).expect("a small number"));
        for mut script in running.drain(..over) {
            script.at = Timestamp(now.0 - 1000);
            script.exit(0).events.into_iter().for_each(|event| ledger.apply(event));
        }
        // One job begins now, and works.
        let hot = format!("hot{step}");
        let job = Script::new(7, step * 2_700_000 + 1, "job").name(1, &hot);
        let job = (0..500).fold(job, |job, _| job.launch(1));
        job.events.into_iter().for_each(|event| ledger.apply(event));
        let page = exporter.page(&ledger, &Totals::default(), now);
        let rows: Vec<&str> = page
            .format(Format::Text)
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect();
        most_rows = most_rows.max(rows.len());
        let wanted = format!(r#"gpubench_cuda_kernel_launches_total{{program="job",kernel="{hot}"}} 500.0"#);
        assert!(rows.contains(&wanted.as_str()), "no row for {hot}");
        for script in &running {
            let program = ledger
                .live_with_pid(script.process.pid)
                .and_then(|process| process.program());
            let wanted = format!(r#"gpubench_cuda_live_bytes{{program="{}","#, program.expect("it runs"));
            assert!(rows.iter().any(|row| row.starts_with(&wanted)), "no row for {wanted}");
        }
        if step == STEPS / 2 {
            after_half = resident();
        }
    }
    assert!(most_rows > 2000 && most_rows <= MOST_ROWS, "{most_rows} rows");
    assert_eq!(ledger.names().turned_away(), 0);
    assert!(ledger.names().given_up() > 5000, "{}", ledger.names().given_up());
    let at_the_end = resident();
    assert!(
        at_the_end < after_half + after_half / 8,
        "{after_half} pages after half a day, {at_the_end} at the end"
    );
}
