//! The command line, with one file for each group of options.
//!
//! clap parses [`App`]. [`resolve`] adds the environment and the configuration.
//! [`GpubenchArguments::into_command`] checks the rules that clap cannot express, and returns the
//! options of the command, for example [`RunOptions`](crate::broker::options::RunOptions).

mod agent;
mod app;
mod archive;
mod baseline;
mod byte_size;
mod cargo;
mod compare;
mod completions;
mod description;
mod doctor;
mod environment;
mod error;
mod examples;
mod foreign;
mod gpubench;
mod grade;
mod help;
mod history;
mod init;
mod judge;
mod judging;
mod layered_value;
mod lint;
mod man;
mod measurement;
mod new;
mod observer;
mod option_kind;
mod output;
mod overwriting;
mod parse;
mod parsers;
mod play;
mod precedence;
mod probe;
mod problem;
mod repeated;
mod report;
mod seed;
mod selection;
mod settings;
mod show_config;
mod standard_output;

pub use agent::{is_agent, options_of_order};
pub use app::{App, Verb};
pub use description::described_verb;
pub use environment::Environment;
pub use error::UsageError;
pub use gpubench::{Command, GpubenchArguments};
pub use man::Manual;
pub use parse::{arguments_of_probe, parse};
pub use play::play;
pub use precedence::{ConfigurationOf, FindWorkspace, Resolved, Unresolved, resolve};
