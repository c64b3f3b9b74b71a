//! The command lines of the guide.

use std::path::Path;
use std::process::Command;

#[test]
fn every_command_line_of_the_guide_is_valid() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/serving.md");
    let text = std::fs::read_to_string(guide).expect("the guide");
    let starts = ["$ gpubench-serve ", "ExecStart=/usr/local/bin/gpubench-serve "];
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| starts.iter().find_map(|start| line.strip_prefix(start)))
        .collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench-serve"));
        // The folders are not here, which is only seen when all options are valid.
        let output = command
            .args(line.split(' '))
            .args(["--tool", "/bin/sh"])
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot read `"), "{line}: {said}");
    }
}
