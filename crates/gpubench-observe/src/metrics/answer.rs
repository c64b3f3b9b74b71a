//! What a request gets.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::{Format, Page};

/// The media type of what is no page of metrics.
const TEXT: &str = "text/plain; charset=utf-8";

/// Returns the answer to a request, whose body nobody reads.
pub(super) fn answer<B>(request: &Request<B>, page: &Page) -> Response<Full<Bytes>> {
    let accept = request.headers().get_all(ACCEPT);
    let accepts = accept.iter().filter_map(|value| value.to_str().ok());
    let format = Format::accepted(&accepts.collect::<Vec<_>>().join(","));
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let text = |text: &'static str| (TEXT, Bytes::from_static(text.as_bytes()));
    let (status, (media_type, body)) = match request.uri().path() {
        _ if !is_read => (StatusCode::METHOD_NOT_ALLOWED, text("only GET and HEAD\n")),
        "/metrics" => (StatusCode::OK, (format.media_type(), page.bytes(format))),
        "/" => (
            StatusCode::OK,
            text("cargo gpubench probe: the metrics are at /metrics\n"),
        ),
        _ => (StatusCode::NOT_FOUND, text("the metrics are at /metrics\n")),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    // Nothing of it is a page, whatever a browser would like to see in it.
    headers.insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    if !is_read {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
