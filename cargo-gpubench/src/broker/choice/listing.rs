//! The names of the selected cases: printed, or saved for commands that build nothing.

use super::chosen::ChosenCases;
use crate::broker::cases::{Case, Naming, names};
use crate::broker::options::MessageFormat;
use crate::cdylibs::Built;
use gpubench_contract::{BenchmarkListed, Record, SchemaVersion};
use gpubench_diagnostic::{ExitCode, Failure, chain, print_warning};
use gpubench_report::{Output, json_line};
use gpubench_store::Listing;

/// Saves the names of all cases. A failure only prints a warning, so that a full disk does not
/// prevent measuring.
pub(in crate::broker) fn remember_names(built: &Built, chosen: &ChosenCases) {
    let cases = chosen.cases.iter().chain(&chosen.left_out);
    let names: Vec<String> = cases.map(Case::full_name).collect();
    if let Err(error) = Listing::remember(&built.target_directory, &chosen.packages, &names) {
        print_warning(&format!(
            "could not save the names of the cases for `show-config`: {}",
            chain(&error)
        ));
    }
}

/// Prints the names of the selected cases.
///
/// # Errors
/// Standard output cannot be written.
pub(in crate::broker) fn print_names(chosen: &ChosenCases, format: MessageFormat) -> Result<ExitCode, Failure> {
    let (cases, naming) = (&chosen.cases, chosen.naming());
    match format {
        MessageFormat::Human => {
            Output::stdout().print(&names(cases, naming))?;
        }
        MessageFormat::Json => {
            let lines: String = listed(cases, naming)
                .map(|case| json_line(&Record::BenchmarkListed(case)))
                .collect::<Result<_, _>>()?;
            Output::stdout().print(&lines)?;
        }
    }
    Ok(ExitCode::Success)
}

/// Returns the cases as records.
fn listed(cases: &[Case], naming: Naming) -> impl Iterator<Item = BenchmarkListed> {
    cases.iter().enumerate().map(move |(index, case)| BenchmarkListed {
        schema_version: SchemaVersion,
        package: case.package.clone(),
        benchmark: case.path.clone(),
        params: case.params_in_record(),
        case: case.name_as(naming),
        index: index as u64,
        skipped: case.disposition.reason().map(str::to_owned),
    })
}
