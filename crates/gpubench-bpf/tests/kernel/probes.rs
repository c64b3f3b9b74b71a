//! Programs on functions of a library.

use std::process::{Command, Stdio};

use Register::{R0, R1, R2, R3, R6, R7, R8, R10};
use gpubench_bpf::elf::Library;
use gpubench_bpf::{
    Assembler, AttachType, Condition, HeldChild, Helper, KernelTypes, Link, Map, MapKind, Moment, ProbePoint, Program,
    ProgramKind, Register, Registers, Ring, Width, Within,
};

use crate::target::{Target, may_probe};

/// Adds 1 to the entry of a map that the cookie names.
fn counting(counts: &Map) -> Assembler {
    let mut code = Assembler::new();
    let end = code.label();
    code.call(Helper::AttachCookie);
    code.store(Width::Word, R10, -4, R0);
    code.address(R2, R10, -4).set_map(R1, counts).call(Helper::MapLookup);
    code.jump_if(R0, Condition::Equal, 0, end);
    code.set(R1, 1).atomic_add(R0, 0, R1);
    code.place(end).set(R0, 0).exit();
    code
}

/// Writes the cookie and the first argument to a ring, and counts what finds no room.
fn recording(ring: &Ring, lost: &Map) -> Assembler {
    let mut code = Assembler::new();
    let (full, end) = (code.label(), code.label());
    code.set(R6, R1).call(Helper::AttachCookie).set(R7, R0);
    code.load(Width::Double, R8, R6, Registers::HERE.arguments[0]);
    code.set_map(R1, ring.map())
        .set(R2, 16)
        .set(R3, 0)
        .call(Helper::RingReserve);
    code.jump_if(R0, Condition::Equal, 0, full);
    code.store(Width::Double, R0, 0, R7).store(Width::Double, R0, 8, R8);
    code.set(R1, R0).set(R2, 1).call(Helper::RingSubmit).jump(end);
    code.place(full);
    code.store(Width::Word, R10, -4, 0);
    code.address(R2, R10, -4).set_map(R1, lost).call(Helper::MapLookup);
    code.jump_if(R0, Condition::Equal, 0, end);
    code.set(R1, 1).atomic_add(R0, 0, R1);
    code.place(end).set(R0, 0).exit();
    code
}

fn points(target: &Target) -> Vec<ProbePoint> {
    let library = Library::read(&target.library(), |name| name.starts_with("counted")).expect("a library");
    let names: Vec<_> = library
        .functions
        .iter()
        .map(|function| function.name.as_str())
        .collect();
    assert_eq!(names, ["counted", "counted_push", "counted_sub"]);
    let sites = library.functions.iter().enumerate();
    sites
        .map(|(index, function)| ProbePoint {
            offset: function.site.offset,
            cookie: index as u64,
        })
        .collect()
}

fn count(map: &Map, index: u32) -> u64 {
    let value = map.lookup(&index.to_ne_bytes()).expect("it can be read");
    u64::from_ne_bytes(value.expect("it is there").try_into().expect("8 bytes"))
}

fn run(target: &Target, calls: u64, threads: u64) {
    let mut command = Command::new(target.program());
    command
        .args([calls.to_string(), threads.to_string()])
        .stdout(Stdio::null());
    assert!(command.status().expect("it runs").success());
}

#[test]
fn every_call_of_every_thread_is_counted_at_entry_and_return() {
    if !may_probe("every_call_of_every_thread_is_counted_at_entry_and_return") {
        return;
    }
    let target = Target::build();
    let counts = Map::create(MapKind::Array, 4, 8, 3, "counts").expect("a map");
    let returns = Map::create(MapKind::Array, 4, 8, 3, "returns").expect("a map");
    let load = |map| Program::load(ProgramKind::Probe, AttachType::UprobeMulti, "count", counting(map));
    let (entry, exit) = (load(&counts).expect("it loads"), load(&returns).expect("it loads"));
    let points = points(&target);
    let links = [
        Link::uprobe_multi(&exit, &target.library(), &points, Moment::Return, Within::AllProcesses)
            .expect("it attaches"),
        Link::uprobe_multi(&entry, &target.library(), &points, Moment::Entry, Within::AllProcesses)
            .expect("it attaches"),
    ];
    run(&target, 500, 4);
    for index in 0..3 {
        assert_eq!((count(&counts, index), count(&returns, index)), (2000, 2000), "{index}");
    }
    drop(links);
    run(&target, 500, 1);
    assert_eq!(count(&counts, 0), 2000, "nothing is counted after the detachment");
}

