//! A crate with two benchmarks of the same name.

#[path = "abi/client.rs"]
#[allow(dead_code)]
mod client;

use gpubench::prelude::*;

#[gpubench]
fn copy(_cx: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(name = "copy")]
fn another_copy(_cx: &mut Launcher) -> Result<()> {
    Ok(())
}

#[test]
fn two_benchmarks_of_the_same_name_are_rejected_with_their_locations() {
    let (status, message) = client::try_catalog().unwrap_err();
    assert_eq!(status, gpubench::abi::Status::Failed);
    assert!(message.starts_with("two benchmarks are named `copy`: at "), "{message}");
    assert_eq!(message.matches("duplicate_names.rs:").count(), 2, "{message}");
}
