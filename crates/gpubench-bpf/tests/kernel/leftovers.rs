//! What stays in the kernel when a process that observes is killed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use gpubench_bpf::{
    Assembler, AttachType, Inventory, Link, Map, MapKind, Moment, ProbePoint, Program, ProgramKind, Register, Ring,
    Within, owned_by,
};

use crate::target::{Target, may_probe};

/// Names the library, for the copy of this program that attaches and then waits to be killed.
const LIBRARY: &str = "GPUBENCH_TEST_LIBRARY";

#[test]
fn nothing_stays_attached_after_kill_9() {
    if let Some(library) = std::env::var_os(LIBRARY) {
        attach_and_wait(library.as_ref());
    }
    if !may_probe("nothing_stays_attached_after_kill_9") {
        return;
    }
    let target = Target::build();
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "leftovers::nothing_stays_attached_after_kill_9",
            "--nocapture",
        ])
        .env(LIBRARY, target.library())
        .current_dir(target.folder())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let attached = lines.map_while(Result::ok).any(|line| line.contains("attached"));
    assert!(attached, "it attaches");
    let owned = owned_by(child.id());
    assert_eq!((owned.programs.len(), owned.links.len()), (1, 1), "{owned:?}");
    assert!(owned.maps.len() == 2, "{owned:?}");
    let before = Inventory::of_the_kernel().expect("a list");
    assert_eq!(before.and(&owned), owned, "the kernel has them");
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    // The kernel frees programs and maps a moment after the last descriptor.
    let left = || Inventory::of_the_kernel().expect("a list").and(&owned);
    let is_gone = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(25));
        left().is_empty()
    });
    assert!(is_gone, "{:?}", left());
}

fn attach_and_wait(library: &std::path::Path) -> ! {
    let _ring = Ring::create(4096).expect("a ring");
    let _map = Map::create(MapKind::Array, 4, 8, 1, "count").expect("a map");
    let mut code = Assembler::new();
    code.set(Register::R0, 0).exit();
    let program = Program::load(ProgramKind::Probe, AttachType::UprobeMulti, "nothing", code).expect("it loads");
    let functions = gpubench_bpf::elf::Library::read(library, |name| name == "counted").expect("a library");
    let offset = functions.functions[0].site.offset;
    let point = ProbePoint { offset, cookie: 0 };
    let _link =
        Link::uprobe_multi(&program, library, &[point], Moment::Entry, Within::AllProcesses).expect("it attaches");
    println!("attached");
    loop {
        std::thread::park();
    }
}
