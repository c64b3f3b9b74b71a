//! Errors in command lines that clap accepts.

use thiserror::Error;

use crate::config::SamplesCross;
use gpubench_diagnostic::{ExitCode, Expected};

/// The options of agents, which measure on other machines.
const OF_FLEETS: [&str; 3] = ["runner", "agents", "agent-silence"];

/// An invalid option or combination of options.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UsageError {
    /// A filter that is not a regular expression.
    #[error("the filter `{text}` is not a regular expression")]
    Filter {
        /// The filter.
        text: String,
        /// The error in the expression.
        #[source]
        source: Box<regex::Error>,
    },
    /// `--min-samples` above `--max-samples`.
    #[error(transparent)]
    Samples(#[from] SamplesCross),
    /// An option of another tool.
    #[error("`{option}` is an option of {tools}")]
    Foreign {
        /// The option.
        option: String,
        /// The other tools.
        tools: String,
        /// What to type instead.
        advice: String,
    },
    /// A word that has another name now.
    #[error("`{old}` is called `{new}` now")]
    Renamed {
        /// The option or the environment variable.
        old: String,
        /// The one of today.
        new: String,
    },
    /// An option without its value, as another tool accepts it.
    #[error("`{option}` needs a value; without a value it is an option of {tool}")]
    ForeignFlag {
        /// The option.
        option: String,
        /// The other tool.
        tool: &'static str,
        /// What to type instead.
        advice: String,
    },
    /// An option of a run before a subcommand.
    #[error("`--{option}` cannot come before `{subcommand}`")]
    OptionBeforeSubcommand {
        /// The option's long name.
        option: String,
        /// The subcommand.
        subcommand: String,
        /// What to do instead.
        instead: String,
    },
    /// An option of a run after a subcommand that has none of this name.
    #[error("`{subcommand}` has no `--{option}`, which is an option of a run of benchmarks")]
    NotOfSubcommand {
        /// The option's long name.
        option: String,
        /// The subcommand.
        subcommand: String,
    },
    /// An option after `--`, which would be a filter.
    #[error("`{option}` comes after `--`, where every word is a filter")]
    OptionAfterDashes {
        /// The option.
        option: String,
    },
    /// A comparison with only one run.
    #[error("the run to compare `{name}` with is missing")]
    NothingToCompareWith {
        /// The run.
        name: String,
    },
    /// An output file that is also an input.
    #[error("`{file}` is an input of this command and cannot also be its output")]
    OutputIsInput {
        /// The file.
        file: camino::Utf8PathBuf,
    },
    /// Two options that write to standard output.
    #[error("`{one}` and `{other}` both write to standard output")]
    StandardOutputTaken {
        /// The first option.
        one: String,
        /// The second option.
        other: String,
    },
    /// Two options that write to one file.
    #[error("`{one}` and `{other}` both write to `{file}`")]
    FileTaken {
        /// The first option.
        one: &'static str,
        /// The second option.
        other: &'static str,
        /// The file.
        file: camino::Utf8PathBuf,
    },
    /// `grade --definition` without a solution.
    #[error("there is nothing to grade against the definition")]
    NothingToGrade,
    /// `--reward` with several submissions.
    #[error("a reward is of one submission, and there are {submissions}")]
    SeveralRewards {
        /// How many there are.
        submissions: usize,
    },
    /// `--contest` with `--over reference`.
    #[error("`--contest` and `--over reference` both say what a submission alternates with")]
    ReferenceInContest,
    /// `problem show` or `problem starter` without a name.
    #[error("`problem {verb}` needs the name of a problem")]
    NoProblemName {
        /// `show` or `starter`.
        verb: &'static str,
    },
    /// An argument of `problem` that belongs to another of its commands.
    #[error("`problem {verb}` has no `{argument}`")]
    NotOfProblem {
        /// What was asked for.
        verb: &'static str,
        /// The argument.
        argument: String,
        /// What takes it.
        of: &'static str,
    },
    /// An environment variable with an invalid value.
    #[error("the environment variable `{name}` has the invalid value `{value}`")]
    Variable {
        /// The variable.
        name: String,
        /// The value.
        value: String,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Expected for UsageError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Filter { .. } => Some("`--exact` matches whole names instead".to_owned()),
            Self::Samples(_) | Self::Renamed { .. } => None,
            Self::OutputIsInput { .. } => Some("choose another output file".to_owned()),
            Self::Foreign { advice, .. } | Self::ForeignFlag { advice, .. } => Some(advice.clone()),
            Self::NothingToCompareWith { name } => Some(format!(
                "`cargo gpubench compare {name} CANDIDATE` compares a stored run, `cargo gpubench --baseline {name}` a new run; \
                 `compare --baselines` lists stored runs"
            )),
            Self::OptionBeforeSubcommand {
                subcommand, instead, ..
            } => Some(format!(
                "{instead}; to run the cases with `{subcommand}` in their names, write `-- {subcommand}`"
            )),
            Self::NotOfSubcommand { option, subcommand } if OF_FLEETS.contains(&option.as_str()) => Some(format!(
                "start it where the device is: `srun --gpus=1 cargo gpubench {subcommand} ..`"
            )),
            Self::NotOfSubcommand { subcommand, .. } => Some(format!(
                "leave it out; `cargo gpubench {subcommand} --help` shows the options of `{subcommand}`"
            )),
            Self::OptionAfterDashes { .. } => {
                Some("leave out the `--`: `cargo gpubench` has no options after it".to_owned())
            }
            Self::FileTaken { .. } => Some("name another file for one of them".to_owned()),
            Self::StandardOutputTaken { .. } => Some("name a file instead of `-` for one of them".to_owned()),
            Self::NothingToGrade => Some("name a solution with `--solution FILE`".to_owned()),
            Self::SeveralRewards { .. } => Some(
                "grade each with a command of its own; besides it there may be the one that `--over` names".to_owned(),
            ),
            Self::ReferenceInContest => Some(
                "leave out `--contest`: speed-ups over the reference rank submissions that were not measured together"
                    .to_owned(),
            ),
            Self::NoProblemName { .. } => Some("`cargo gpubench problem list` shows the names".to_owned()),
            Self::NotOfProblem { of, .. } => Some(format!("it is an argument of `cargo gpubench problem {of}`")),
            Self::Variable { name, .. } => Some(format!("unset `{name}`, or give its option on the command line")),
        }
    }
}
