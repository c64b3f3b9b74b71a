//! The HTTP server for Prometheus. It never makes the observation wait: a request gets the page
//! that was published last.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clients::Clients;
use super::{Format, MetricsError, Page};

/// The address if none is given: this machine alone can reach it.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9000));

/// How long a client may take for its request and the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes of a request that are read.
const LONGEST_REQUEST: u64 = 16 * 1024;

/// Serves the page that was published last.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    page: Mutex<Page>,
    clients: Mutex<Clients>,
    stops: AtomicBool,
}

impl Server {
    /// Listens at an address. Port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn listening_at(address: SocketAddr) -> Result<Self, MetricsError> {
        let refused = |source| MetricsError::Address { address, source };
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let shared = Arc::new(Shared::default());
        let served = shared.clone();
        let thread = thread::Builder::new().name("metrics".to_owned());
        let thread = thread.spawn(move || accept(&listener, &served)).map_err(refused)?;
        Ok(Self {
            address,
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the page.
    pub fn publish(&self, page: Page) {
        *self.shared.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let port = self.address.port();
        let here = match self.address {
            SocketAddr::V4(address) if address.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, port).into(),
            SocketAddr::V6(address) if address.ip().is_unspecified() => (std::net::Ipv6Addr::LOCALHOST, port).into(),
            address => address,
        };
        let is_awake = TcpStream::connect_timeout(&here, PATIENCE).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.stops.load(Ordering::Acquire) {
            return;
        }
        let Ok(client) = client else {
            // Out of descriptors: they come back when clients leave.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Ok(peer) = client.peer_addr() else {
            // It left already.
            continue;
        };
        let client = Arc::new(client);
        let number = clients(shared).admit(peer.ip(), client.clone());
        let served = shared.clone();
        let thread = thread::Builder::new().name("scrape".to_owned());
        let spawned = thread.spawn(move || {
            // A client that leaves early harms nobody.
            let _ = answer(&client, &served);
            clients(&served).leave(number);
        });
        if spawned.is_err() {
            clients(shared).leave(number);
        }
    }
}

fn clients(shared: &Shared) -> MutexGuard<'_, Clients> {
    shared.clients.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers one request and closes the connection.
fn answer(client: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut client = Patient {
        client,
        until: Instant::now() + PATIENCE,
    };
    let request = Request::read(&mut client)?;
    let page = shared.page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let format = Format::accepted(&request.accept);
    let (status, media_type, body) = match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", format.media_type(), page.format(format)),
        ("GET" | "HEAD", "/") => ("200 OK", TEXT, "cargo gpubench probe: the metrics are at /metrics\n"),
        ("GET" | "HEAD", _) => ("404 Not Found", TEXT, "the metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", TEXT, "only GET and HEAD\n"),
    };
    let allow = if status.starts_with("405") {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n{allow}\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let body = if request.method == "HEAD" { "" } else { body };
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())
}

/// A client whose time is limited, however slowly it sends or reads.
struct Patient<'a> {
    client: &'a TcpStream,
    until: Instant,
}

impl Patient<'_> {
    /// Returns the time that is left, never 0.
    fn rest(&self) -> io::Result<Option<Duration>> {
        let rest = self.until.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(Some(rest))
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.client.set_read_timeout(self.rest()?)?;
        self.client.read(bytes)
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.client.set_write_timeout(self.rest()?)?;
        self.client.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.client.flush()
    }
}

/// The media type of what is no page of metrics.
const TEXT: &str = "text/plain; charset=utf-8";

/// What is read of a request.
#[derive(Debug, Default)]
struct Request {
    method: String,
    path: String,
    accept: String,
}

impl Request {
    fn read(client: &mut impl Read) -> io::Result<Self> {
        let mut lines = BufReader::new(client.take(LONGEST_REQUEST)).lines();
        let mut request = Request::default();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut words = first.split(' ').map(str::to_owned);
        request.method = words.next().unwrap_or_default();
        let target = words.next().unwrap_or_default();
        request.path = target.split('?').next().unwrap_or_default().to_owned();
        for line in lines {
            let line = line?;
            match line.split_once(':') {
                _ if line.is_empty() => return Ok(request),
                Some((name, value)) if name.eq_ignore_ascii_case("accept") => request.accept = value.to_owned(),
                _ => {}
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
