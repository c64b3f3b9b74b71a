//! Agents that lie, break off or repeat records: a real agent, and a program that changes what it
//! says. The program is this test binary itself.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

/// The variable with the misbehaviour.
const MISBEHAVIOUR: &str = "CARGO_GPUBENCH_TESTS_MISBEHAVIOUR";

/// What agents write before their first frame.
const MARK: &[u8] = b"\x1egpubench-agent\n";

/// Returns the command that starts such an agent.
pub(crate) fn runner(misbehaviour: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    format!(
        "env {MISBEHAVIOUR}={misbehaviour} '{}' --ignored --exact --nocapture agent_that_misbehaves",
        program.display()
    )
}

/// A frame: its kind and its bytes.
type Frame = (u8, Vec<u8>);

fn read(from: &mut impl Read) -> Option<Frame> {
    let mut head = [0; 5];
    from.read_exact(&mut head).ok()?;
    let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes).ok()?;
    from.read_exact(&mut [0]).ok()?;
    Some((head[0], bytes))
}

fn write(to: &mut impl Write, (kind, bytes): &Frame) {
    let length = u32::try_from(bytes.len()).expect("it fits");
    let frame = [&[*kind][..], &length.to_le_bytes(), bytes, b"\n"].concat();
    // The other side may have ended.
    let _ = to.write_all(&frame).and_then(|()| to.flush());
}

fn message(value: &Value) -> Frame {
    (b'M', serde_json::to_vec(value).expect("JSON"))
}

/// Starts a real agent, and passes on what it and the head say, with changes.
pub(crate) fn agent() {
    let misbehaviour = std::env::var(MISBEHAVIOUR).expect("a misbehaviour");
    // The command of the real agent follows the arguments of this program.
    let words: Vec<String> = std::env::args().collect();
    let mut real = Command::new(&words[words.len() - 3])
        .args(&words[words.len() - 2..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("an agent");
    let mut to_agent = real.stdin.take().expect("it is piped");
    let mut from_agent = real.stdout.take().expect("it is piped");
    // What the test harness has written is a banner.
    std::io::stdout().flush().expect("it is written");
    let (leases, ordered) = channel();
    let damages = misbehaviour == "damaged-archive";
    let replays = misbehaviour == "replay";
    std::thread::spawn(move || {
        let mut has_measured = false;
        let mut input = std::io::stdin();
        while let Some((kind, mut bytes)) = read(&mut input) {
            if kind == b'P' && damages {
                bytes[0] ^= 1;
            }
            let lease = (kind == b'M').then(|| serde_json::from_slice::<Value>(&bytes).expect("JSON"));
            if replays && let Some(mut lease) = lease.filter(|message| !message["Lease"].is_null()) {
                leases.send(lease["Lease"].clone()).expect("the other thread");
                if std::mem::replace(&mut has_measured, true) {
                    continue;
                }
                // The real agent measures the first case, and the rest is replayed from it.
                lease["Lease"]["pieces"].as_array_mut().expect("pieces").truncate(1);
                (_, bytes) = message(&lease);
            }
            write(&mut to_agent, &(kind, bytes));
        }
        // The real agent ends with its input.
        drop(to_agent);
    });
    let mut mark = [0; 16];
    let mark = &mut mark[..MARK.len()];
    from_agent.read_exact(mark).expect("the mark");
    let mut output = std::io::stdout().lock();
    output.write_all(MARK).expect("it is written");
    let (frames, real_frames) = channel();
    std::thread::spawn(move || pass(&mut from_agent, &frames));
    let mut has_progress = false;
    while let Ok((kind, bytes)) = real_frames.recv() {
        let mut said: Value = serde_json::from_slice(&bytes).expect("JSON");
        let finished = !said["Finished"].is_null();
        match &*misbehaviour {
            "old-version" if !said["Hello"].is_null() => said["Hello"]["tool_version"] = json!("0.0.1"),
            "other-case" if finished => said["Finished"]["results"][0]["case"] = json!("another"),
            "other-run" if finished => said["Finished"]["results"][0]["run_id"] = json!("another"),
            "unknown-lease" if finished => said["Finished"]["lease"] = json!(77),
            "two-results" if finished => {
                let results = said["Finished"]["results"].as_array_mut().expect("results");
                results.push(results[0].clone());
            }
            "half-a-frame" if finished => {
                let _ = output
                    .write_all(&[b'M', 200, 0, 0, 0, b'{'])
                    .and_then(|()| output.flush());
                break;
            }
            "no-json" if finished => {
                write(&mut output, &(b'M', b"{\"Finished\":".to_vec()));
                continue;
            }
            "endless-frame" if finished => {
                let _ = output
                    .write_all(&[b'M', 255, 255, 255, 255])
                    .and_then(|()| output.flush());
                continue;
            }
            "done-early" if finished => {
                said = json!({"Done": {"lease": said["Finished"]["lease"]}});
            }
            "strange-progress" if finished => {
                let so_far = json!({
                    "phase": "Sampling", "windows": u64::MAX, "cv": -1e300,
                    "value": {"number": "\u{1b}[2J\n".repeat(1000), "unit": "\u{202e}s"},
                });
                for lease in [said["Finished"]["lease"].clone(), json!(77)] {
                    write(
                        &mut output,
                        &message(&json!({"Progress": {"lease": lease, "so_far": so_far}})),
                    );
                }
            }
            "progress-first" => match said["Progress"]["so_far"]["windows"].as_u64() {
                Some(windows) => has_progress |= windows > 0,
                None if finished && !has_progress => break,
                None => {}
            },
            "twice" if finished => write(&mut output, &(kind, bytes)),
            "replay" if !said["Done"].is_null() => {
                write(&mut output, &message(&said));
                continue;
            }
            "replay" if finished => {
                write(&mut output, &message(&said));
                replay(&said["Finished"]["results"][0], &ordered, &mut output);
                break;
            }
            _ => {}
        }
        write(&mut output, &message(&said));
    }
    drop(output);
    let _ = real.kill();
    let _ = real.wait();
    std::process::exit(0);
}

/// Passes on the frames of the real agent.
fn pass(from: &mut impl Read, frames: &Sender<Frame>) {
    while let Some(frame) = read(from) {
        if frames.send(frame).is_err() {
            return;
        }
    }
}

/// Answers leases with a record of another case for each result. The first case has its record. A
/// label is `prefix_sums::n=7 [cold]` or without the mode.
fn replay(template: &Value, leases: &std::sync::mpsc::Receiver<Value>, output: &mut impl Write) {
    let mut answered = 1;
    while let Ok(lease) = leases.recv() {
        let number = &lease["lease"];
        for piece in &lease["pieces"].as_array().expect("pieces")[answered..] {
            let result = replayed(template, &piece["groups"][0][0]);
            let finished = json!({"Finished": {"lease": number, "results": [result]}});
            write(output, &message(&finished));
        }
        write(output, &message(&json!({"Done": {"lease": number}})));
        answered = 0;
    }
}

/// Returns the record of another case as the wanted one.
fn replayed(template: &Value, wanted: &Value) -> Value {
    let label = wanted["label"].as_str().expect("a label");
    let case = label.split(' ').next().expect("a name");
    let (_, n) = case.split_once("n=").expect("an axis");
    let mut result = template.clone();
    result["index"] = wanted["index"].clone();
    result["case"] = json!(case);
    result["params"]["n"] = json!(n.parse::<i64>().expect("a number"));
    result
}
