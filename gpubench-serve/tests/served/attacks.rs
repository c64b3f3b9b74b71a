//! Requests of clients that mean harm, and of programs that are broken.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

use crate::client::{Door, answer_of};
use crate::server::{Place, Server, request, wait_until};

/// The server lives, and grades.
fn assert_serves(server: &Server) {
    assert_eq!(server.door.get("/health").status, 200);
    assert_eq!(server.result(&server.submit("pass"))["status"], "completed");
}

fn is_refused(door: &Door, bytes: &[u8]) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    if let Some(answer) = door.raw(bytes) {
        assert!((400..500).contains(&answer.status), "{shown:?}: {answer:?}");
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let place = Place::new();
    let server = place.serve(&[]);
    let post = "POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let many: String = (0..1000).map(|number| format!("X-{number}: a\r\n")).collect();
    for bytes in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /health HTTP/1.1\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET /health HTTP/1.1\nHost : localhost\n\n".to_vec(),
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"GET http://example.org/health HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000)).into_bytes(),
        format!(
            "GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
            "a".repeat(1 << 20)
        )
        .into_bytes(),
        format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").into_bytes(),
        format!("{post}Content-Length: -1\r\n\r\n{{}}").into_bytes(),
        format!("{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}} ").into_bytes(),
        format!("{post}Content-Length: 99999999999999999999999\r\n\r\n{{}}").into_bytes(),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n").into_bytes(),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n").into_bytes(),
        format!(
            "{post}Transfer-Encoding: chunked\r\n\r\n2;{}\r\n{{}}\r\n0\r\n\r\n",
            "a".repeat(1 << 20)
        )
        .into_bytes(),
        format!("{post}Transfer-Encoding: gzip\r\n\r\n{{}}").into_bytes(),
        format!("{post}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n").into_bytes(),
        format!("{post}\r\n").into_bytes(),
    ] {
        is_refused(&server.door, &bytes);
    }
    // Random bytes, from a fixed seed.
    let mut state = 7_u64;
    for length in 0..200 {
        let bytes: Vec<u8> = (0..length * 3)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            })
            .chain(*b"\r\n\r\n")
            .collect();
        is_refused(&server.door, &bytes);
    }
    assert_serves(&server);
}

#[test]
fn a_second_request_on_a_connection_is_not_read() {
    let place = Place::new();
    let server = place.serve(&[]);
    let get = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = server.door.raw(get.repeat(100).as_bytes()).expect("an answer");
    assert!(
        answer.status == 200 && answer.head.contains("\r\nconnection: close"),
        "{answer:?}"
    );
    assert_eq!(answer.json()["status"], "ok", "one answer, and nothing after it");
}

