//! An example for every option, for its long help.

use clap::{Arg, Command};

/// Options by their long names, positional arguments by their ids, and how a command line uses them; behind the name of a subcommand where it is that one's own.
const EXAMPLES: &[(&str, &str)] = &[
    // Selection
    ("filters", "reduction '^image::.*width=1024'"),
    ("skip", "--skip naive --skip 'n=1024$'"),
    ("exact", "--exact image::grayscale::width=1024,height=4096"),
    ("ignored", "--ignored"),
    ("include-ignored", "--include-ignored"),
    ("axis", "--axis width=1024,2048 --axis 'height=256:1024:256'"),
    ("partition", "--partition hash:1/3"),
    // Run
    ("list", "--list transpose"),
    ("no-run", "--no-run --workspace"),
    ("test", "--test"),
    ("profile-time", "--profile-time 10 --nvtx --exact add1"),
    ("fail-fast", "--fail-fast"),
    ("no-fail-fast", "-P ci --no-fail-fast"),
    ("nvtx", "--nvtx --exact add1"),
    // Measurement
    ("device", "--device cuda:1"),
    ("threads", "--device cpu --threads 4"),
    ("nvrtc", "--nvrtc /usr/local/cuda"),
    ("schedule", "--device cpu --schedule 7"),
    ("seed", "--seed 1f2e"),
    ("timeout", "--timeout 1min"),
    ("reference-timeout", "--reference-timeout 5min"),
    ("workers", "--workers 9"),
    ("target-cv", "--target-cv 0.5"),
    ("min-samples", "--min-samples 100"),
    ("max-samples", "--max-samples 50"),
    ("max-time", "--max-time 500ms"),
    ("flush-bytes", "--flush-bytes 256MiB"),
    ("flush", "--flush write"),
    // Output
    ("message-format", "--message-format json > results.jsonl"),
    ("color", "--color always | less -R"),
    ("quiet", "--quiet"),
    ("verbose", "--verbose reduction"),
    ("no-capture", "--no-capture"),
    ("export-json", "--export-json results.jsonl"),
    ("export-csv", "--export-csv results.csv"),
    ("export-markdown", "--export-markdown results.md"),
    ("export-junit", "--export-junit results.xml"),
    ("report", "--report html=page.html"),
    // Baselines
    ("save-baseline", "--save-baseline main"),
    ("baseline", "--baseline main"),
    ("baseline-lenient", "--baseline-lenient main --save-baseline pr"),
    ("against", "--against main"),
    (
        "against-archive",
        "--archive-file new.tar.gz --against-archive old.tar.gz",
    ),
    ("load-baseline", "--load-baseline pr --baseline main"),
    ("discard-baseline", "-P ci --discard-baseline"),
    ("noise-threshold", "--noise-threshold 2%"),
    ("confidence-level", "--confidence-level 95%"),
    ("allow-different-setups", "--allow-different-setups"),
    ("no-fail-on-regression", "--no-fail-on-regression"),
    ("fail-on-inconclusive", "--fail-on-inconclusive all"),
    ("history", "--history"),
    ("history-dir", "--history-dir ~/gpubench-history"),
    // Archives
    ("archive-file", "--archive-file kernels.tar.gz"),
    ("extract-to", "--archive-file kernels.tar.gz --extract-to kernels"),
    (
        "extract-overwrite",
        "--archive-file kernels.tar.gz --extract-to kernels --extract-overwrite",
    ),
    ("gpu-arch", "--gpu-arch sm_90 --gpu-arch sm_80"),
    // Configuration
    ("profile", "--profile ci"),
    ("config-file", "--config-file nightly.toml"),
    // Cargo
    ("package", "--package row-sums --package 'kernels-*'"),
    ("workspace", "--workspace"),
    ("exclude", "--workspace --exclude slow-kernels"),
    ("features", "--features fp8,bf16"),
    ("all-features", "--all-features"),
    ("no-default-features", "--no-default-features"),
    ("cargo-profile", "--cargo-profile release"),
    ("target-dir", "--target-dir /tmp/target"),
    ("build-jobs", "--build-jobs 8"),
    ("manifest-path", "--manifest-path kernels/Cargo.toml"),
    ("locked", "--locked"),
    ("offline", "--offline"),
    ("frozen", "--frozen"),
    ("config", "--config 'build.rustflags=\"-Ctarget-cpu=native\"'"),
    // Subcommands
    ("compare names", "main pr.json"),
    ("compare baselines", "--baselines"),
    ("compare filter", "main pr --filter gemm"),
    ("compare threshold", "main pr --threshold 2%"),
    ("compare group", "main pr --group '(?:naive|tiled)::(.*)'"),
    (
        "compare message-format",
        "main pr --message-format markdown > comment.md",
    ),
    ("compare export-markdown", "main pr --export-markdown comment.md"),
    ("report runs", "results.jsonl"),
    ("report compare", "results.jsonl --compare main"),
    ("report output", "results.jsonl --output page.html"),
    ("show-config case", "image::grayscale::width=1024,height=4096"),
    ("template", "--template > .config/gpubench.toml"),
    (
        "shell",
        "bash > ~/.local/share/bash-completion/completions/cargo-gpubench",
    ),
    ("output-dir", "--output-dir ~/.local/share/man/man1"),
];

