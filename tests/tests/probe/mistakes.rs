//! What a user can do wrong.

use crate::double::{probe, stderr};

#[test]
fn what_cannot_be_observed_has_a_hint() {
    let output = probe(&["--pid", "4194304"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("there is no process 4194304"),
        "{}",
        stderr(&output)
    );
    let output = probe(&[]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--system"), "{}", stderr(&output));
}

#[test]
fn a_program_that_does_not_start_is_a_mistake_in_the_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("script");
    std::fs::write(&file, "no program").expect("a file");
    let file = file.to_str().expect("text");
    for (program, error, hint) in [
        ("/no/such", "No such file or directory", "check the spelling"),
        ("no-such-program", "No such file or directory", "check the spelling"),
        ("python train.py", "No such file or directory", "as separate words"),
        (file, "Permission denied", "chmod +x"),
    ] {
        let output = probe(&["--", program]).output().expect("it runs");
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        for wanted in [
            format!("`{program}` cannot be started"),
            error.to_owned(),
            hint.to_owned(),
        ] {
            assert!(text.contains(&wanted), "{wanted}: {text}");
        }
    }
}
