//! Files that are named like the driver and are none.

use gpubench_observe::{Observer, Target};

use crate::double::{Seen, Stubs, driver_folder, may_observe, of_assembly, program};

#[test]
fn a_file_that_the_kernel_refuses_to_probe_does_not_end_the_observation_of_others() {
    if !may_observe("a_file_that_the_kernel_refuses_to_probe_does_not_end_the_observation_of_others") {
        return;
    }
    // The kernel puts no probe on another breakpoint.
    let trap = if cfg!(target_arch = "x86_64") { "int3" } else { "brk #0" };
    let folder = of_assembly(&format!(
        ".globl cuMemAlloc_v2\n.type cuMemAlloc_v2, %function\ncuMemAlloc_v2: {trap}\n ret\n.size cuMemAlloc_v2, 8"
    ));
    let impostor = folder.path().join("libcuda.so.1");
    // It looks at an instruction once a process has it in its memory.
    let mut user = std::process::Command::new("sleep")
        .arg("60")
        .env("LD_PRELOAD", &impostor)
        .spawn()
        .expect("it starts");
    let maps = format!("/proc/{}/maps", user.id());
    while !std::fs::read_to_string(&maps)
        .expect("it runs")
        .contains("libcuda.so.1")
    {
        std::thread::yield_now();
    }
    let mut command = program("dynamic", Stubs::Call, &["short"]);
    let folders = [driver_folder(Stubs::Call), folder.path().to_owned()];
    command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).expect("paths"));
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let refused: Vec<_> = observer.refused().map(|(path, _)| path.to_owned()).collect();
    observer.child().expect("a child").wait().expect("it ends");
    user.kill().expect("it is ours");
    user.wait().expect("it ends");
    assert_eq!(refused, [impostor]);
    assert_eq!(Seen::rest(&mut observer).launched_names(), ["short_lived"]);
}
