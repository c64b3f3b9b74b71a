//! Reports what this machine can measure, what it cannot, and the cost of each gap.
//!
//! [`survey`] inspects the machine and changes nothing. [`Machine::checks`] is a pure function of
//! the survey. A separate process opens the GPU's driver ([`probe`](gpubench_measure::probe)), so
//! that a driver that crashes or hangs is only a finding.

mod check;
mod gpu_checks;
mod grade_check;
mod host_checks;
mod machine;
mod observation_checks;
mod sandbox_checks;
mod show;
mod survey;

#[cfg(test)]
mod tests;

pub use check::{Area, Check, CheckStatus};
pub use machine::{Machine, Sandbox, Verdict};
pub use show::{json_lines, text};
pub use survey::survey;

use crate::broker::options::{DeviceOptions, MessageFormat};
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::{Color, Output, TerminalOptions};

/// The options of `cargo gpubench doctor`.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// The device to check.
    pub device: DeviceOptions,
    /// The format of standard output.
    pub format: MessageFormat,
}

/// Surveys the machine and prints the findings.
///
/// # Errors
/// Standard output cannot be written.
pub fn examine(options: &DoctorOptions) -> Result<ExitCode, Failure> {
    let machine = survey(&options.device);
    let checks = machine.checks();
    let verdict = machine.verdict(options.device.choice);
    let printed = match options.format {
        MessageFormat::Human => text(&checks, &verdict, TerminalOptions::of_stdout(Color::Auto).width),
        MessageFormat::Json => json_lines(&checks, &verdict),
    };
    Output::stdout_as_styled().print(&printed)?;
    Ok(match verdict {
        Ok(_) => ExitCode::Success,
        Err(_) => ExitCode::SetupMissing,
    })
}
