//! The check of the best grade that a machine can give.

use super::check::{Area, Check};
use super::machine::{Machine, Sandbox, given};
use gpubench_contract::Grade;
use gpubench_device::ClockBound;
use gpubench_measure::probe::Answer;
use gpubench_sandbox::FileClosing;

const REQUIRED: &str = "use `--require-grade` to reject results below a grade";

/// Returns the best grade of a launch plan and of hosted code, and what lowers it.
pub(super) fn check(machine: &Machine) -> Check {
    let grades = |sealed: Grade, hosted: Grade| format!("`{sealed}` for launch plans, `{hosted}` for hosted code");
    let (area, name) = (Area::Sandbox, "best grade");
    match (doubt(machine), sandbox_gap(&machine.sandbox)) {
        (Some(why), _) => area.gap(
            name,
            grades(Grade::Unverified, Grade::Unverified),
            format!("{why}; outputs are still checked; {REQUIRED}"),
        ),
        (None, Some(gap)) => area.gap(
            name,
            grades(Grade::Sealed, Grade::Unverified),
            format!("the sandbox has a gap: {gap}; {REQUIRED}"),
        ),
        (None, None) => area.good(name, grades(Grade::Sealed, Grade::Sandboxed)),
    }
}

/// Returns why no clock can check a worker's claims.
fn doubt(machine: &Machine) -> Option<String> {
    let on_gpu = given(&machine.driver, "the GPU's driver").ok();
    let Some(opened) = on_gpu.filter(|opened| opened.first_failure().is_none()) else {
        return Some(
            "without a GPU, cases run on the CPU device, whose kernels run inside the worker and could change the times that it reports".to_owned(),
        );
    };
    if let ClockBound::Absent(why) = &opened.facts.clock_bound {
        return Some(why.to_string());
    }
    let Answer::Given(gpus) = &machine.gpus else {
        return None;
    };
    let clients = gpus.get(machine.ordinal as usize)?.clients.unwrap_or(0);
    (clients > 0).then(|| "other processes compute on the GPU".to_owned())
}

/// Returns the gap of the sandbox.
fn sandbox_gap(sandbox: &Sandbox) -> Option<&'static str> {
    match sandbox.files {
        _ if !sandbox.seccomp => Some("system calls cannot be filtered"),
        FileClosing::Whole => None,
        FileClosing::Partial => Some("files can be truncated"),
        FileClosing::Missing => Some("files stay writable"),
    }
}
