//! What is asked of the process that NVRTC runs in, and what it answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cuda::KernelImage;

/// The longest request that is read: a source and everything that is asked of it.
pub(super) const LONGEST_REQUEST: u64 = 64 << 20;

/// Something to do for an NVRTC.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    /// Libraries, or names that the loader finds; the first that works is used.
    pub(super) libraries: Vec<PathBuf>,
    pub(super) order: Order,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Say what you are.
    Describe,
    /// Compile a file below the current directory.
    Compile {
        file: String,
        options: Vec<String>,
        names: Vec<String>,
    },
}

/// What a library is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Description {
    /// Where it lies.
    pub(super) path: PathBuf,
    /// Major and minor.
    pub(super) version: (u32, u32),
    /// The compute capabilities it compiles for, ascending.
    pub(super) capabilities: Vec<u32>,
}

/// An answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    Described(Description),
    Compiled(KernelImage),
    /// The compiler's messages on a source that is wrong.
    Rejected(String),
    /// Why nothing could be done.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_arrive_as_they_were_sent() {
        let description = Description {
            path: "/a/libnvrtc.so.12".into(),
            version: (12, 9),
            capabilities: vec![75, 90],
        };
        let image = KernelImage {
            names: vec![("k<1>".into(), "_Z1k".into())],
            image: vec![0, 255, 10],
        };
        let replies = [
            Reply::Described(description),
            Reply::Compiled(image),
            Reply::Rejected("a.cu(1): error".into()),
            Reply::Failed("no".into()),
        ];
        for reply in replies {
            let sent = serde_json::to_vec(&reply).expect("it is written");
            assert_eq!(serde_json::from_slice::<Reply>(&sent).expect("it is read"), reply);
        }
    }
}
