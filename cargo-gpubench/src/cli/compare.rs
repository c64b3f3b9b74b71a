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
    /// The options of `cargo gpubench compare`.
    #[command(after_long_help = EXAMPLES)]
    pub(super) struct CompareArguments {
        /// The runs, the baseline first
        ///
        /// Each further run is compared with the baseline. A name such as `main` is a baseline in
        /// the target directory. A value with a path separator, or one that ends in `.json`, is a
        /// file of `--save-baseline` or `--export-json`. Runs of several devices are not compared:
        /// a table has a row for each case and a column for each run.
        #[arg(value_names = ["BASELINE", "CANDIDATE"], num_args = 1.., required_unless_present = "baselines")]
        names: Vec<RunName> => Line "main pr.json", common;

        /// List the stored baselines
        ///
        /// Each line has a name, a revision, a date and a device. With `--quiet` it is the name
        /// alone.
        #[arg(long, conflicts_with = "names", help_heading = "Select cases")]
        baselines: bool => Line "compare --baselines", common;

        /// Compare only benchmarks that match this expression
        ///
        /// The regular expression may match any part of a name, with or without the package. May be
        /// given several times.
        #[arg(short, long, value_name = "REGEX", help_heading = "Select cases")]
        filter: Vec<Regex> => Line "main pr --filter gemm", common;

        /// Hide changes below this: `2%`, `0.02`
        ///
        /// Hidden benchmarks are counted, and a regression among them still exits with 3.
        /// `--noise-threshold` sets the size of a change that is noise.
        #[arg(short, long, value_name = "FRACTION", help_heading = "Select cases")]
        threshold: Option<Fraction> => Line "main pr --threshold 2%", common;

        /// Pair benchmarks by capture groups of this regex
        ///
        /// For benchmarks with different names in the two runs: `-g '(?:naive|tiled)::(.*)'`
        /// compares `gemm::naive::n=64` with `gemm::tiled::n=64`. Two benchmarks are a pair if the
        /// groups capture the same texts. Names start with the package. Benchmarks that do not
        /// match are left out.
        #[arg(short, long, value_name = "REGEX", help_heading = "Select cases", value_parser = parse_groups)]
        group: Option<Regex> => Line "main pr --group '(?:naive|tiled)::(.*)'", common;

        #[command(flatten)]
        judging: JudgingArguments;

        #[command(flatten)]
        places: PlaceArguments;

        /// Write standard output in this format
        ///
        /// `json` is one object a line, with `"reason": "comparison-complete"`, and then
        /// `"device-matrix"` for several devices. `markdown` is a comment for a GitHub pull
        /// request.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: ComparisonFormat => Line "main pr --message-format markdown > comment.md", common;

        /// Also write a pull request comment to this file
        ///
        /// The format is GitHub's Markdown. `-` is standard output; the table then goes to standard
        /// error.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        export_markdown: Option<OutputTarget> => Line "main pr --export-markdown comment.md", common;

        /// Show only changes and inconclusive results
        ///
        /// With `--baselines`, show only names.
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--quiet", common;
    }
}

const EXAMPLES: &str = "\
Examples:
  cargo gpubench compare main feature           two baselines
  cargo gpubench compare main ./feature.json    a baseline and a file
  cargo gpubench compare v1 v2 v3 -f gemm       v2 and v3, each with v1; only some cases
  cargo gpubench compare a100.json h200.json    two devices, next to each other
  cargo gpubench compare main pr --export-markdown comment.md

Exit codes: 3 a case regressed, 4 no cases in common, 6 too few cases could be judged (--fail-on-inconclusive), \
100 a case that passed in the baseline fails";

impl CompareArguments {
    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// Only one run is given, or an output would replace a run.
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
        refuse_two(
            printed
                .into_iter()
                .chain(exported.map(|_| "--export-markdown -"))
                .map(str::to_owned),
        )?;
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

/// Without a group, all names would be equal.
fn parse_groups(text: &str) -> Result<Regex, String> {
    let expression = Regex::new(text).map_err(|error| error.to_string())?;
    if expression.captures_len() > 1 {
        Ok(expression)
    } else {
        Err("the expression has no group; put the part of the name that two cases must share in parentheses".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::options::Verbosity;
    use crate::cli::described_verb;
    use crate::cli::{Command, Environment, Unresolved, Verb, resolve};
    use gpubench_report::{OnInconclusive, OnRegression};
    use gpubench_store::compare::Setups;

    fn command(arguments: &[&str]) -> Result<Command, String> {
        let all = ["cargo-gpubench", "gpubench", "compare"].iter().chain(arguments);
        let all: Vec<_> = all.map(Into::into).collect();
        let resolved = resolve(&all, &Environment::default(), &|_| None).map_err(|error| match error {
            Unresolved::CommandLine(error) => error.to_string(),
            Unresolved::Expected(error) => error.to_string(),
        })?;
        match resolved.verb {
            Verb::Gpubench(arguments) => arguments
                .into_command(&described_verb())
                .map_err(|error| error.to_string()),
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
    fn one_run_alone_is_refused() {
        let refusal = command(&["main"]).expect_err("a refusal");
        assert_eq!(refusal, "the run to compare `main` with is missing");
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
    fn all_options_are_passed_on() {
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
        assert!(refusal.contains("has no group"), "{refusal}");
    }

    #[test]
    fn an_output_must_not_overwrite_a_compared_run() {
        let refusal = command(&["a.json", "b.json", "--export-markdown", "b.json"]).unwrap_err();
        assert_eq!(
            refusal,
            "`b.json` is an input of this command and cannot also be its output"
        );
    }
}
