//! `cargo gpubench compare`.

use clap::ValueHint;
use regex::Regex;

use super::UsageError;
use super::output::verbosity;
use super::overwriting::refuse_to_overwrite;
use super::settings::{JudgingArguments, PlaceArguments};
use super::standard_output::refuse_two;
use crate::broker::{CompareOptions, ComparisonFormat};
use crate::config::{Fraction, Value, settings};
use gpubench_report::{Color, OutputTarget};
use gpubench_store::RunName;
use gpubench_store::compare::Matching;

impl Value for ComparisonFormat {}
impl Value for Regex {}

settings! {
    /// Every option of `cargo gpubench compare`.
    #[command(after_help = EXAMPLES)]
    pub(super) struct CompareArguments {
        /// The runs: the first is the baseline, and every other one is compared with it
        ///
        /// A name, such as `main`, is a baseline in the target directory; with a path separator, or
        /// where it ends in `.json`, it is a file that `--save-baseline` or `--export-json` wrote.
        #[arg(value_names = ["BASELINE", "CANDIDATE"], num_args = 1.., required_unless_present = "baselines")]
        names: Vec<RunName> => Line "main pr.json";

        /// List the baselines there are, and compare nothing
        ///
        /// Each with its revision, its date and its device, or with `--quiet` its name alone.
        #[arg(long, conflicts_with = "names", help_heading = "Selection options")]
        baselines: bool => Line "compare --baselines";

        /// Compare only benchmarks whose names contain this regular expression
        ///
        /// It may be found in either form of a name, with the package in front or without. May be
        /// given several times.
        #[arg(short, long, value_name = "REGEX", help_heading = "Selection options")]
        filter: Vec<Regex> => Line "main pr --filter gemm";

        /// Leave out benchmarks that changed by less than this: `2%`, `0.02`
        ///
        /// They are counted, and a regression among them still exits with 3. What is taken for
        /// noise is `--noise-threshold`.
        #[arg(short, long, value_name = "FRACTION", help_heading = "Selection options")]
        threshold: Option<Fraction> => Line "main pr --threshold 2%";

        /// Match benchmarks in whose names the groups of this regular expression capture the same
        /// texts
        ///
        /// For benchmarks that have another name in the other run: `-g '(?:naive|tiled)::(.*)'`
        /// compares `gemm::naive::n=64` with `gemm::tiled::n=64`. Names have the package in front.
        /// Benchmarks in whose names it is not found take no part.
        #[arg(short, long, value_name = "REGEX", help_heading = "Selection options", value_parser = parse_groups)]
        group: Option<Regex> => Line "main pr --group '(?:naive|tiled)::(.*)'";

        #[command(flatten)]
        judging: JudgingArguments;

        #[command(flatten)]
        places: PlaceArguments;

        /// Write the comparison to standard output in this form
        ///
        /// `json` is one object a line with `"reason": "comparison-complete"`, `markdown` a comment
        /// for a pull request on GitHub.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output options")]
        message_format: ComparisonFormat => Line "main pr --message-format markdown > comment.md";

        /// Write the comparison to this file as well, as a comment for a pull request on GitHub
        ///
        /// `-` is standard output; the table then goes to standard error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output options")]
        export_markdown: Option<OutputTarget> => Line "main pr --export-markdown comment.md";

        /// Show only what changed or is in doubt, or of baselines only the names
        #[arg(short, long, help_heading = "Output options")]
        quiet: bool => Line "--quiet";
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench compare main feature                  two baselines
  cargo gpubench compare main ./feature.json           a baseline and a file
  cargo gpubench compare v1 v2 v3 -f gemm              v2 and v3 with v1, some benchmarks
  cargo gpubench compare main pr --export-markdown comment.md

Exits with 3 where a benchmark regressed, with 100 where one fails that passed in the baseline, with 4 where the runs have none in common, with 6 as
--fail-on-inconclusive says.";

impl CompareArguments {
    /// Says what is to be compared.
    ///
    /// # Errors
    /// What is to be written would replace what is read.
    pub(super) fn into_options(self, color: Color) -> Result<CompareOptions, UsageError> {
        if let [only] = &self.names[..] {
            let name = only.to_string();
            return Err(UsageError::NothingToCompareWith { name });
        }
        refuse_to_overwrite(&self.names, self.export_markdown.as_ref().and_then(OutputTarget::file))?;
        let printed = match self.message_format {
            ComparisonFormat::Human => None,
            ComparisonFormat::Json => Some("--message-format json"),
            ComparisonFormat::Markdown => Some("--message-format markdown"),
        };
        let exported = self
            .export_markdown
            .as_ref()
            .filter(|outlet| **outlet == OutputTarget::StandardOutput);
        refuse_two(printed.into_iter().chain(exported.map(|_| "--export-markdown -")))?;
        Ok(CompareOptions {
            runs: self.names,
            filters: self.filter,
            least_change: self.threshold.map(Fraction::value),
            matching: self.group.map_or(Matching::Names, Matching::Groups),
            judging: self.judging.into_options(),
            places: self.places.into_options(),
            format: self.message_format,
            color,
            verbosity: verbosity(self.quiet, false),
            export_markdown: self.export_markdown,
        })
    }
}

/// Without a group every name would be the same.
fn parse_groups(text: &str) -> Result<Regex, String> {
    let expression = Regex::new(text).map_err(|error| error.to_string())?;
    if expression.captures_len() > 1 {
        Ok(expression)
    } else {
        Err("it has no group; put what must be equal into parentheses".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::options::Verbosity;
    use crate::cli::{Command, Environment, Unsettled, Verb, settle};
    use gpubench_report::{OnInconclusive, OnRegression};
    use gpubench_store::compare::Setups;

    fn command(arguments: &[&str]) -> Result<Command, String> {
        let all = ["cargo-gpubench", "gpubench", "compare"].iter().chain(arguments);
        let all: Vec<_> = all.map(Into::into).collect();
        let settled = settle(&all, &Environment::default(), &|_| None).map_err(|error| match error {
            Unsettled::CommandLine(error) => error.to_string(),
            Unsettled::Expected(error) => error.to_string(),
        })?;
        match settled.verb {
            Verb::Gpubench(arguments) => arguments.into_command().map_err(|error| error.to_string()),
            other => panic!("another verb: {other:?}"),
        }
    }

    fn options(arguments: &[&str]) -> CompareOptions {
        match command(arguments) {
            Ok(Command::Compare(options)) => *options,
            other => panic!("no comparison: {other:?}"),
        }
    }

    #[test]
    fn one_name_alone_is_refused_with_the_ways_to_name_another() {
        let refusal = command(&["main"]).expect_err("a refusal");
        assert_eq!(refusal, "`main` is to be compared, and with what is not said");
    }

    #[test]
    fn the_first_name_is_the_baseline() {
        let options = options(&["main", "./pr.json", "third"]);
        let name = |text: &str| text.parse::<RunName>().unwrap();
        assert_eq!(options.runs, ["main", "./pr.json", "third"].map(name));
        assert_eq!(options.judging.noise_threshold, 0.01);
        assert_eq!(options.judging.gate.on_regression, OnRegression::Fail);
        assert_eq!(options.format, ComparisonFormat::Human);
    }

    #[test]
    fn what_is_given_arrives() {
        let options = options(&[
            "a",
            "b",
            "-f",
            "gemm",
            "--filter",
            "axpy",
            "-t",
            "2%",
            "-g",
            "(n=.*)",
            "--noise-threshold",
            "5%",
            "--confidence-level",
            "0.95",
            "--allow-different-setups",
            "--no-fail-on-regression",
            "--fail-on-inconclusive",
            "any",
            "--message-format",
            "markdown",
            "--export-markdown",
            "c.md",
            "--color",
            "never",
            "-q",
            "--target-dir",
            "t",
        ]);
        assert_eq!(options.filters.len(), 2);
        assert_eq!(options.least_change, Some(0.02));
        assert!(matches!(&options.matching, Matching::Groups(expression) if expression.as_str() == "(n=.*)"));
        assert_eq!(
            (options.judging.noise_threshold, options.judging.confidence.fraction()),
            (0.05, 0.95)
        );
        assert_eq!(
            (options.judging.setups, options.judging.gate.on_regression),
            (Setups::MayDiffer, OnRegression::Show)
        );
        assert_eq!(
            (options.format, options.color),
            (ComparisonFormat::Markdown, Color::Never)
        );
        assert_eq!(options.judging.gate.on_inconclusive, OnInconclusive::FailForAny);
        assert_eq!(options.verbosity, Verbosity::Quiet);
        assert_eq!(options.export_markdown, Some(OutputTarget::File("c.md".into())));
    }

    #[test]
    fn without_names_baselines_are_only_listed() {
        assert!(command(&[]).is_err());
        assert!(options(&["--baselines"]).runs.is_empty());
        assert!(command(&["--baselines", "a", "b"]).is_err());
    }

    #[test]
    fn an_expression_without_a_group_is_refused() {
        let refusal = command(&["a", "b", "-g", "gemm"]).unwrap_err();
        assert!(refusal.contains("it has no group"), "{refusal}");
    }

    #[test]
    fn what_is_compared_is_not_overwritten() {
        let refusal = command(&["a.json", "b.json", "--export-markdown", "b.json"]).unwrap_err();
        assert_eq!(refusal, "`b.json` is read and cannot be written to");
    }
}
