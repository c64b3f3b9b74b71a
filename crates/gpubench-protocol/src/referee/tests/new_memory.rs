//! Buffers in new memory, at the same addresses.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use super::super::new_memory::{EarlierMemory, Replaced};
use super::*;

/// Returns what tells the memory of the buffers apart from other memory.
fn identities(case: &OpenCase, referee: &mut Referee) -> Vec<u64> {
    let descriptors = case.shared_descriptors(&mut *referee.driver).unwrap();
    let files = descriptors.into_iter().map(File::from);
    files.map(|file| file.metadata().unwrap().ino()).collect()
}

impl Peer {
    /// Maps the case's memory in place of the memory so far.
    fn follow(&mut self, case: &OpenCase, referee: &mut Referee) {
        let descriptors = case.shared_descriptors(&mut *referee.driver).unwrap();
        for ((memory, descriptor), layout) in self.memories.iter_mut().zip(descriptors).zip(case.layouts()) {
            let new = self.driver.import(descriptor, layout.allocation).unwrap();
            self.driver.remap(*memory, new).unwrap();
            self.driver.release(*memory);
            *memory = new;
        }
    }
}

impl Stage {
    fn replace_memory(&mut self) {
        let replaced = self.referee.replace_memory(&mut self.case).unwrap();
        assert_eq!(replaced, Replaced::Now);
        self.peer.follow(&self.case, &mut self.referee);
    }
}

/// Returns all bytes of a buffer's allocation, with its redzones.
fn allocation(buffer: &Buffer, referee: &mut Referee) -> Vec<u8> {
    let mut bytes = vec![1; buffer.layout.allocation as usize];
    referee.driver.read(buffer.shared.address, &mut bytes).unwrap();
    bytes
}

#[test]
fn each_placement_has_other_memory_and_the_same_addresses() {
    let mut stage = Stage::set();
    let addresses = |stage: &Stage| stage.case.buffers().iter().map(Buffer::address).collect::<Vec<_>>();
    let before = addresses(&stage);
    let mut seen = std::collections::HashSet::new();
    for window in 1..=4 {
        let placed = identities(&stage.case, &mut stage.referee);
        assert!(placed.into_iter().all(|memory| seen.insert(memory)), "window {window}");
        let facts = stage.honest(window);
        assert_eq!(facts.outputs()[0].matched, ELEMENTS as u64, "window {window}");
        assert_eq!((facts.redzone_buffer, facts.outputs()[0].late_bytes), (NOWHERE, 0));
        stage.replace_memory();
        assert_eq!(addresses(&stage), before);
    }
}

#[test]
fn nothing_that_a_worker_wrote_is_in_new_memory() {
    let mut stage = Stage::set();
    stage.honest(1);
    let buffers = stage.case.buffers().to_vec();
    for buffer in &buffers {
        assert!(allocation(buffer, &mut stage.referee).iter().any(|byte| *byte != 0));
    }
    stage.replace_memory();
    for buffer in &buffers {
        assert!(allocation(buffer, &mut stage.referee).iter().all(|byte| *byte == 0));
    }
    // A call that writes nothing leaves the poison of its own window, not an earlier answer.
    let facts = stage.window(2, |_, _, _, _| ());
    assert_eq!((facts.outputs()[0].matched, facts.redzone_buffer), (0, NOWHERE));
}

#[test]
fn a_write_past_the_end_is_found_in_new_memory() {
    let mut stage = Stage::set();
    stage.honest(1);
    stage.replace_memory();
    let facts = stage.window(2, |driver, stream, x, y| {
        let bytes = 4 * ELEMENTS as u64;
        driver.copy(stream, y, x, bytes).unwrap();
        driver.set(stream, DevicePtr(y.0 - 8), 0, 8).unwrap();
    });
    let written = 1;
    assert_eq!(
        (facts.redzone_buffer, facts.outputs()[0].matched),
        (written, ELEMENTS as u64)
    );
}

#[test]
fn outputs_in_memory_of_an_earlier_placement_do_not_count() {
    let mut stage = Stage::set();
    stage.honest(1);
    assert_eq!(stage.referee.replace_memory(&mut stage.case).unwrap(), Replaced::Now);
    // The worker keeps the old memory, with the right answer of the window before in it.
    let facts = stage.honest(2);
    assert_eq!(facts.outputs()[0].matched, 0);
}

#[test]
fn without_memory_for_two_placements_the_buffers_stay_where_they_are() {
    // Memory for one placement, and for the first buffer of the next.
    let driver = FaultyDriver::with_memory_for(cpu(), 3);
    let mut referee = referee(Box::new(driver)).unwrap();
    let mut case = opened(&mut referee, recording());
    let before = identities(&case, &mut referee);
    for _ in 0..2 {
        let replaced = referee.replace_memory(&mut case).unwrap();
        assert_eq!(replaced, Replaced::NotForLackOfMemory);
        assert_eq!(identities(&case, &mut referee), before);
    }
}

#[test]
fn earlier_memory_is_kept_up_to_a_limit_and_released_with_the_case() {
    let mut driver = cpu();
    let mut earlier = EarlierMemory::default();
    let quarter = 1 << 27;
    let all: Vec<Memory> = (0..6).map(|_| driver.create(quarter).unwrap()).collect();
    for memory in &all {
        earlier.keep(*memory, quarter, &mut driver);
    }
    let are_there = |driver: &mut CpuDriver| {
        all.iter()
            .map(|memory| driver.export(*memory).is_ok())
            .collect::<Vec<_>>()
    };
    assert_eq!(are_there(&mut driver), [false, false, true, true, true, true]);
    earlier.release(&mut driver);
    assert_eq!(are_there(&mut driver), [false; 6]);
}