/// What an example of a subcommand begins with.
const PREFIXES: &[(&str, &str)] = &[
    ("archive", "archive --archive-file kernels.tar.gz "),
    ("compare", "compare main pr "),
    ("report", "report results.jsonl "),
];

/// The command line that shows how an option is used.
fn example(command: &Command, option: &Arg) -> Option<String> {
    let name = option.get_long().unwrap_or(option.get_id().as_str());
    let own = command.get_name();
    let of_key = |wanted: &str| EXAMPLES.iter().find(|(key, _)| *key == wanted);
    if let Some((_, usage)) = of_key(&format!("{own} {name}")) {
        return Some(format!("cargo gpubench {own} {usage}"));
    }
    let (_, usage) = of_key(name)?;
    let prefix = match PREFIXES.iter().find(|(verb, _)| *verb == own) {
        _ if own == "gpubench" => String::new(),
        Some((_, prefix)) if !prefix.contains(&format!("--{name} ")) => prefix.to_string(),
        _ => format!("{own} "),
    };
    Some(format!("cargo gpubench {prefix}{usage}"))
}

/// The command, with an example in the long help of each option.
pub(super) fn illustrated(command: Command) -> Command {
    let examples: Vec<_> = command
        .get_arguments()
        .filter_map(|option| Some((option.get_id().clone(), example(&command, option)?)))
        .collect();
    examples
        .into_iter()
        .fold(command, |command, (id, example)| {
            command.mut_arg(id, |option| {
                let help = option
                    .get_long_help()
                    .or(option.get_help())
                    .cloned()
                    .unwrap_or_default();
                option.long_help(format!("{help}\n\nExample: {example}"))
            })
        })
        .mut_subcommands(illustrated)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::App;

    fn gpubench() -> Command {
        let app = App::command();
        app.find_subcommand("gpubench").expect("the verb").clone()
    }

    /// The words of a command line, as a shell would take them apart: up to a redirection, without quotes.
    fn words(line: &str) -> Vec<String> {
        let end = [" > ", " | "].iter().filter_map(|sign| line.find(sign)).min();
        let line = &line[..end.unwrap_or(line.len())];
        let quotes = regex::Regex::new(r"'([^']*)'|(\S+)").expect("an expression");
        quotes
            .captures_iter(line)
            .map(|word| word.get(1).or(word.get(2)).expect("a word").as_str().to_owned())
            .collect()
    }

    #[test]
    fn every_option_has_an_example_that_works() {
        let gpubench = gpubench();
        for command in std::iter::once(&gpubench).chain(gpubench.get_subcommands()) {
            for option in command.get_arguments() {
                let id = option.get_id();
                if ["help", "version"].contains(&id.as_str()) || option.is_hide_set() {
                    continue;
                }
                let example = example(command, option)
                    .unwrap_or_else(|| panic!("`{id}` of `{}` has no line in EXAMPLES", command.get_name()));
                let mut line = words(&example);
                line[0] = "cargo-gpubench".to_owned();
                if let Err(error) = App::command().try_get_matches_from(&line) {
                    panic!("{example}: {error}");
                }
                if let Some(long) = option.get_long() {
                    assert!(line.iter().any(|word| *word == format!("--{long}")), "{example}");
                }
            }
        }
    }

    #[test]
    fn no_example_is_of_an_option_that_is_gone() {
        let gpubench = gpubench();
        let commands = std::iter::once(&gpubench).chain(gpubench.get_subcommands());
        let mut names = Vec::new();
        for command in commands {
            for option in command.get_arguments() {
                let name = option.get_long().unwrap_or(option.get_id().as_str());
                names.extend([name.to_owned(), format!("{} {name}", command.get_name())]);
            }
        }
        for (position, (name, _)) in EXAMPLES.iter().enumerate() {
            assert!(names.iter().any(|known| known == name), "{name}");
            let others = &EXAMPLES[position + 1..];
            assert!(others.iter().all(|(other, _)| other != name), "{name} is there twice");
        }
    }
}
