//! Options that other benchmark tools are given by habit, and that change nothing here.

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Run options")]
pub(super) struct HabitArguments {
    /// Run benchmarks: libtest and criterion want to be told
    #[arg(long, hide = true)]
    bench: bool,

    /// Show what passing benchmarks print: `--no-capture` does, as it comes
    #[arg(long, hide = true)]
    show_output: bool,

    /// Draw no plots: there are none unless a report is asked for
    #[arg(long, hide = true)]
    noplot: bool,
}
