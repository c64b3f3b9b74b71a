//! The requests of FlashInfer-Bench's `serve`, and their answers.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use gpubench_diagnostic::{hexadecimal, print_warning};
use gpubench_trace::Solution;
use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::dataset::Dataset;
use crate::excerpt::excerpt;
use crate::http::{self, Reply};
use crate::queue::{NotTaken, Queue};
use crate::task::{Task, TaskId};
use crate::worker::Device;

/// Longest time that a client may wait for tasks, in seconds.
const LONGEST_WAIT: f64 = 3600.0;

/// Most clients that wait at once. Other requests need connections, too.
const MOST_WAITS: usize = 192;

/// Most tasks of a request.
const MOST_TASKS: usize = 1024;

/// Most bytes of an answer.
const MOST_ANSWER_BYTES: usize = 128 << 20;

/// Most bytes of all answers that clients have not read yet.
const MOST_UNREAD_BYTES: usize = 256 << 20;

/// What answers requests.
#[derive(Debug)]
pub(crate) struct Service {
    queue: Rc<Queue>,
    dataset: Rc<Dataset>,
    devices: Vec<Rc<Device>>,
    waits: Semaphore,
    /// Bytes that answers may still take.
    unread: Arc<Semaphore>,
}

#[derive(Deserialize)]
struct Evaluation {
    solution: Box<RawValue>,
    #[serde(default)]
    workload_uuids: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Batch {
    task_ids: Vec<String>,
    #[serde(default)]
    timeout: f64,
}

impl Service {
    pub(crate) fn new(queue: Rc<Queue>, dataset: Rc<Dataset>, devices: Vec<Rc<Device>>) -> Service {
        Service {
            queue,
            dataset,
            devices,
            waits: Semaphore::new(MOST_WAITS),
            unread: Arc::new(Semaphore::new(MOST_UNREAD_BYTES)),
        }
    }

    pub(crate) async fn answer(&self, request: Request<Incoming>, bodies: &Semaphore) -> Reply {
        self.try_answer(request, bodies).await.unwrap_or_else(|refused| refused)
    }

