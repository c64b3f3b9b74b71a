//! `kill -9` of the server, in the middle of tasks.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Place, request, wait_until};

#[test]
fn no_acknowledged_task_is_lost_and_no_result_is_made_twice() {
    let place = Place::new();
    let devices = ["--device", "cuda:0", "--device", "cuda:1"];
    let mut tasks: Vec<String> = Vec::new();
    let mut results: BTreeMap<String, Value> = BTreeMap::new();
    let mut begun_for_results: BTreeMap<String, usize> = BTreeMap::new();
    let begun = |task: &str| {
        place
            .done()
            .iter()
            .filter(|event| event[0] == "begin" && event[1] == task)
            .count()
    };
    for round in 0..6 {
        let server = place.serve(&devices);
        for result in &results {
            assert_eq!(server.door.get(&format!("/tasks/{}", result.0)).json(), *result.1);
        }
        for _ in 0..12 {
            tasks.push(server.submit("sleep 0.02"));
        }
        // At other places each time: tasks wait, run, and are over.
        std::thread::sleep(Duration::from_millis(40 + 37 * round));
        for task in &tasks {
            let answer = server.door.get(&format!("/tasks/{task}")).json();
            if answer["status"] == "completed" && !results.contains_key(task) {
                begun_for_results.insert(task.clone(), begun(task));
                results.insert(task.clone(), answer);
            }
        }
        server.kill();
    }
    let done_before = results.len();
    let server = place.serve(&devices);
    let mut again = 0;
    for task in &tasks {
        let result = server.result(task);
        assert_eq!(result["status"], "completed", "{result}");
        let attempts = result["gpubench"]["attempts"].as_u64().expect("a number") as usize;
        assert!(
            (1..=attempts).contains(&begun(task)),
            "begun {} times, says {attempts}",
            begun(task)
        );
        again += usize::from(attempts > 1);
        if let Some(before) = results.get(task) {
            assert_eq!(result, *before);
            assert_eq!(begun(task), begun_for_results[task]);
        }
    }
    println!(
        "{} tasks, {done_before} over before the last kill, {again} begun more than once",
        tasks.len()
    );
    assert!(again > 0 && done_before > 0);
    for kind in ["tasks", "attempts", "work"] {
        let left = std::fs::read_dir(place.path("spool").join(kind))
            .expect("a folder")
            .count();
        assert_eq!(left, 0, "{kind}");
    }
}

#[test]
fn a_task_that_has_its_result_and_is_still_there_is_not_run_again() {
    let place = Place::new();
    let server = place.serve(&[]);
    let task = server.submit("sleep 1");
    let (file, aside) = (place.path(&format!("spool/tasks/{task}.json")), place.path("aside"));
    std::fs::copy(&file, &aside).expect("copied");
    let result = server.result(&task);
    server.kill();
    // As if the server had been killed between the result and the end of the task.
    std::fs::copy(&aside, &file).expect("copied");
    let server = place.serve(&[]);
    server.result(&server.submit("pass"));
    assert_eq!(server.result(&task), result);
    assert!(!file.exists() && place.done().iter().filter(|event| event[1] == task).count() == 2);
}

#[test]
fn the_tool_ends_with_a_killed_server() {
    let place = Place::new();
    let server = place.serve(&[]);
    server.submit("hang");
    wait_until("it runs", || place.done().len() == 1);
    let tool = place.done()[0][3].clone();
    server.kill();
    wait_until("it ends", || !Path::new("/proc").join(&tool).exists());
}

#[test]
fn a_task_that_ends_servers_fails_at_last() {
    let place = Place::new();
    let mut task = String::new();
    for attempt in 1..=3 {
        let server = place.serve(&[]);
        if attempt == 1 {
            task = server.submit("hang");
        }
        wait_until("it runs", || place.done().len() == attempt);
        server.kill();
    }
    let server = place.serve(&[]);
    let result = server.result(&task);
    assert!(
        result["error"]
            .as_str()
            .is_some_and(|error| error.contains("ended 3 times")),
        "{result}"
    );
    assert_eq!((place.done().len(), &result["gpubench"]["attempts"]), (3, &3.into()));
}

