//! The requests of FlashInfer-Bench's `serve`.

use serde_json::{Value, json};

use crate::server::{Place, request};

#[test]
fn a_submission_is_graded_with_every_workload() {
    let place = Place::new();
    let server = place.serve(&[]);
    let answer = server.door.post("/evaluate", request("pass").to_string()).json();
    let (task, name) = (
        answer["task_id"].as_str().expect("a name"),
        answer["normalized_solution_name"].clone(),
    );
    assert!(
        task.len() == 32 && name.as_str().is_some_and(|name| name.starts_with("fast_")),
        "{answer}"
    );
    let result = server.result(task);
    let uuids: Vec<&Value> = result["traces"]
        .as_array()
        .expect("traces")
        .iter()
        .map(|trace| &trace["workload"]["uuid"])
        .collect();
    assert_eq!(uuids, ["small", "large"]);
    assert_eq!(result["traces"][0]["evaluation"]["status"], "PASSED");
    assert_eq!((&result["traces"][0]["solution"], &result["solution"]), (&name, &name));
    assert_eq!(
        (&result["task_id"], &result["status"], &result["error"]),
        (&json!(task), &json!("completed"), &Value::Null)
    );
    assert_eq!(
        (&result["definition"], &result["gpubench"]["attempts"]),
        (&json!("double"), &json!(1))
    );
    // A wrong kernel is a verdict, not a failed task.
    assert_eq!(server.result(&server.submit("fails"))["status"], "completed");
}

#[test]
fn workloads_can_be_selected_and_must_exist() {
    let place = Place::new();
    let server = place.serve(&[]);
    let graded = |uuids: Value| {
        let mut request = request("pass");
        request["workload_uuids"] = uuids;
        let task = server.door.post("/evaluate", request.to_string()).json()["task_id"].clone();
        server.result(task.as_str().expect("a name"))
    };
    let one = graded(json!(["large", "large"]));
    assert_eq!(one["traces"].as_array().expect("traces").len(), 1);
    assert_eq!(one["traces"][0]["workload"]["uuid"], "large");
    for all in [json!([]), Value::Null] {
        assert_eq!(graded(all)["traces"].as_array().expect("traces").len(), 2);
    }
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut request = request("pass");
        change(&mut request);
        let answer = server.door.post("/evaluate", request.to_string());
        (answer.status, answer.json()["detail"].to_string())
    };
    let (status, why) = refused(&|request| request["workload_uuids"] = json!(["large", "none"]));
    assert!(
        status == 400 && why.contains("No workloads found") && why.contains("`none`"),
        "{why}"
    );
    let (status, why) = refused(&|request| request["solution"]["definition"] = json!("empty"));
    assert!(status == 400 && why.contains("No workloads found"), "{why}");
    // The name gets 9 more letters.
    let (status, why) = refused(&|request| request["solution"]["name"] = json!("a".repeat(504)));
    assert!(status == 422 && why.contains("name"), "{why}");
    let waiting = std::fs::read_dir(place.path("spool/tasks")).expect("a folder");
    assert_eq!(waiting.count(), 0);
}

#[test]
fn a_batch_has_the_answers_in_the_order_of_its_names() {
    let place = Place::new();
    let server = place.serve(&["--device", "cpu", "--device", "cuda:0"]);
    let (one, other) = (server.submit("sleep 0.2"), server.submit("exit 3"));
    let batch = |names: Value, timeout: f64| {
        server.door.post(
            "/tasks/batch",
            json!({"task_ids": names, "timeout": timeout}).to_string(),
        )
    };
    let answers = batch(json!([other, one]), 30.0).json();
    let seen: Vec<_> = answers
        .as_array()
        .expect("answers")
        .iter()
        .map(|answer| (&answer["task_id"], &answer["status"]))
        .collect();
    let (one, other) = (json!(one), json!(other));
    let (completed, failed) = (json!("completed"), json!("failed"));
    assert_eq!(seen, [(&other, &failed), (&one, &completed)]);
    assert_eq!(batch(json!([]), 0.0).json(), json!([]));
    let twice = batch(json!([one, other, one]), 0.0);
    assert_eq!(
        (twice.status, &twice.json()["detail"]),
        (
            400,
            &json!(format!("the task {} is asked for twice", one.as_str().expect("a name")))
        )
    );
    assert_eq!(
        server
            .door
            .post("/tasks/batch", json!({"task_ids": [one]}).to_string())
            .status,
        200
    );
    let unknown = batch(json!([one, "f".repeat(32)]), 30.0);
    assert_eq!(unknown.status, 404);
    assert!(
        unknown.json()["detail"]
            .as_str()
            .is_some_and(|detail| detail.starts_with("Task not found: fff"))
    );
}

