//! Connections: how many there are, how long they may take, and how much they may send.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::address::{Listener, Stream};
use crate::guard::Guard;
use crate::routes::Service;

/// Most bytes of a request's body, which is as much as a document may have.
pub(crate) const MOST_BYTES: usize = gpubench_trace::MOST_DOCUMENT_BYTES;

/// Most connections. More wait in the backlog.
const MOST_CONNECTIONS: usize = 256;

/// Most bodies that are received at once, since each takes memory.
const MOST_BODIES: usize = 8;

const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 16 << 10;

/// How long a client may take for the head of a request, for its body, and to read the answer.
const HEAD: Duration = Duration::from_secs(5);
const BODY: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(10);

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    json: String,
    retry_after: Option<u32>,
    /// What the server counts until the client has the answer.
    held: Option<OwnedSemaphorePermit>,
}

impl Reply {
    /// A success.
    pub(crate) fn json(json: impl Into<String>) -> Reply {
        Reply {
            status: StatusCode::OK,
            json: json.into(),
            retry_after: None,
            held: None,
        }
    }

    /// An error in the form of FastAPI, which FlashInfer-Bench has.
    pub(crate) fn error(status: StatusCode, detail: impl Into<String>) -> Reply {
        Reply {
            status,
            json: json!({ "detail": detail.into() }).to_string(),
            retry_after: None,
            held: None,
        }
    }

    /// A value of the request is wrong, in the form of FastAPI.
    pub(crate) fn invalid(place: &[&str], message: impl Into<String>) -> Reply {
        let detail = json!([{ "loc": place, "msg": message.into(), "type": "value_error" }]);
        Reply {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            json: json!({ "detail": detail }).to_string(),
            retry_after: None,
            held: None,
        }
    }

    /// The server has too much to do.
    pub(crate) fn busy(detail: impl Into<String>, seconds: u32) -> Reply {
        Reply {
            retry_after: Some(seconds),
            ..Reply::error(StatusCode::SERVICE_UNAVAILABLE, detail)
        }
    }

    /// The same answer, which holds this until the client has it.
    pub(crate) fn holding(self, held: Option<OwnedSemaphorePermit>) -> Reply {
        Reply { held, ..self }
    }

    fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.json)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // Nothing of it is a page, whatever a browser would like to see in it.
        headers.insert(
            HeaderName::from_static("x-content-type-options"),
            HeaderValue::from_static("nosniff"),
        );
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Serves connections for ever.
pub(crate) async fn serve(listener: Listener, guard: Guard, service: Rc<Service>) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let bodies = Rc::new(Semaphore::new(MOST_BODIES));
    // The semaphores are never closed.
    while let Ok(permit) = connections.clone().acquire_owned().await {
        let (service, bodies) = (service.clone(), bodies.clone());
        match listener.accept().await {
            Ok(stream) => drop(tokio::task::spawn_local(async move {
                connection(stream, guard, service, &bodies).await;
                drop(permit);
            })),
            // Too many files are open, for example.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Answers one request. A second one on the same connection is not read.
async fn connection(stream: Box<dyn Stream>, guard: Guard, service: Rc<Service>, bodies: &Semaphore) {
    let answered = Notify::new();
    let held = RefCell::new(None);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .keep_alive(false)
        .max_headers(MOST_HEADERS)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(
            TokioIo::new(stream),
            service_fn(async |request: Request<Incoming>| {
                let mut reply = match guard.admit(&request) {
                    Ok(()) => service.answer(request, bodies).await,
                    Err(why) => Reply::error(StatusCode::FORBIDDEN, why),
                };
                answered.notify_one();
                held.replace(reply.held.take());
                Ok::<_, Infallible>(reply.response())
            }),
        );
    tokio::select! {
        // Whatever is wrong with a connection concerns its client alone.
        _ = serving => {}
        () = async {
            answered.notified().await;
            sleep(ANSWER).await;
        } => {}
    }
}

/// Receives the JSON of a request.
///
/// # Errors
/// It is no JSON by its type, too long, too slow or no text. The reply says so.
pub(crate) async fn body(request: Request<Incoming>, bodies: &Semaphore) -> Result<String, Reply> {
    let header = |name| {
        request
            .headers()
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let kind = header(CONTENT_TYPE).unwrap_or_default();
    // A page of a stranger can send other types without asking.
    if !kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    {
        return Err(Reply::error(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "`Content-Type` must be `application/json`",
        ));
    }
    let too_long = || {
        Reply::error(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body may have {} MiB", MOST_BYTES >> 20),
        )
    };
    let length = header(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_long());
    }
    let received = timeout(BODY, async {
        // The semaphore is never closed.
        let _permit = bodies.acquire().await;
        Limited::new(request.into_body(), MOST_BYTES).collect().await
    });
    let bytes = match received.await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_long()),
        Ok(Err(_)) => return Err(Reply::error(StatusCode::BAD_REQUEST, "the body cannot be received")),
        Err(_) => return Err(Reply::error(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    };
    String::from_utf8(bytes.into()).map_err(|_| Reply::invalid(&["body"], "it is not UTF-8"))
}
