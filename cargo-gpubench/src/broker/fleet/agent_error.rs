//! Why an agent cannot take part in a run.

use gpubench_diagnostic::{ExitCode, Expected};

/// The head asks for something that this agent cannot do.
#[derive(Debug, thiserror::Error)]
pub(super) enum AgentError {
    /// Another version of the tool.
    #[error("the agent is `cargo gpubench` {here}, and the run is of {there}")]
    Version { here: &'static str, there: String },
    /// A person has started it.
    #[error("an agent speaks with the head of a run over standard input, and that is a terminal")]
    Terminal,
    /// The head said something that does not belong here.
    #[error("the head of the run sent what the agent does not understand: {0}")]
    Protocol(String),
    /// There are several devices.
    #[error("an agent measures on one device, and `--device` chooses {0}")]
    SeveralDevices(usize),
    /// The head has other cases.
    #[error("result {index} of the run is `{wanted}`, and here {}", .here.as_ref().map_or("there is none".to_owned(), |here| format!("`{here}`")))]
    OtherCase {
        index: u64,
        wanted: String,
        here: Option<String>,
    },
}

impl Expected for AgentError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        match self {
            AgentError::Version { .. } => Some("install the same version on both machines".to_owned()),
            AgentError::Terminal => Some(
                "`--runner` starts agents; to run the cases with `agent` in their names, write `-- agent`".to_owned(),
            ),
            AgentError::SeveralDevices(_) => Some(
                "start an agent for each, and let each see one device: `--runner 'ssh host CUDA_VISIBLE_DEVICES=1 \
                 cargo-gpubench agent'`"
                    .to_owned(),
            ),
            AgentError::OtherCase { .. } => {
                Some("its device or its operating system may differ from those of the first agent".to_owned())
            }
            AgentError::Protocol(_) => None,
        }
    }
}
