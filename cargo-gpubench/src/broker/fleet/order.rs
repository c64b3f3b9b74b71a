//! What agents are asked for: the command line of the head.

use super::fleet_error::FleetError;
use super::message::Order;
use crate::broker::options::FleetOptions;

/// The prefix of environment variables that set options.
const PREFIX: &str = "GPUBENCH_";

/// The option whose file travels as a text.
const CONFIG_FILE: &str = "config-file";

/// Returns the command line of this process, with its environment and configuration.
pub(super) fn order_of_process(agents: &FleetOptions) -> Result<Order, FleetError> {
    let words = std::env::args_os().map(|word| {
        word.into_string()
            .map_err(|word| FleetError::Word(word.to_string_lossy().into_owned()))
    });
    let line = without_configuration(words.collect::<Result<Vec<_>, _>>()?);
    let own = format!("{PREFIX}{}", CONFIG_FILE.to_uppercase().replace('-', "_"));
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (name.starts_with(PREFIX) && name != own).then_some((name, value))
    });
    let configuration = agents.configuration.as_ref().map(|path| {
        fs_err::read_to_string(path).map_err(|source| FleetError::Configuration {
            path: path.clone(),
            source,
        })
    });
    Ok(Order {
        line,
        environment: environment.collect(),
        configuration: configuration.transpose()?,
    })
}

/// Leaves out the option that names a configuration file: agents have its text.
fn without_configuration(line: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = line.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            Some("") => {
                kept.push(word);
                kept.extend(words.by_ref());
            }
            Some(CONFIG_FILE) => drop(words.next()),
            Some(option)
                if option
                    .strip_prefix(CONFIG_FILE)
                    .is_some_and(|rest| rest.starts_with('=')) => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_configuration_file_does_not_travel() {
        let kept = |words: &[&str]| without_configuration(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(kept(&["t", "--config-file", "a.toml", "--test"]), ["t", "--test"]);
        assert_eq!(kept(&["t", "--config-file=a.toml", "x"]), ["t", "x"]);
        assert_eq!(kept(&["t", "--config-files", "x"]), ["t", "--config-files", "x"]);
        let filters = ["t", "--", "--config-file", "x"];
        assert_eq!(kept(&filters), filters);
    }
}
