//! The `cargo gpubench` command.

fn main() {}