    async fn try_answer(&self, request: Request<Incoming>, bodies: &Semaphore) -> Result<Reply, Reply> {
        let path = request.uri().path().to_owned();
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let is = |method| *request.method() == method;
        match parts[..] {
            ["evaluate"] if is(Method::POST) => self.evaluate(&http::body(request, bodies).await?),
            ["tasks", "batch"] if is(Method::POST) => {
                let batch: Batch = parsed(&http::body(request, bodies).await?)?;
                let (mut json, held) = self.tasks(&batch.task_ids, batch.timeout).await?;
                json.insert(0, '[');
                json.push(']');
                Ok(Reply::json(json).holding(held))
            }
            ["tasks", id] if is(Method::GET) => {
                let seconds = wait_of(request.uri().query().unwrap_or_default())?;
                let (json, held) = self.tasks(&[id.to_owned()], seconds).await?;
                Ok(Reply::json(json).holding(held))
            }
            ["health"] if is(Method::GET) => Ok(self.health()),
            ["evaluate" | "health"] | ["tasks", _] => {
                Err(Reply::error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"))
            }
            _ => Err(Reply::error(StatusCode::NOT_FOUND, "Not Found")),
        }
    }

    fn evaluate(&self, body: &str) -> Result<Reply, Reply> {
        let wanted: Evaluation = parsed(body)?;
        let invalid = |error: String| Reply::invalid(&["body", "solution"], excerpt(&error));
        let solution = Solution::parse(wanted.solution.get()).map_err(|error| invalid(error.to_string()))?;
        let Some(problem) = self.dataset.problem(&solution.definition) else {
            return Err(not_found(StatusCode::BAD_REQUEST, "Definition", &solution.definition));
        };
        let uuids: BTreeSet<String> = wanted.workload_uuids.into_iter().flatten().collect();
        let workload_uuids: Vec<String> = uuids.into_iter().collect();
        if let Err(why) = problem.selected(&workload_uuids) {
            return Err(Reply::error(StatusCode::BAD_REQUEST, why));
        }
        let (solution, document) = renamed(solution).map_err(|error| invalid(error.to_string()))?;
        // The tool reads it as strictly, and its name is longer now.
        Solution::parse(document.get()).map_err(|error| invalid(error.to_string()))?;
        if document.get().len() > http::MOST_BYTES {
            return Err(Reply::error(StatusCode::PAYLOAD_TOO_LARGE, "the solution is too long"));
        }
        let id = TaskId::random().map_err(|error| internal(&error.to_string()))?;
        let answer = json!({ "task_id": id.to_string(), "normalized_solution_name": solution.name });
        let taken = self.queue.add(id, |number| Task {
            number,
            definition: solution.definition,
            solution_name: solution.name,
            workload_uuids,
            solution: document,
        });
        match taken {
            Ok(()) => Ok(Reply::json(answer.to_string())),
            Err(full @ NotTaken::Full(_)) => Err(Reply::busy(full.to_string(), 5)),
            Err(NotTaken::Unkept(error)) => {
                print_warning(&format!("a task cannot be kept: {error}"));
                Err(Reply::error(
                    StatusCode::INSUFFICIENT_STORAGE,
                    "the task cannot be kept",
                ))
            }
        }
    }

    /// Returns the answers about tasks, when they are over or the time is: JSON with commas between
    /// them, and what must be held while it is in memory.
    async fn tasks(&self, names: &[String], seconds: f64) -> Result<(String, Option<OwnedSemaphorePermit>), Reply> {
        if names.len() > MOST_TASKS {
            return Err(Reply::invalid(
                &["body", "task_ids"],
                format!("at most {MOST_TASKS} tasks"),
            ));
        }
        let not_found = |name: &String| not_found(StatusCode::NOT_FOUND, "Task", name);
        let known = |name: &String| {
            name.parse()
                .ok()
                .filter(|id| self.queue.knows(*id))
                .ok_or_else(|| not_found(name))
        };
        let ids: Vec<TaskId> = names.iter().map(known).collect::<Result<_, _>>()?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = ids.iter().find(|id| !seen.insert(**id)) {
            return Err(Reply::error(
                StatusCode::BAD_REQUEST,
                format!("the task {twice} is asked for twice"),
            ));
        }
        if seconds > 0.0 {
            let wait = Duration::from_secs_f64(seconds.min(LONGEST_WAIT));
            let _permit = self
                .waits
                .try_acquire()
                .map_err(|_| Reply::busy("too many clients wait", 1))?;
            // The answer says what is not over yet.
            let _ = timeout(wait, self.queue.all_over(&ids)).await;
        }
        let mut json = String::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        for (id, name) in ids.iter().zip(names) {
            // Its result may have been dropped meanwhile.
            let answer = self.queue.answer(*id).ok_or_else(|| not_found(name))?;
            if json.len() + answer.len() > MOST_ANSWER_BYTES {
                return Err(Reply::error(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "the answer is too long; ask for fewer tasks",
                ));
            }
            let permit = u32::try_from(answer.len())
                .ok()
                .and_then(|bytes| self.unread.clone().try_acquire_many_owned(bytes).ok())
                .ok_or_else(|| Reply::busy("other clients have not read their answers yet", 1))?;
            match &mut held {
                Some(held) => held.merge(permit),
                None => held = Some(permit),
            }
            if !json.is_empty() {
                json.push(',');
            }
            // Doubling would take more than is counted.
            json.reserve_exact(answer.len() + 1);
            json.push_str(&answer);
        }
        Ok((json, held))
    }

    fn health(&self) -> Reply {
        let workers = self
            .devices
            .iter()
            .map(|device| json!({ "device": device.name, "healthy": device.is_healthy.get() }));
        let workers: Vec<Value> = workers.collect();
        Reply::json(json!({ "status": "ok", "workers": workers, "queue_size": self.queue.waiting() }).to_string())
    }
}

fn not_found(status: StatusCode, what: &str, name: &str) -> Reply {
    Reply::error(status, format!("{what} not found: {}", excerpt(name)))
}

fn internal(why: &str) -> Reply {
    Reply::error(StatusCode::INTERNAL_SERVER_ERROR, why)
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a str) -> Result<T, Reply> {
    serde_json::from_str(body).map_err(|error| Reply::invalid(&["body"], excerpt(&error.to_string())))
}

/// Returns the solution with a name of its own, which ends with the digest of everything else, and
/// its document. Fields that the format lacks are dropped.
fn renamed(mut solution: Solution) -> serde_json::Result<(Solution, Box<RawValue>)> {
    let name = std::mem::take(&mut solution.name);
    let digest = Sha256::digest(serde_json::to_vec(&solution)?);
    solution.name = format!("{name}_{}", hexadecimal(&digest[..4]));
    let document = serde_json::value::to_raw_value(&solution)?;
    Ok((solution, document))
}

/// Returns the seconds of `timeout=SECONDS`.
fn wait_of(query: &str) -> Result<f64, Reply> {
    let mut values = query.split('&').filter_map(|pair| pair.strip_prefix("timeout="));
    let Some(value) = values.next() else { return Ok(0.0) };
    let seconds = value
        .parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=LONGEST_WAIT).contains(seconds));
    seconds.ok_or_else(|| Reply::invalid(&["query", "timeout"], "it must be a number from 0 to 3600"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_solution_follows_from_its_contents() {
        let of = |name: &str, content: &str, more: &str| {
            let document = format!(
                r#"{{"name": "{name}", "definition": "d", "author": "a",{more} "spec": {{"language": "cuda",
                "target_hardware": ["cuda"], "entry_point": "k.cu::run"}},
                "sources": [{{"path": "k.cu", "content": "{content}"}}]}}"#
            );
            let (solution, document) = renamed(Solution::parse(&document).expect("a solution")).expect("JSON");
            assert_eq!(Solution::parse(document.get()).expect("a solution"), solution);
            (solution.name, document.get().to_owned())
        };
        let (one, document) = of("fast", "x", "");
        assert!(one.starts_with("fast_") && one.len() == "fast_".len() + 8, "{one}");
        assert_ne!(one, of("fast", "y", "").0);
        assert_eq!(one[5..], of("other", "x", "").0[6..]);
        let unknown = format!(r#" "x": {}{},"#, "[".repeat(500), "]".repeat(500));
        assert_eq!(
            (one, document),
            of("fast", "x", &unknown),
            "a field that the format lacks is dropped"
        );
    }

    #[test]
    fn a_wait_is_a_number_of_seconds_up_to_an_hour() {
        for (query, seconds) in [
            ("", 0.0),
            ("timeout=0", 0.0),
            ("a=b&timeout=1.5", 1.5),
            ("timeout=3600", 3600.0),
        ] {
            assert_eq!(wait_of(query).expect("a wait"), seconds, "{query}");
        }
        for query in [
            "timeout=",
            "timeout=-1",
            "timeout=3601",
            "timeout=NaN",
            "timeout=inf",
            "timeout=1&x=%",
            "timeout=a",
        ] {
            assert!(wait_of(query).is_err() || query == "timeout=1&x=%", "{query}");
        }
    }
}
