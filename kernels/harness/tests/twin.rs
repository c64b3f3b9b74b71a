//! `gb_twin`, which accesses a case's buffers in place of a call.

#![allow(unsafe_code)]

mod driver;

use driver::{GEOMETRIES, address_mut, launch};
use gpubench_harness::arguments::{TwinArguments, TwinBuffer};
use gpubench_harness::bindings::{GB_TWIN_READ, GB_TWIN_WRITE};
use gpubench_harness::{Geometry, bindings};

const BYTES: usize = 100_000;
const UNTOUCHED: u64 = 0x5555_5555_5555_5555;

/// Returns two buffers after a twin in `parts` launches.
fn touched(access: u32, parts: u64, geometry: Geometry) -> [Vec<u64>; 2] {
    let mut buffers = [vec![UNTOUCHED; BYTES / 8], vec![UNTOUCHED; 31]];
    let mut sink = 0_u64;
    let mut arguments = TwinArguments {
        count: 2,
        parts,
        sink: std::ptr::from_mut(&mut sink) as u64,
        ..TwinArguments::default()
    };
    for (slot, buffer) in arguments.buffers.iter_mut().zip(&mut buffers) {
        *slot = TwinBuffer {
            ptr: address_mut(buffer),
            bytes: 8 * buffer.len() as u64,
            access: u64::from(access),
        };
    }
    for part in 0..parts {
        // SAFETY: all buffers have the given sizes, and the sink has a word.
        unsafe { launch(&TwinArguments { part, ..arguments }, geometry) };
    }
    buffers
}

#[test]
fn a_written_buffer_is_written_completely_for_any_number_of_parts() {
    for geometry in GEOMETRIES {
        for parts in [1, 2, 3, 50] {
            for access in [GB_TWIN_WRITE, GB_TWIN_READ | GB_TWIN_WRITE] {
                let [large, small] = touched(access, parts, geometry);
                assert!(!large.contains(&UNTOUCHED), "{parts} parts");
                // 248 bytes: fifteen runs of 16, and a remainder that is left out.
                let (runs, rest) = small.split_at(30);
                assert!(!runs.contains(&UNTOUCHED) && rest == [UNTOUCHED], "{parts} parts");
            }
        }
    }
}

#[test]
fn a_read_buffer_is_unchanged() {
    for geometry in GEOMETRIES {
        let buffers = touched(bindings::GB_TWIN_READ, 3, geometry);
        assert!(buffers.iter().flatten().all(|word| *word == UNTOUCHED));
    }
}
