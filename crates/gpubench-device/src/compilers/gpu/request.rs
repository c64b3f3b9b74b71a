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

/// An answer: a byte that says which, and its contents.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Described(Description),
    Compiled(KernelImage),
    /// The compiler's messages on a source that is wrong.
    Rejected(String),
    /// Why nothing could be done.
    Failed(String),
}

const DESCRIBED: u8 = b'd';
const COMPILED: u8 = b'c';
const REJECTED: u8 = b'r';
const FAILED: u8 = b'f';

impl Reply {
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, contents) = match self {
            Reply::Described(description) => match serde_json::to_vec(description) {
                Ok(contents) => (DESCRIBED, contents),
                Err(error) => (FAILED, error.to_string().into_bytes()),
            },
            Reply::Compiled(image) => (COMPILED, image.encode()),
            Reply::Rejected(log) => (REJECTED, log.clone().into_bytes()),
            Reply::Failed(reason) => (FAILED, reason.clone().into_bytes()),
        };
        [vec![kind], contents].concat()
    }

    /// Nothing for bytes that are no answer.
    pub(super) fn decode(bytes: &[u8]) -> Option<Reply> {
        let (kind, contents) = bytes.split_first()?;
        let text = || String::from_utf8_lossy(contents).into_owned();
        match *kind {
            DESCRIBED => serde_json::from_slice(contents).ok().map(Reply::Described),
            COMPILED => KernelImage::decode(contents).ok().map(Reply::Compiled),
            REJECTED => Some(Reply::Rejected(text())),
            FAILED => Some(Reply::Failed(text())),
            _ => None,
        }
    }
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
            assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for bytes in [&b""[..], b"x", b"d{", b"cGBKIMG0"] {
            assert_eq!(Reply::decode(bytes), None);
        }
    }
}