#[test]
fn a_task_says_how_far_it_is() {
    let place = Place::new();
    let server = place.serve(&[]);
    let running = server.submit("hang");
    let (first, second) = (server.submit("pass"), server.submit("pass"));
    crate::server::wait_until("it runs", || place.done().len() == 1);
    let state = |task: &str| server.door.get(&format!("/tasks/{task}")).json();
    let answer = state(&running);
    assert_eq!(
        (&answer["status"], &answer["traces"], &answer["gpubench"]["device"]),
        (&json!("running"), &Value::Null, &json!("cpu"))
    );
    assert!(
        answer["gpubench"]["seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds >= 0.0)
    );
    for (before, task) in [first, second].iter().enumerate() {
        let answer = state(task);
        assert_eq!(
            (&answer["status"], &answer["gpubench"]["before"]),
            (&json!("pending"), &json!(before))
        );
    }
    let health = server.door.get("/health").json();
    assert_eq!(
        health,
        json!({"status": "ok", "workers": [{"device": "cpu", "healthy": true}], "queue_size": 2})
    );
    // A wait ends without a result.
    assert_eq!(
        server.door.get(&format!("/tasks/{running}?timeout=0.1")).json()["status"],
        "running"
    );
}

#[test]
fn each_device_has_one_task_at_once() {
    let place = Place::new();
    let server = place.serve(&["--device", "cuda:0", "--device", "cuda:1"]);
    let tasks: Vec<String> = (0..8).map(|_| server.submit("sleep 0.1")).collect();
    for task in &tasks {
        assert_eq!(server.result(task)["status"], "completed");
    }
    for device in ["cuda:0", "cuda:1"] {
        let events: Vec<_> = place.done().into_iter().filter(|event| event[2] == device).collect();
        assert!(events.len() >= 2, "{device} had nothing to do");
        for pair in events.chunks(2) {
            assert_eq!(
                (&*pair[0][0], &*pair[1][0], &pair[0][1]),
                ("begin", "end", &pair[1][1]),
                "{events:?}"
            );
        }
    }
}

#[test]
fn a_full_queue_refuses_tasks_and_says_when_to_come_again() {
    let place = Place::new();
    let server = place.serve(&["--queue", "2"]);
    server.submit("hang");
    crate::server::wait_until("it runs", || place.done().len() == 1);
    let waiting = [server.submit("pass"), server.submit("pass")];
    let answer = server.door.post("/evaluate", request("pass").to_string());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.head.contains("\r\nretry-after: 5"), "{answer:?}");
    assert_eq!(
        std::fs::read_dir(place.path("spool/tasks")).expect("a folder").count(),
        3
    );
    assert_eq!(
        server.door.get(&format!("/tasks/{}", waiting[1])).json()["status"],
        "pending"
    );
}

#[test]
fn the_oldest_results_are_dropped() {
    let place = Place::new();
    let server = place.serve(&["--keep", "2"]);
    let tasks: Vec<String> = (0..4).map(|_| server.submit("pass")).collect();
    server.result(&tasks[3]);
    let statuses: Vec<u16> = tasks
        .iter()
        .map(|task| server.door.get(&format!("/tasks/{task}")).status)
        .collect();
    assert_eq!(statuses, [404, 404, 200, 200]);
    assert_eq!(
        std::fs::read_dir(place.path("spool/results"))
            .expect("a folder")
            .count(),
        2
    );
    server.kill();
    let server = place.serve(&["--keep", "1"]);
    let statuses: Vec<u16> = tasks
        .iter()
        .map(|task| server.door.get(&format!("/tasks/{task}")).status)
        .collect();
    assert_eq!(statuses, [404, 404, 404, 200]);
}
