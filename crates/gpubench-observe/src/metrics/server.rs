//! The HTTP server for Prometheus. It never makes the observation wait: a request gets the page
//! that was published last.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use super::answer::answer;
use super::clients::Clients;
use super::{MetricsError, Page};

/// The address if none is given: this machine alone can reach it.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9000));

/// How long a client may take for its request and the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes of a request's head, and the most headers.
const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

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
    stops: Notify,
}

impl Server {
    /// Listens at an address. Port 0 takes a free one.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn listening_at(address: SocketAddr) -> Result<Self, MetricsError> {
        let refused = |source| MetricsError::Address { address, source };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(refused)?;
        let shared = Arc::new(Shared::default());
        let served = shared.clone();
        let thread = thread::Builder::new().name("metrics".to_owned());
        let thread = thread
            .spawn(move || serve(&runtime, listener, served))
            .map_err(refused)?;
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
        self.shared.stops.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves until the server is dropped.
fn serve(runtime: &Runtime, listener: TcpListener, shared: Arc<Shared>) {
    let connections = LocalSet::new();
    connections.block_on(runtime, async {
        tokio::select! {
            // A listener that cannot be used serves nobody, and harms nobody.
            _ = accept(listener, shared.clone()) => {}
            () = shared.stops.notified() => {}
        }
    });
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) -> io::Result<Infallible> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let clients = Rc::new(Clients::default());
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors: they come back when clients leave.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (shared, known) = (shared.clone(), clients.clone());
        let number = clients.number();
        let client = tokio::task::spawn_local(async move {
            // A client that leaves early, or takes too long, harms nobody.
            let _ = timeout(PATIENCE, connection(stream, &shared)).await;
            known.leave(number);
        });
        clients.admit(number, peer.ip(), client.abort_handle());
    }
}

/// Answers one request. A second one on the same connection is not read.
async fn connection(stream: TcpStream, shared: &Shared) -> hyper::Result<()> {
    let page = || shared.page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(async |request| Ok::<_, Infallible>(answer(&request, &page()))),
        )
        .await
}
