//! Which requests may come through: none of a browser, which acts for pages of strangers.

use std::net::IpAddr;

use hyper::header::{HOST, ORIGIN};
use hyper::{Request, Uri};

/// What requests must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// A page of a stranger could lead a name of its own to this address, so the name of the host
    /// is checked.
    OfAddress,
    /// No page reaches it. Clients invent a host.
    OfSocket,
}

impl Guard {
    /// # Errors
    /// The request is a browser's, or was sent to another host. The text says so.
    pub(crate) fn admit<B>(self, request: &Request<B>) -> Result<(), &'static str> {
        let headers = request.headers();
        if headers.contains_key(ORIGIN) || headers.keys().any(|name| name.as_str().starts_with("sec-fetch-")) {
            return Err("requests of browsers are refused");
        }
        if self == Guard::OfSocket {
            return Ok(());
        }
        let mut hosts = headers.get_all(HOST).iter();
        let named = hosts.next().and_then(|host| host.to_str().ok());
        let in_line = request.uri().authority().map(|authority| authority.as_str());
        let is_one = hosts.next().is_none();
        match (is_one, named, in_line) {
            (true, Some(named), in_line) if is_local(named) && in_line.is_none_or(is_local) => Ok(()),
            _ => Err("`Host` must be `localhost` or a loopback address"),
        }
    }
}

fn is_local(host: &str) -> bool {
    let Ok(uri) = host.parse::<Uri>() else { return false };
    let Some(authority) = uri
        .authority()
        .filter(|authority| authority.as_str() == host && !host.contains('@'))
    else {
        return false;
    };
    let name = authority.host();
    let number = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
        .unwrap_or(name);
    name == "localhost" || number.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(guard: Guard, uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        guard.admit(&request.body(()).expect("a request")).is_ok()
    }

    #[test]
    fn an_address_is_only_reached_by_its_own_names() {
        for host in [
            "localhost",
            "localhost:8000",
            "127.0.0.1:8000",
            "127.0.0.2",
            "[::1]:8000",
            "[::1]",
        ] {
            assert!(admitted(Guard::OfAddress, "/health", &[("host", host)]), "{host}");
        }
        for host in [
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org",
            "127.0.0.1@example.org",
            "example.org@127.0.0.1",
            "0.0.0.0:8000",
            "10.0.0.1",
            "",
            "a b",
        ] {
            assert!(!admitted(Guard::OfAddress, "/health", &[("host", host)]), "{host}");
            assert!(admitted(Guard::OfSocket, "/health", &[("host", host)]), "{host}");
        }
        assert!(!admitted(Guard::OfAddress, "/health", &[]));
        let twice = [("host", "localhost"), ("host", "example.org")];
        assert!(!admitted(Guard::OfAddress, "/health", &twice));
        assert!(!admitted(
            Guard::OfAddress,
            "http://example.org/health",
            &[("host", "localhost")]
        ));
    }

    #[test]
    fn requests_of_browsers_are_refused_everywhere() {
        for guard in [Guard::OfAddress, Guard::OfSocket] {
            for header in [
                ("origin", "null"),
                ("origin", "http://localhost:8000"),
                ("sec-fetch-site", "none"),
            ] {
                assert!(
                    !admitted(guard, "/health", &[("host", "localhost"), header]),
                    "{header:?}"
                );
            }
        }
    }
}
