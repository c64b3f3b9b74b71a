//! A real headless browser, controlled over pipes with the DevTools protocol.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Value, json};

/// Names of Chromium executables. The headless one comes first.
const CHROMIUM: [&str; 5] = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
];

/// The longest wait for one answer of the browser.
const ANSWER: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    /// Events that the browser has sent since the page was opened.
    events: Vec<Value>,
    last: u64,
    session: Option<String>,
    _profile: tempfile::TempDir,
}

/// The screen of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Width in CSS pixels.
    pub width: u32,
    /// Height in CSS pixels.
    pub height: u32,
    /// The preferred colour scheme.
    pub scheme: Scheme,
}

/// A preferred colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Scheme {
    /// Returns the CSS keyword.
    pub fn word(self) -> &'static str {
        match self {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }
}

impl Browser {
    /// Starts a browser.
    ///
    /// # Panics
    /// If no browser is installed, or it does not start.
    pub fn start() -> Browser {
        let executable = CHROMIUM.into_iter().find(|name| is_there(name));
        let executable = executable.unwrap_or_else(|| {
            panic!(
                "found none of the browsers {} (hint: `.ci/run browser` installs `chromium-headless-shell`)",
                CHROMIUM.join(", ")
            )
        });
        let profile = tempfile::tempdir().expect("a folder");
        // The protocol uses the file descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", executable])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .args([
                "--force-color-profile=srgb",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let requests = child.stdin.take().expect("it is piped");
        let mut answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop_if(|last| *last == 0);
                let parsed = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if sender.send(parsed).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            requests,
            messages,
            events: Vec::new(),
            last: 0,
            session: None,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file on this screen.
    ///
    /// # Panics
    /// If it does not load.
    pub fn open(&mut self, file: &Utf8Path, screen: Screen) {
        let Screen { width, height, scheme } = screen;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let colours = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme.word() }] });
        self.call("Emulation.setEmulatedMedia", colours);
        self.events.clear();
        self.call("Page.navigate", json!({ "url": format!("file://{file}") }));
        self.wait_for("Page.loadEventFired");
    }

    /// Evaluates a JavaScript expression in the page.
    ///
    /// # Panics
    /// If the expression throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let arguments = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", arguments);
        assert!(result["exceptionDetails"].is_null(), "{:#}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            other => panic!("`{other}` is not on this keyboard"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Returns a screenshot of the whole page, as PNG in Base64.
    pub fn picture(&mut self) -> String {
        self.screenshot(true)
    }

    /// A picture of the visible part of the page, as PNG in Base64.
    pub fn picture_of_the_screen(&mut self) -> String {
        self.screenshot(false)
    }

    fn screenshot(&mut self, is_whole: bool) -> String {
        let arguments = json!({ "format": "png", "captureBeyondViewport": is_whole });
        let picture = self.call("Page.captureScreenshot", arguments);
        picture["data"].as_str().expect("a picture").to_owned()
    }

    /// Returns the events of one kind, such as `Log.entryAdded`, since the page was opened.
    pub fn events(&self, kind: &str) -> Vec<&Value> {
        let of_kind = |event: &&Value| event["method"] == kind;
        self.events
            .iter()
            .filter(of_kind)
            .map(|event| &event["params"])
            .collect()
    }

    fn call(&mut self, method: &str, arguments: Value) -> Value {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": arguments });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        let text = format!("{request}\0");
        self.requests.write_all(text.as_bytes()).expect("the browser listens");
        let number = self.last;
        let answer = self.next(method, |message| message["id"] == number);
        assert!(answer["error"].is_null(), "{method}: {:#}", answer["error"]);
        answer["result"].clone()
    }

    fn wait_for(&mut self, event: &str) {
        if self.events(event).is_empty() {
            self.next(event, |message| message["method"] == event);
        }
    }

    /// Reads until a message matches, and keeps the events before it.
    fn next(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            match self.messages.recv_timeout(ANSWER) {
                Ok(message) if is_it(&message) => {
                    if message["id"].is_null() {
                        self.events.push(message.clone());
                    }
                    return message;
                }
                Ok(message) => self.events.push(message),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser has ended; `{what}` was waited for"),
                Err(RecvTimeoutError::Timeout) => panic!("the browser does not answer; `{what}` was waited for"),
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_there(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
