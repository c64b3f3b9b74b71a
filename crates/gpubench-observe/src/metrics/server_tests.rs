use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::tests::{busy, now};
use super::*;

fn ask(address: SocketAddr, request: &str) -> String {
    let mut client = TcpStream::connect(address).expect("a connection");
    // A connection that stays open after the answer fails instead of hanging.
    let patience = Some(Duration::from_secs(60));
    client.set_read_timeout(patience).expect("it is a socket");
    client.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    client
        .read_to_string(&mut answer)
        .expect("an answer, and the end of the connection");
    answer
}

fn serving() -> Server {
    let server = Server::listening_at(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let (ledger, totals) = busy();
    server.publish(Exporter::default().page(&ledger, &totals, now()));
    server
}

#[test]
fn a_scrape_gets_the_format_it_accepts() {
    let server = serving();
    let prometheus = "GET /metrics HTTP/1.1\r\nHost: x\r\naccept: application/openmetrics-text;version=1.0.0\r\n\r\n";
    let answer = ask(server.address(), prometheus);
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/openmetrics-text"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"));
    let answer = ask(server.address(), "GET /metrics?x=1 HTTP/1.0\r\n\r\n");
    assert!(answer.contains("content-type: text/plain; version=0.0.4"), "{answer}");
    assert!(!answer.contains("# EOF"));
    let head = ask(server.address(), "HEAD /metrics HTTP/1.0\r\n\r\n");
    assert!(
        head.ends_with("\r\n\r\n") && !head.contains("content-length: 0"),
        "{head}"
    );
}

#[test]
fn other_requests_are_refused() {
    let server = serving();
    assert!(ask(server.address(), "GET /secret HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(ask(server.address(), "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
}

#[test]
fn a_client_that_says_nothing_keeps_nobody_waiting() {
    let server = serving();
    let silent: Vec<_> = (0..4)
        .map(|_| TcpStream::connect(server.address()).expect("a connection"))
        .collect();
    assert!(ask(server.address(), "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
    server.publish(Page::default());
    assert!(ask(server.address(), "GET /metrics HTTP/1.1\r\n\r\n").contains("content-length: 0"));
    drop(silent);
}

#[test]
fn clients_that_come_again_and_again_and_say_nothing_keep_no_scrape_out() {
    let server = serving();
    let mut silent: Vec<TcpStream> = Vec::new();
    for _ in 0..20 {
        let more = (0..20).filter_map(|_| TcpStream::connect(server.address()).ok());
        silent.extend(more);
        let answer = ask(server.address(), "GET /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?} with {}", silent.len());
    }
}

#[test]
fn clients_that_send_slowly_are_sent_away_in_the_end() {
    let server = serving();
    let slow = |_| {
        let mut client = TcpStream::connect(server.address()).expect("a connection");
        // Until the server closes the connection.
        std::thread::spawn(move || {
            while client.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    };
    let slow: Vec<_> = (0..20).map(slow).collect();
    slow.into_iter()
        .for_each(|client| client.join().expect("it is sent away"));
    assert!(ask(server.address(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
}

#[test]
fn an_endless_request_is_not_read() {
    let server = serving();
    let mut client = TcpStream::connect(server.address()).expect("a connection");
    // The server closes the connection in between.
    let _ = client.write_all(&vec![b'x'; 1 << 20]);
    assert!(ask(server.address(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
}

#[test]
fn the_default_address_is_of_this_machine_alone() {
    assert!(DEFAULT_ADDRESS.ip().is_loopback());
    assert_eq!(DEFAULT_ADDRESS.to_string(), "127.0.0.1:9000");
}

#[test]
fn a_taken_port_has_a_hint_and_a_server_gives_its_port_back() {
    let server = serving();
    let refused = Server::listening_at(server.address()).expect_err("a taken port");
    let hint = gpubench_diagnostic::Expected::hint(&refused).expect("a hint");
    assert!(hint.contains("--metrics-addr 127.0.0.1:0"), "{hint}");
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = serving();
    let huge = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 17));
    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "X: x\r\n".repeat(1000));
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(1 << 17));
    for request in [huge, many, long] {
        let mut client = TcpStream::connect(server.address()).expect("a connection");
        let patience = Some(Duration::from_secs(60));
        client.set_read_timeout(patience).expect("it is a socket");
        // The server may close the connection before it has read all, which loses its answer.
        let _ = client.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert!(ask(server.address(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
}

#[test]
fn what_is_no_request_is_refused_and_strange_paths_lead_nowhere() {
    let server = serving();
    for request in [
        "\r\n\r\n\0\r\n\r\n",
        "GET\r\n\r\n",
        "GET /met rics HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/9.9\r\n\r\n",
        "\u{7f}ELF /metrics HTTP/1.1\r\n\r\n",
    ] {
        let answer = ask(server.address(), request);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{request:?}: {answer}"
        );
    }
    for path in [
        "//metrics",
        "/metrics/",
        "/../metrics",
        "/%6Detrics",
        "/metrics%00",
        "/METRICS",
    ] {
        let answer = ask(server.address(), &format!("GET {path} HTTP/1.1\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    let absolute = ask(server.address(), "GET http://node:9000/metrics HTTP/1.1\r\n\r\n");
    assert!(absolute.starts_with("HTTP/1.1 200"), "as proxies ask: {absolute}");
}

#[test]
fn one_request_of_a_connection_is_answered_and_its_body_is_not_awaited() {
    let server = serving();
    let twice = "GET /metrics HTTP/1.1\r\n\r\n".repeat(3);
    let answer = ask(server.address(), &twice);
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1);
    let post = "POST /metrics HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\nabc";
    assert!(ask(server.address(), post).starts_with("HTTP/1.1 405"));
}

#[test]
fn a_client_that_does_not_read_its_answer_is_sent_away() {
    let server = serving();
    let rows = "x".repeat(64 << 20);
    server.publish(Page::of_text(&rows));
    let mut client = TcpStream::connect(server.address()).expect("a connection");
    client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("a request");
    std::thread::sleep(Duration::from_secs(3));
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    assert!(answer.len() < rows.len(), "the rest is not sent any more");
    assert!(ask(server.address(), "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200"));
}
