//! The command line as help, completions and the manual show it.

use clap::CommandFactory;

use super::App;
use super::app::GPUBENCH;
use super::examples::illustrated;
use super::gpubench::rows_of;
use super::help;
use super::settings::RunArguments;
use crate::config::Group;

/// Returns the command line for clap, with an example for every option.
pub(super) fn described() -> clap::Command {
    App::command().mut_subcommand(GPUBENCH, |gpubench| {
        let help = help::subcommand(&gpubench);
        let gpubench = gpubench.mut_subcommands(|below| {
            let rows = rows_of(below.get_name());
            illustrated(below, &rows)
        });
        illustrated(gpubench, &RunArguments::rows()).subcommand(help)
    })
}

/// Returns the command `cargo gpubench` for clap.
pub fn described_verb() -> clap::Command {
    let app = described();
    app.find_subcommand(GPUBENCH).expect("the verb is there").clone()
}
