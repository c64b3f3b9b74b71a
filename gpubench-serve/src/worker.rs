//! A device and the tasks that it grades, one after the other.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use gpubench_diagnostic::{print_to_stderr, print_warning, printable_line};
use tokio::sync::watch;

use crate::dataset::Dataset;
use crate::excerpt::excerpt;
use crate::grader::{Ending, Files, Tool};
use crate::queue::{Begun, Outcome, Queue};
use crate::spool::remove_whatever;
use crate::verdict::{self, Subject};

/// A device that grades.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// Whether the last task on it could be begun.
    pub(crate) is_healthy: Cell<bool>,
}

/// Grades tasks until the server ends.
pub(crate) async fn run(
    device: Rc<Device>,
    tool: Tool,
    queue: Rc<Queue>,
    dataset: Rc<Dataset>,
    mut stopped: watch::Receiver<()>,
) {
    loop {
        let begun = tokio::select! {
            biased;
            _ = stopped.changed() => return,
            begun = queue.begin(&device.name) => begun,
        };
        let began = Instant::now();
        let outcome = match queue.work(begun.id) {
            Ok(folder) => {
                let outcome = grade(&begun, &folder, &device, &tool, &dataset, &mut stopped).await;
                if let Err(error) = remove_whatever(&folder) {
                    print_warning(&format!("cannot remove `{}`: {error}", folder.display()));
                }
                outcome
            }
            Err(error) => Outcome::failed(format!("the spool cannot be used: {error}")),
        };
        let how = match &outcome {
            Outcome::Completed(traces) => format!("completed with {} traces", traces.len()),
            Outcome::Failed { why, .. } => format!("failed: {}", excerpt(&printable_line(why))),
            Outcome::PutBack => "put back".to_owned(),
        };
        let name = &device.name;
        let seconds = began.elapsed().as_secs_f64();
        print_to_stderr(&format!("{} on {name}: {how} ({seconds:.1} s)\n", begun.id));
        queue.end(begun.id, outcome);
    }
}

async fn grade(
    begun: &Begun,
    folder: &Path,
    device: &Device,
    tool: &Tool,
    dataset: &Dataset,
    stopped: &mut watch::Receiver<()>,
) -> Outcome {
    let task = &begun.task;
    // A later server may have another data set.
    let Some(problem) = dataset.problem(&task.definition) else {
        return Outcome::failed(format!("Definition not found: {}", task.definition));
    };
    let workloads = match problem.selected(&task.workload_uuids) {
        Ok(workloads) => workloads,
        Err(why) => return Outcome::failed(why),
    };
    let at = |name: &str| folder.join(name);
    let files = Files {
        definition: &problem.path,
        workloads: at("workloads.jsonl"),
        solution: at("solution.json"),
        traces: at("traces.jsonl"),
    };
    let lines: String = workloads
        .iter()
        .map(|workload| format!("{}\n", workload.line))
        .collect();
    let written =
        std::fs::write(&files.workloads, lines).and_then(|()| std::fs::write(&files.solution, task.solution.get()));
    if let Err(error) = written {
        return Outcome::failed(format!("the spool cannot be used: {error}"));
    }
    let subject = Subject {
        definition: &task.definition,
        solution: &task.solution_name,
        uuids: workloads
            .iter()
            .map(|workload| workload.uuid.as_str())
            .collect::<BTreeSet<_>>(),
    };
    let ending = tool.grade(&files, &device.name, stopped).await;
    device.is_healthy.set(!matches!(ending, Ending::Unstarted(_)));
    match ending {
        Ending::Judged(said) => verdict::read(&files.traces, &subject, None, &said),
        Ending::Failed(why) => verdict::read(&files.traces, &subject, Some(why), ""),
        Ending::Unstarted(why) => Outcome::failed(why),
        Ending::Stopped => Outcome::PutBack,
    }
}
