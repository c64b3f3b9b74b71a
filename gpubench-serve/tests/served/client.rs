//! A client that sends any bytes, right or wrong.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// A hung server fails a test instead of stopping it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server listens.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    Port(u16),
    Socket(PathBuf),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Door {
    pub(crate) fn connect(&self) -> Box<dyn Stream> {
        match self {
            Door::Port(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).expect("a connection");
                stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
                stream.set_write_timeout(Some(PATIENCE)).expect("a limit");
                Box::new(stream)
            }
            Door::Socket(path) => {
                let stream = UnixStream::connect(path).expect("a connection");
                stream.set_write_timeout(Some(PATIENCE)).expect("a limit");
                stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
                Box::new(stream)
            }
        }
    }

    /// Sends bytes, and returns the answer. `None` if there is none.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // The server may have answered and closed before the end.
        let _ = stream.write_all(bytes);
        answer_of(&mut *stream)
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n");
        self.raw(&[head.as_bytes(), body].concat()).expect("an answer")
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Answer {
        self.request("POST", path, "Content-Type: application/json\r\n", body.as_ref())
    }
}

/// Reads an answer to the end of the connection.
pub(crate) fn answer_of(stream: &mut dyn Stream) -> Option<Answer> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    // A reset comes after the answer, if the server closed before it had read everything.
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => bytes.extend(&buffer[..count]),
            Err(error) => {
                assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no answer and no end");
                break;
            }
        }
    }
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    Some(Answer {
        status,
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    })
}