#[test]
fn a_probe_of_one_process_runs_for_its_threads_and_for_nobody_else() {
    if !may_probe("a_probe_of_one_process_runs_for_its_threads_and_for_nobody_else") {
        return;
    }
    let target = Target::build();
    let counts = Map::create(MapKind::Array, 4, 8, 3, "counts").expect("a map");
    let code = counting(&counts);
    let program = Program::load(ProgramKind::Probe, AttachType::UprobeMulti, "count", code).expect("it loads");
    let mut command = Command::new(target.program());
    command.args(["100", "4"]).stdout(Stdio::null());
    let held = HeldChild::start(command).expect("it is held");
    let within = Within::process(held.pid());
    let link = Link::uprobe_multi(&program, &target.library(), &points(&target), Moment::Entry, within);
    let _link = link.expect("it attaches");
    if within != Within::AllProcesses {
        run(&target, 500, 1);
    }
    assert!(held.release().expect("it runs").wait().expect("it ends").success());
    assert_eq!([0, 1, 2].map(|index| count(&counts, index)), [400; 3]);
}

#[test]
fn probes_of_old_kernels_count_the_same() {
    if !may_probe("probes_of_old_kernels_count_the_same") {
        return;
    }
    let target = Target::build();
    let counts = Map::create(MapKind::Array, 4, 8, 3, "counts").expect("a map");
    let returns = Map::create(MapKind::Array, 4, 8, 3, "returns").expect("a map");
    let load = |map| Program::load(ProgramKind::Probe, AttachType::Plain, "count", counting(map));
    let (entry, exit) = (load(&counts).expect("it loads"), load(&returns).expect("it loads"));
    let point = points(&target)[1];
    let _links = [
        Link::uprobe(&entry, &target.library(), point, Moment::Entry).expect("it attaches"),
        Link::uprobe(&exit, &target.library(), point, Moment::Return).expect("it attaches"),
    ];
    run(&target, 100, 2);
    assert_eq!((count(&counts, 1), count(&returns, 1)), (200, 200));
}

#[test]
fn records_arrive_in_order_and_those_without_room_are_counted() {
    if !may_probe("records_arrive_in_order_and_those_without_room_are_counted") {
        return;
    }
    let target = Target::build();
    let mut ring = Ring::create(4096).expect("a ring");
    let lost = Map::create(MapKind::Array, 4, 8, 1, "lost").expect("a map");
    let code = recording(&ring, &lost);
    let program = Program::load(ProgramKind::Probe, AttachType::UprobeMulti, "record", code).expect("it loads");
    let point = points(&target)[1];
    let _link = Link::uprobe_multi(
        &program,
        &target.library(),
        &[point],
        Moment::Entry,
        Within::AllProcesses,
    )
    .expect("it attaches");
    run(&target, 1000, 1);
    let mut values = Vec::new();
    let read = ring.drain(&mut |record| {
        let words = record
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        values.push(words.collect::<Vec<_>>());
    });
    assert_eq!(read as u64 + count(&lost, 0), 1000);
    assert!(read >= 100 && count(&lost, 0) > 0, "{read} fit into a page");
    let first: Vec<Vec<u64>> = (0..read as u64).map(|call| vec![1, call]).collect();
    assert_eq!(values, first);
    run(&target, 20, 1);
    assert_eq!(ring.drain(&mut |_| {}), 20, "there is room again");
}

#[test]
fn a_program_that_the_verifier_rejects_is_told_with_its_log() {
    if !may_probe("a_program_that_the_verifier_rejects_is_told_with_its_log") {
        return;
    }
    let mut code = Assembler::new();
    code.load(Width::Double, R0, R10, 8).exit();
    let error = Program::load(ProgramKind::Probe, AttachType::Plain, "outside", code).expect_err("it is rejected");
    assert!(
        error
            .to_string()
            .starts_with("the kernel rejects the program `outside`: ")
    );
    assert!(error.to_string().contains("stack"), "{error}");
}

#[test]
fn the_kernel_describes_the_members_that_processes_are_followed_by() {
    if !may_probe("the_kernel_describes_the_members_that_processes_are_followed_by") {
        return;
    }
    let types = KernelTypes::load().expect("types");
    for (structure, path) in [
        ("task_struct", "tgid"),
        ("task_struct", "signal"),
        ("signal_struct", "live.counter"),
        ("task_struct", "mm"),
        ("mm_struct", "arg_start"),
        ("mm_struct", "exe_file"),
        ("file", "f_path.dentry"),
        ("dentry", "d_name.name"),
        ("linux_binprm", "filename"),
    ] {
        types.offset(structure, path).unwrap_or_else(|error| panic!("{error}"));
    }
}
