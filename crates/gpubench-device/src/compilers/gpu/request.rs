//! Requests to the NVRTC process, and its replies.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cuda::KernelImage;

/// The longest request in bytes: a source with its options and names.
pub(super) const LONGEST_REQUEST: u64 = 64 << 20;

/// A request to an NVRTC library.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    /// Libraries, or names for the loader; the first that works is used.
    pub(super) libraries: Vec<PathBuf>,
    pub(super) order: Order,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    /// Describe the library.
    Describe,
    /// Compile a file below the current directory.
    Compile {
        file: String,
        options: Vec<String>,
        names: Vec<String>,
    },
}

/// The description of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Description {
    /// The path.
    pub(super) path: PathBuf,
    /// The version as major and minor.
    pub(super) version: (u32, u32),
    /// The compute capabilities that it supports, in ascending order.
    pub(super) capabilities: Vec<u32>,
}

/// A reply.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    Described(Description),
    Compiled(KernelImage),
    /// The compiler's messages about errors in the source.
    Rejected(String),
    /// Why the request failed.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_survive_a_round_trip() {
        let description = Description {
            path: "/a/libnvrtc.so.12".into(),
            version: (12, 9),
            capabilities: vec![75, 90],
        };
        let image = KernelImage {
            names: vec![("k<1>".into(), "_Z1k".into())],
            image: vec![0, 255, 10],
            ..KernelImage::default()
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
