//! Options of a run over several machines.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use camino::Utf8PathBuf;

/// The agents that measure instead of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetOptions {
    /// `--runner`: the commands that start agents, at least one.
    pub runners: Vec<RunnerCommand>,
    /// `--agents`: how many agents each command starts.
    pub agents: AgentCount,
    /// `--agent-silence`: how long an agent may be silent before others measure its case.
    pub silence: Duration,
    /// The configuration file of this run, which the agents use too.
    pub configuration: Option<Utf8PathBuf>,
}

/// How many agents a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentCount(NonZeroUsize);

impl AgentCount {
    /// One agent.
    pub const ONE: AgentCount = AgentCount(NonZeroUsize::MIN);

    /// Each agent has threads and descriptors of the head.
    const MOST: usize = 1024;

    /// Returns the number.
    pub fn get(self) -> usize {
        self.0.get()
    }
}

impl fmt::Display for AgentCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is no number of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 1 to {}", AgentCount::MOST)]
pub struct InvalidAgentCount;

impl FromStr for AgentCount {
    type Err = InvalidAgentCount;

    fn from_str(text: &str) -> Result<AgentCount, InvalidAgentCount> {
        let number: NonZeroUsize = text.parse().map_err(|_| InvalidAgentCount)?;
        (number.get() <= AgentCount::MOST)
            .then_some(AgentCount(number))
            .ok_or(InvalidAgentCount)
    }
}

/// The command that starts an agent: `srun --gpus=1`, `ssh host cargo-gpubench agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunnerCommand {
    /// Its words, at least one.
    words: Vec<String>,
}

/// `--runner` names no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRunner {
    /// There are no words.
    #[error("the command of a runner is missing")]
    Missing,
    /// A quotation mark has no partner.
    #[error("a quotation mark is not closed")]
    Unclosed,
}

/// The last word of a command that starts the agent by itself.
const AGENT: &str = "agent";

impl RunnerCommand {
    /// Returns the words that start an agent. Without `agent` as its last word, the command starts
    /// what follows it: the executable `tool`.
    pub fn to_start(&self, tool: &str) -> Vec<String> {
        let own = self.words.iter().cloned();
        match self.words.last() {
            Some(last) if last == AGENT => own.collect(),
            _ => own.chain([tool, "gpubench", AGENT].map(str::to_owned)).collect(),
        }
    }
}

impl FromStr for RunnerCommand {
    type Err = InvalidRunner;

    fn from_str(text: &str) -> Result<RunnerCommand, InvalidRunner> {
        let words = shell_words(text)?;
        match words.first() {
            Some(program) if !program.is_empty() => Ok(RunnerCommand { words }),
            _ => Err(InvalidRunner::Missing),
        }
    }
}

/// Splits a text into words as a shell does, with quotation marks and backslashes, and without
/// variables.
fn shell_words(text: &str) -> Result<Vec<String>, InvalidRunner> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            character if character.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or(InvalidRunner::Unclosed)? {
                        '\'' => break,
                        quoted => word.push(quoted),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next().ok_or(InvalidRunner::Unclosed)? {
                        '"' => break,
                        '\\' => match characters.next().ok_or(InvalidRunner::Unclosed)? {
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        quoted => word.push(quoted),
                    }
                }
            }
            '\\' => word
                .get_or_insert_default()
                .push(characters.next().ok_or(InvalidRunner::Unclosed)?),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(text: &str) -> Vec<String> {
        let command: RunnerCommand = text.parse().expect("a command");
        command.to_start("/bin/tool")
    }

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, words) in [
            ("srun --gpus=1", vec!["srun", "--gpus=1"]),
            ("sh -c 'exec \"$@\"' sh", vec!["sh", "-c", "exec \"$@\"", "sh"]),
            ("a \"b \\\"c\\\" \\d\" e\\ f ''", vec!["a", "b \"c\" \\d", "e f", ""]),
        ] {
            let own = [words, vec!["/bin/tool", "gpubench", "agent"]].concat();
            assert_eq!(started(text), own);
        }
    }

    #[test]
    fn a_command_that_ends_with_agent_is_whole() {
        let words = ["ssh", "host", "bin/cargo-gpubench", "agent"];
        assert_eq!(started(&words.join(" ")), words);
    }

    #[test]
    fn a_command_without_words_or_with_an_open_quotation_is_refused() {
        for (text, error) in [
            ("", InvalidRunner::Missing),
            (" ", InvalidRunner::Missing),
            ("''", InvalidRunner::Missing),
            ("sh -c 'a", InvalidRunner::Unclosed),
            ("a \"b", InvalidRunner::Unclosed),
            ("a \\", InvalidRunner::Unclosed),
        ] {
            assert_eq!(text.parse::<RunnerCommand>(), Err(error), "{text}");
        }
    }
}