#[test]
fn without_a_spool_nothing_is_acknowledged_and_a_lost_result_is_made_again() {
    let place = Place::new();
    let server = place.serve(&[]);
    let (results, tasks, aside) = (
        place.path("spool/results"),
        place.path("spool/tasks"),
        place.path("aside"),
    );
    std::fs::rename(&results, &aside).expect("moved");
    let task = server.submit("pass");
    let result = server.result(&task);
    assert!(
        result["error"]
            .as_str()
            .is_some_and(|error| error.contains("the result cannot be written"))
            && result["status"] == "failed",
        "{result}"
    );
    std::fs::rename(&aside, &results).expect("moved");
    std::fs::rename(&tasks, &aside).expect("moved");
    assert_eq!(server.door.post("/evaluate", request("pass").to_string()).status, 507);
    std::fs::rename(&aside, &tasks).expect("moved");
    server.kill();
    let result = place.serve(&[]).result(&task);
    assert_eq!(
        (&result["status"], &result["gpubench"]["attempts"]),
        (&"completed".into(), &2.into())
    );
}

#[test]
fn what_is_not_of_the_server_stays_in_the_spool_and_is_not_read() {
    let place = Place::new();
    let server = place.serve(&[]);
    let task = server.submit("pass");
    let result = server.result(&task);
    server.kill();
    let secret = place.path("secret");
    std::fs::write(&secret, request("pass").to_string()).expect("written");
    let spool = |name: &str| place.path("spool").join(name);
    let named = |letter: &str| format!("{}.json", letter.repeat(32));
    std::fs::write(spool("tasks").join("notes.txt"), "of somebody").expect("written");
    std::fs::write(spool("tasks").join(named("a")), "{ torn").expect("written");
    std::os::unix::fs::symlink(&secret, spool("tasks").join(named("b"))).expect("a link");
    std::fs::create_dir(spool("tasks").join(named("c"))).expect("a folder");
    std::fs::write(spool("tasks").join(format!("{}.new", "d".repeat(32))), "unfinished").expect("written");
    std::fs::write(spool("results").join(named("e")), result.to_string()).expect("written");
    let mut last = result.clone();
    last["task_id"] = json!("2".repeat(32));
    last["gpubench"]["result"] = json!(u64::MAX);
    std::fs::write(spool("results").join(named("2")), last.to_string()).expect("written");
    let task_of_last = json!({
        "number": u64::MAX, "definition": "double", "solution_name": "fast", "workload_uuids": [],
        "solution": request("pass")["solution"],
    });
    std::fs::write(spool("tasks").join(named("3")), task_of_last.to_string()).expect("written");
    std::os::unix::fs::symlink(
        spool("results").join(format!("{task}.json")),
        spool("results").join(named("f")),
    )
    .expect("a link");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(spool("results").join(named("1")))
            .status()
            .expect("mkfifo")
            .success()
    );
    std::os::unix::fs::symlink(place.path("dataset"), spool("work").join("link")).expect("a link");
    let server = place.serve(&[]);
    for letter in ["a", "b", "c", "d", "e", "f", "1", "2", "3"] {
        assert_eq!(
            server.door.get(&format!("/tasks/{}", letter.repeat(32))).status,
            404,
            "{letter}"
        );
    }
    assert_eq!(server.result(&task), result);
    assert_eq!(server.result(&server.submit("pass"))["status"], "completed");
    let (_, log) = server.end("-TERM");
    assert_eq!(log.matches("is left alone").count(), 9, "{log}");
    assert!(spool("tasks").join("notes.txt").exists() && place.path("dataset/definitions").exists());
    assert!(!spool("work").join("link").exists() && !spool("tasks").join(format!("{}.new", "d".repeat(32))).exists());
}
