//! Where the server listens: a socket that only its user can open, or an address that no other
//! machine can reach.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::Mode;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};

use crate::error::ServeError;
use crate::guard::Guard;

/// The value of `--listen`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Loopback(SocketAddr),
    Socket(PathBuf),
}

/// Why an address is invalid.
#[derive(Debug, Error)]
pub(crate) enum InvalidAddress {
    #[error("must be `127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `unix:FILE`")]
    Form,
    #[error(
        "other machines could reach it (hint: listen on `127.0.0.1` and let them come through `ssh -L`; the server \
         has no passwords)"
    )]
    Reachable,
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Address, InvalidAddress> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(InvalidAddress::Form),
                path => Ok(Address::Socket(path.into())),
            };
        }
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = (numeric.as_deref().unwrap_or(text).parse()).map_err(|_| InvalidAddress::Form)?;
        match address.ip().is_loopback() {
            true => Ok(Address::Loopback(address)),
            false => Err(InvalidAddress::Reachable),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Loopback(address) => address.fmt(f),
            Address::Socket(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// What takes connections.
#[derive(Debug)]
pub(crate) enum Listener {
    Loopback(TcpListener),
    Socket(UnixListener, PathBuf),
}

impl Listener {
    /// # Errors
    /// The address is taken, or the socket cannot be made.
    pub(crate) async fn bind(address: &Address) -> Result<Listener, ServeError> {
        let failed = |source| ServeError::Listen {
            address: address.to_string(),
            source,
        };
        match address {
            Address::Loopback(address) => Ok(Listener::Loopback(TcpListener::bind(address).await.map_err(failed)?)),
            Address::Socket(path) => {
                remove_abandoned(path).await?;
                let own_mask = rustix::process::umask(Mode::from_bits_truncate(0o177));
                let bound = UnixListener::bind(path);
                rustix::process::umask(own_mask);
                Ok(Listener::Socket(bound.map_err(failed)?, path.clone()))
            }
        }
    }

    /// # Errors
    /// No connection can be taken now.
    pub(crate) async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Listener::Loopback(listener) => Box::new(listener.accept().await?.0),
            Listener::Socket(listener, _) => Box::new(listener.accept().await?.0),
        })
    }

    /// Returns what a client has to connect to.
    pub(crate) fn url(&self) -> String {
        match self {
            Listener::Loopback(listener) => match listener.local_addr() {
                Ok(address) => format!("http://{address}"),
                Err(error) => error.to_string(),
            },
            Listener::Socket(_, path) => Address::Socket(path.clone()).to_string(),
        }
    }

    /// Returns which requests may come through.
    pub(crate) fn guard(&self) -> Guard {
        match self {
            Listener::Loopback(_) => Guard::OfAddress,
            Listener::Socket(..) => Guard::OfSocket,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Socket(_, path) = self {
            // It refuses connections now; the next server removes it otherwise.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes the socket of a server that was killed.
async fn remove_abandoned(path: &Path) -> Result<(), ServeError> {
    let read = |source| ServeError::Read {
        path: path.to_owned(),
        source,
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(read(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(ServeError::NoSocket { path: path.to_owned() }),
        Ok(_) => {}
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path).map_err(read),
        Err(error) => Err(read(error)),
        Ok(_) => Err(ServeError::SocketInUse { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_and_sockets_are_allowed() {
        for (text, shown) in [
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("127.1.2.3:80", "127.1.2.3:80"),
            ("localhost:8000", "127.0.0.1:8000"),
            ("[::1]:8000", "[::1]:8000"),
            ("unix:judge", "unix:judge"),
        ] {
            assert_eq!(text.parse::<Address>().expect("an address").to_string(), shown);
        }
        for text in [
            "0.0.0.0:8000",
            "[::]:8000",
            "192.168.1.7:8000",
            "[::ffff:10.0.0.1]:1",
            "8.8.8.8:53",
        ] {
            let error = text.parse::<Address>().expect_err("refused").to_string();
            assert!(error.contains("(hint: "), "{error}");
        }
        for text in [
            "",
            "8000",
            ":8000",
            "unix:",
            "example.org:8000",
            "localhost",
            "localhost:x",
            "http://127.0.0.1:1",
        ] {
            assert!(matches!(text.parse::<Address>(), Err(InvalidAddress::Form)), "{text}");
        }
    }
}
