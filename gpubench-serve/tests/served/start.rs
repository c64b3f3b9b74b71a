//! Starts that are refused, and where a server listens.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;

use crate::server::Place;

#[test]
fn a_start_is_refused_with_a_hint() {
    let place = Place::new();
    let at = |name: &str| place.path(name).to_str().expect("text").to_owned();
    std::fs::write(at("file"), "").expect("written");
    std::os::unix::fs::symlink(at("file"), at("link")).expect("a link");
    std::fs::create_dir(at("open")).expect("a folder");
    std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let long = format!("unix:{}", "a".repeat(200));
    for (arguments, code, words) in [
        (
            &["--listen", "0.0.0.0:0"][..],
            2,
            "other machines could reach it (hint: ",
        ),
        (&["--listen", "8000"], 2, "unix:FILE"),
        (&["--listen", &long], 2, "cannot listen on `unix:aaa"),
        (
            &["--listen", &format!("unix:{}", at("file"))],
            2,
            "no socket\n(hint: name another file)",
        ),
        (
            &["--tool", &at("file")],
            96,
            "cannot be run\n(hint: `cargo install --locked cargo-gpubench`",
        ),
        (&["--tool", "/nowhere"], 96, "`/nowhere`, the program that grades"),
        (&["--timeout", "x"], 2, "from `1s` to `24h`"),
        (&["--device", "--help"], 2, "--device"),
        (
            &["--device", "cpu", "--device", "cpu"],
            2,
            "the device `cpu` is given twice",
        ),
    ] {
        let (status, printed) = place.refused(arguments);
        assert!(
            status == Some(code) && printed.contains(words),
            "{arguments:?}: {status:?} {printed}"
        );
    }
    for (option, name, words) in [
        ("--spool", "file", "it is a link or no folder"),
        ("--spool", "link", "it is a link or no folder"),
        ("--spool", "open", "other users can look into it"),
        ("--spool", "no/folder", "cannot use the spool"),
        ("--dataset", "nothing", "cannot read"),
        (
            "--dataset",
            "open",
            "(hint: `--dataset` is a folder with `definitions/KIND/NAME.json`",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench-serve"));
        command.args(["--listen", "127.0.0.1:0", "--tool", "/bin/sh", option, &at(name)]);
        let (other, value) = if option == "--spool" {
            ("--dataset", at("dataset"))
        } else {
            ("--spool", at("spool"))
        };
        let output = command.args([other, &value]).output().expect("it starts");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && printed.contains(words),
            "{option} {name}: {printed}"
        );
    }
}

#[test]
fn documents_that_cannot_be_read_are_left_out_and_names_that_occur_twice_are_refused() {
    let place = Place::new();
    let definitions = place.path("dataset/definitions/elementwise");
    std::fs::write(definitions.join("torn.json"), "{").expect("written");
    std::fs::write(place.path("dataset/workloads/torn.jsonl"), [0xff, 0xfe]).expect("written");
    let server = place.serve(&[]);
    assert_eq!(server.result(&server.submit("pass"))["status"], "completed");
    let (_, log) = server.end("-TERM");
    assert!(
        log.contains("torn.json` is left out: line 1: EOF") && log.contains("torn.jsonl` is left out: it is not"),
        "{log}"
    );
    std::fs::copy(definitions.join("double.json"), definitions.join("again.json")).expect("copied");
    assert!(
        place
            .refused(&[])
            .1
            .contains("have the name `double`\n(hint: remove one of them)")
    );
    std::fs::remove_file(definitions.join("again.json")).expect("removed");
    let workloads = place.path("dataset/workloads/elementwise");
    std::fs::copy(workloads.join("double.jsonl"), workloads.join("again.jsonl")).expect("copied");
    assert!(
        place
            .refused(&[])
            .1
            .contains("two workloads of `double` have the uuid `small`")
    );
}

#[test]
fn a_spool_has_one_server() {
    let place = Place::new();
    let server = place.serve(&[]);
    let (code, printed) = place.refused(&[]);
    assert!(
        code == Some(2) && printed.contains("another server uses the spool"),
        "{printed}"
    );
    server.kill();
    place.serve(&[]);
}

#[test]
fn only_the_user_of_the_server_opens_its_socket_and_its_spool() {
    let place = Place::new();
    let socket = place.path("judge");
    let listen = format!("unix:{}", socket.display());
    let server = place.serve(&["--listen", &listen]);
    let mode = |path: &str| std::fs::symlink_metadata(place.path(path)).expect("it is there").mode() & 0o777;
    assert_eq!(mode("judge"), 0o600);
    let task = server.submit("pass");
    assert_eq!(server.result(&task)["status"], "completed");
    assert_eq!(
        (mode("spool"), mode("spool/tasks"), mode("spool/lock")),
        (0o700, 0o700, 0o600)
    );
    assert_eq!(mode(&format!("spool/results/{task}.json")), 0o600);
    a_stranger_is_refused(&place);
    // A socket that answers belongs to a server, and one that does not is left from one.
    let other = Place::new();
    let (_, printed) = other.refused(&["--listen", &listen]);
    assert!(printed.contains("another server listens on"), "{printed}");
    server.kill();
    assert!(socket.exists());
    let server = place.serve(&["--listen", &listen]);
    assert_eq!(server.result(&task)["status"], "completed");
    server.end("-TERM");
    assert!(!socket.exists());
}

/// Connects as another user, if this one may become one.
fn a_stranger_is_refused(place: &Place) {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the test of a stranger needs root");
        return;
    }
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a mode")
    };
    open(place.folder.path());
    let connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])";
    let stranger = |command: &[&std::ffi::OsStr]| {
        let output = Command::new("setpriv")
            .args(["--reuid", "4242", "--regid", "4242", "--clear-groups"])
            .args(command)
            .output();
        let output = output.expect("setpriv runs");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let (socket, spool) = (place.path("judge"), place.path("spool"));
    let connected = stranger(&[
        "/usr/bin/python3".as_ref(),
        "-c".as_ref(),
        connect.as_ref(),
        socket.as_os_str(),
    ]);
    assert!(connected.contains("PermissionError"), "{connected}");
    assert!(stranger(&["ls".as_ref(), spool.as_os_str()]).contains("Permission denied"));
    // Root's rights are not for whoever starts the program.
    let program = place.path("gpubench-serve");
    std::fs::copy(env!("CARGO_BIN_EXE_gpubench-serve"), &program).expect("copied");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).expect("a mode");
    let said = stranger(&[program.as_os_str(), "--help".as_ref()]);
    assert!(
        said.contains("rights that its caller lacks") && said.contains("(hint: remove"),
        "{said}"
    );
}

#[test]
fn paths_of_the_graders_options_begin_where_the_server_started() {
    let place = Place::new();
    std::fs::write(place.path("python"), "").expect("written");
    let server = place.serve(&["--", "--python", "./python"]);
    let result = server.result(&server.submit("pass"));
    assert_eq!(result["status"], "completed", "{result}");
}