#[test]
fn pages_in_a_browser_cannot_reach_it() {
    let place = Place::new();
    let server = place.serve(&[]);
    let body = request("pass").to_string();
    let post = |host: &str, kind: &str, more: &str| {
        let length = body.len();
        let head = format!(
            "POST /evaluate HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n"
        );
        server.door.raw(format!("{head}{body}").as_bytes()).expect("an answer")
    };
    for (host, kind, more, status) in [
        ("localhost", "application/json; charset=utf-8", "", 200),
        ("rebound.example.org", "application/json", "", 403),
        ("localhost", "application/json", "Host: rebound.example.org\r\n", 403),
        (
            "localhost",
            "application/json",
            "Origin: http://localhost:8000\r\n",
            403,
        ),
        ("localhost", "application/json", "Sec-Fetch-Site: same-origin\r\n", 403),
        ("localhost", "text/plain", "", 415),
        ("localhost", "multipart/form-data", "", 415),
        ("localhost", "application/x-www-form-urlencoded", "", 415),
    ] {
        let answer = post(host, kind, more);
        assert_eq!(answer.status, status, "{host} {kind} {more}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "{answer:?}");
    }
    let preflight = server.door.request(
        "OPTIONS",
        "/evaluate",
        "Origin: http://a.b\r\nAccess-Control-Request-Method: POST\r\n",
        b"",
    );
    assert_eq!(preflight.status, 403);
}

#[test]
fn names_of_tasks_are_no_paths() {
    let place = Place::new();
    let server = place.serve(&[]);
    let task = server.submit("pass");
    server.result(&task);
    for name in [
        "..",
        "%2e%2e",
        "..%2f..%2fresults",
        "%00",
        &format!("..%2fresults%2f{task}"),
        &format!("{task}.json"),
        &format!("{task}%00"),
        &task.to_uppercase(),
        &format!("0x{}", &task[2..]),
        &"f".repeat(32),
        "--help",
        "",
    ] {
        if *name != task {
            assert_eq!(server.door.get(&format!("/tasks/{name}")).status, 404, "{name}");
        }
    }
    for path in [
        "/tasks/../../etc/passwd",
        "//tasks",
        "/definitions/..%2f..%2fspool",
        "/definitions",
        "/spool/lock",
    ] {
        assert_eq!(server.door.get(path).status, 404, "{path}");
    }
    let names = json!({"task_ids": [task, "../lock"]}).to_string();
    assert_eq!(server.door.post("/tasks/batch", names).status, 404);
}

#[test]
fn other_methods_are_refused_and_nobody_ends_the_server() {
    let place = Place::new();
    let server = place.serve(&[]);
    for (method, path, status) in [
        ("POST", "/shutdown", 404),
        ("GET", "/evaluate", 405),
        ("DELETE", "/tasks/a", 405),
        ("PUT", "/health", 405),
        ("GET", "/docs", 404),
    ] {
        assert_eq!(
            server
                .door
                .request(method, path, "Content-Type: application/json\r\n", b"")
                .status,
            status,
            "{method} {path}"
        );
    }
    assert_serves(&server);
}

#[test]
fn a_body_is_limited_while_it_comes() {
    let place = Place::new();
    let server = place.serve(&[]);
    let head = "POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let announced = server
        .door
        .raw(format!("{head}Content-Length: 104857600\r\n\r\n").as_bytes());
    assert_eq!(announced.expect("an answer").status, 413);
    // Without a length it is only seen as it comes.
    let mut stream = server.door.connect();
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    stream
        .write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes())
        .expect("sent");
    let sent = (0..100)
        .take_while(|_| stream.write_all(chunk.as_bytes()).is_ok())
        .count();
    assert!((16..100).contains(&sent), "{sent} MiB of a limit of 16 were taken");
    if let Some(answer) = answer_of(&mut *stream) {
        assert_eq!(answer.status, 413);
    }
    assert_serves(&server);
}

#[test]
fn slow_clients_are_cut_off_and_delay_nobody() {
    let place = Place::new();
    let server = place.serve(&[]);
    let head =
        "POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    let starts = ["", "GET /heal", "GET /health HTTP/1.1\r\nHost: loc", head];
    let mut streams: Vec<_> = starts
        .iter()
        .cycle()
        .take(28)
        .map(|start| {
            let mut stream = server.door.connect();
            stream.write_all(start.as_bytes()).expect("sent");
            stream
        })
        .collect();
    assert_eq!(server.door.get("/health").status, 200);
    for (stream, start) in streams.iter_mut().zip(starts.iter().cycle()) {
        // A byte now and then does not buy time.
        let _ = stream.write_all(b"x");
        let answer = answer_of(&mut **stream);
        let status = answer.map(|answer| answer.status);
        assert!(matches!(status, None | Some(400 | 408)), "{start:?}: {status:?}");
    }
    assert_serves(&server);
}

