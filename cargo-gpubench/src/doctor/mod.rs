//! What this machine can measure, what it cannot, and what each gap costs.
//!
//! [`survey`] looks at the machine and changes nothing; [`Machine::checks`] is a pure function of
//! what it found. Whatever opens the GPU's driver does so in a process of its own
//! ([`probe`](gpubench_measure::probe)): a driver that crashes or hangs is a finding.

mod check;
mod gpu_checks;
mod grade_check;
mod host_checks;
mod machine;
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

/// What `cargo gpubench doctor` is asked.
#[derive(Clone, Debug)]
pub struct DoctorOptions {
    /// Which device is to measure.
    pub device: DeviceOptions,
    /// Who reads standard output.
    pub format: MessageFormat,
}

/// Looks at the machine and prints what it finds.
///
/// # Errors
/// When standard output cannot be written.
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
