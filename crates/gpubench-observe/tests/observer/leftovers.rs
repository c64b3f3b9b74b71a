//! What stays in the kernel when the observer is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use gpubench_bpf::{Inventory, owned_by};
use gpubench_observe::{Observer, Target};

use crate::double::{Stubs, driver_folder, may_observe};

/// Makes a copy of this program attach, and then wait to be killed.
const ATTACH: &str = "GPUBENCH_TEST_ATTACH";

#[test]
fn nothing_stays_attached_when_the_observer_is_killed() {
    if std::env::var_os(ATTACH).is_some() {
        let _observer = Observer::attach(Target::System).expect("it attaches");
        println!("attached");
        loop {
            std::thread::park();
        }
    }
    if !may_observe("nothing_stays_attached_when_the_observer_is_killed") {
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "leftovers::nothing_stays_attached_when_the_observer_is_killed",
            "--nocapture",
        ])
        .env(ATTACH, "1")
        .env("LD_LIBRARY_PATH", driver_folder(Stubs::Call))
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(
        lines.map_while(Result::ok).any(|line| line.contains("attached")),
        "it attaches"
    );
    let owned = owned_by(child.id());
    assert!(
        owned.programs.len() == 6 && owned.links.len() >= 6 && owned.maps.len() == 6,
        "{owned:?}"
    );
    assert_eq!(Inventory::of_the_kernel().expect("a list").and(&owned), owned);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    // The kernel frees programs and maps a moment after the last descriptor.
    let left = || Inventory::of_the_kernel().expect("a list").and(&owned);
    let is_gone = (0..400).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        left().is_empty()
    });
    assert!(is_gone, "{:?}", left());
}