#[test]
fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let place = Place::new();
    let listen = format!("unix:{}", place.path("judge").display());
    let server = place.serve(&["--listen", &listen]);
    let task = server.submit("long");
    assert!(server.result(&task)["traces"].to_string().len() > 6_000_000);
    let mut stream = server.door.connect();
    let get = format!("GET /tasks/{task} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    stream.write_all(get.as_bytes()).expect("sent");
    wait_until("the server closes", || {
        let failed = stream.write_all(b"x").err();
        failed.is_some_and(|error| {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the connection is open");
            true
        })
    });
    assert_serves(&server);
}

#[test]
fn answers_that_nobody_reads_take_no_more_than_256_mib() {
    let place = Place::new();
    let listen = format!("unix:{}", place.path("judge").display());
    let server = place.serve(&["--listen", &listen]);
    let task = server.submit("long");
    server.result(&task);
    let path = format!("/tasks/{task}");
    let unread: Vec<_> = (0..45)
        .map(|_| {
            let mut stream = server.door.connect();
            let get = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(get.as_bytes()).expect("sent");
            stream
        })
        .collect();
    let answer = server.door.get(&path);
    assert!(
        answer.status == 503 && answer.head.contains("\r\nretry-after: 1"),
        "{answer:?}"
    );
    assert_eq!(server.door.get("/health").status, 200);
    drop(unread);
    wait_until("their memory is free", || server.door.get(&path).status == 200);
}

#[test]
fn a_long_text_of_a_client_is_shortened_where_it_is_quoted() {
    let place = Place::new();
    let server = place.serve(&[]);
    let long = "a".repeat(1 << 20);
    let mut bodies = vec![json!({"solution": request("pass")["solution"], "workload_uuids": long}).to_string()];
    for pointer in ["/solution/definition", "/solution/spec", "/solution/spec/language"] {
        let mut request = request("pass");
        *request.pointer_mut(pointer).expect("a place") = json!(long);
        bodies.push(request.to_string());
    }
    for body in bodies {
        let answer = server.door.post("/evaluate", body);
        assert!([400, 422].contains(&answer.status), "{}", answer.status);
        assert!(answer.body.len() < 1000, "{} bytes", answer.body.len());
    }
    let mut request = request("pass");
    request["workload_uuids"] = json!([long]);
    let answer = server.door.post("/evaluate", request.to_string());
    assert!(
        answer.status == 400 && answer.body.len() < 1000,
        "{} bytes",
        answer.body.len()
    );
    let (_, log) = server.end("-TERM");
    assert!(log.len() < 1000, "{} bytes of log", log.len());
}

#[test]
fn documents_that_are_none_are_refused() {
    let place = Place::new();
    let server = place.serve(&[]);
    let with = |pointer: &str, value: Value| {
        let mut request = request("pass");
        *request.pointer_mut(pointer).expect("a place") = value;
        request.to_string().into_bytes()
    };
    let good = request("pass").to_string();
    let source = |path: &str| json!([{"path": path, "content": "x"}]);
    for (body, words) in [
        (b"".to_vec(), "EOF"),
        (b"nonsense".to_vec(), "expected"),
        (b"[]".to_vec(), "invalid length"),
        (b"{}".to_vec(), "missing field `solution`"),
        (b"{\"solution\": null}".to_vec(), "invalid type"),
        (
            good.replacen('{', "{\"solution\": {}, ", 1).into_bytes(),
            "duplicate field `solution`",
        ),
        (
            good.replacen("\"name\":", "\"name\":\"a\",\"name\":", 1).into_bytes(),
            "duplicate field `name`",
        ),
        (format!("{good} {good}").into_bytes(), "trailing characters"),
        ([good.as_bytes(), &[0xff]].concat(), "not UTF-8"),
        (
            good.replace("void", "\\ud800").into_bytes(),
            "unexpected end of hex escape",
        ),
        (format!("{{\"solution\": {}", "[".repeat(1_000_000)).into_bytes(), "EOF"),
        (
            format!("{{\"solution\": {}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000)).into_bytes(),
            "invalid type",
        ),
        (with("/solution/sources", source("../kernel.cu")), "leaves the folder"),
        (with("/solution/sources", source("/etc/passwd")), "leaves the folder"),
        (with("/solution/sources", source("a\0b")), "control character"),
        (with("/solution/name", json!("")), "empty"),
        (with("/solution/name", json!("a\u{1b}[2J")), "control character"),
        (with("/solution/spec/entry_point", json!("none")), "FILE::FUNCTION"),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        let answer = server.door.post("/evaluate", &body);
        assert_eq!(answer.status, 422, "{shown}: {answer:?}");
        let detail = answer.json()["detail"][0]["msg"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(detail.contains(words), "{shown}: {detail}");
    }
    let unknown = server
        .door
        .post("/evaluate", with("/solution/definition", json!("../double")));
    assert_eq!(
        (unknown.status, &unknown.json()["detail"]),
        (400, &json!("Definition not found: ../double"))
    );
    for batch in [
        "{}",
        "[]",
        r#"{"task_ids": "a"}"#,
        r#"{"task_ids": [], "timeout": "NaN"}"#,
        r#"{"task_ids": [1]}"#,
    ] {
        assert_eq!(server.door.post("/tasks/batch", batch).status, 422, "{batch}");
    }
    let many = json!({"task_ids": vec!["a"; 1025]}).to_string();
    assert_eq!(server.door.post("/tasks/batch", many).status, 422);
    for query in ["timeout=-1", "timeout=nan", "timeout=1e9", "timeout="] {
        assert_eq!(server.door.get(&format!("/tasks/a?{query}")).status, 422, "{query}");
    }
    assert!(
        std::fs::read_dir(place.path("spool/tasks"))
            .expect("a folder")
            .next()
            .is_none()
    );
    assert_serves(&server);
}

#[test]
fn a_name_that_is_an_option_or_a_path_stays_a_name() {
    let place = Place::new();
    let server = place.serve(&[]);
    for name in [
        "--help",
        "-rf",
        "../../../etc/passwd",
        "$(touch pwned)",
        "a b;c",
        "\u{202e}name",
    ] {
        let mut request = request("pass");
        request["solution"]["name"] = json!(name);
        let answer = server.door.post("/evaluate", request.to_string());
        if answer.status != 200 {
            assert_eq!(answer.status, 422, "{name}: {answer:?}");
            continue;
        }
        let result = server.result(answer.json()["task_id"].as_str().expect("a name"));
        assert_eq!(result["status"], "completed", "{name}: {result}");
        assert!(
            result["solution"].as_str().is_some_and(|shown| shown.starts_with(name)),
            "{result}"
        );
    }
}

#[test]
fn clients_that_leave_or_wait_in_great_numbers_keep_nobody_out() {
    let place = Place::new();
    let server = place.serve(&[]);
    let task = server.submit("hang");
    wait_until("it runs", || place.done().len() == 1);
    let get = format!("GET /tasks/{task}?timeout=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let wait = || {
        let mut stream = server.door.connect();
        stream.write_all(get.as_bytes()).expect("sent");
        stream
    };
    let waiting: Vec<_> = (0..192).map(|_| wait()).collect();
    wait_until("all wait", || {
        let answer = server.door.get(&format!("/tasks/{task}?timeout=0.001"));
        answer.status == 503 && answer.head.contains("\r\nretry-after: 1")
    });
    assert_eq!(server.door.get("/health").status, 200);
    assert_eq!(server.door.get(&format!("/tasks/{task}")).status, 200);
    drop(waiting);
    wait_until("their places are free", || {
        server.door.get(&format!("/tasks/{task}?timeout=0.001")).status == 200
    });
    // One that reads nothing, and one that leaves in the middle of its body.
    drop(wait());
    let mut stream = server.door.connect();
    stream.write_all(b"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{").expect("sent");
    drop(stream);
    let mut idle = server.door.connect();
    assert_eq!(server.door.get("/health").status, 200);
    drop(server);
    assert!(matches!(idle.read(&mut [0]), Ok(0) | Err(_)));
}
