//! Hosted benchmarks through the table.

#![allow(unsafe_code)]

use gpubench::abi::Status;
use gpubench::catalog::Execution;
use gpubench::plan::Plan;

use crate::client::{Memory, host_call, params, record};

mod cases {
    use gpubench::prelude::*;

    #[problem(
        axes(n = [8]),
        tensors = Tensors::new().input("x", u32::shape(n), Bits).scratch("spare", u8::shape(3)).output("y", u32::shape(n)),
    )]
    fn next(n: usize, x: &[u32], y: &mut [u32]) {
        for i in 0..n {
            y[i] = x[i].wrapping_add(1);
        }
    }

    #[gpubench(hosted, problem = next)]
    fn counts_on(host: &mut Host, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
        assert_eq!((host.ordinal(), host.stream().is_null()), (3, true));
        let (x, y, mut calls) = (host.pointer(x), host.pointer_mut(y.range(1..)), 0);
        host.call(move || {
            calls += 1;
            if calls == 3 {
                panic!("three calls are too many");
            }
            for i in 1..n {
                // SAFETY: both buffers have `n` elements.
                unsafe { *y.add(i - 1) = *x.add(i) + calls };
            }
            Ok(())
        })
    }

    #[gpubench(hosted, problem = next)]
    fn declares_nothing(_cx: &mut Host) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_hosted_benchmark_is_recorded_without_being_called() {
    let recording = record("hosted::cases::declares_nothing", params([("n", 8)])).unwrap();
    assert_eq!(
        (recording.execution, recording.plan),
        (Execution::Hosted, Plan::default())
    );
    assert_eq!(recording.tensors.len(), 3);
}

#[test]
fn a_call_uses_the_memory_of_the_setup_and_keeps_its_state() {
    let mut memory = Memory::new("hosted::cases::counts_on", params([("n", 8)]));
    let state = memory.host_open().unwrap();
    host_call(state).unwrap();
    assert_eq!(memory.u32s("y"), [0, 1, 1, 1, 1, 1, 1, 1]);
    host_call(state).unwrap();
    assert_eq!(memory.u32s("y"), [0, 2, 2, 2, 2, 2, 2, 2]);
    let (status, message) = host_call(state).unwrap_err();
    assert_eq!(status, Status::Panicked);
    assert!(message.starts_with("three calls are too many (at "), "{message}");
}

#[test]
fn a_setup_that_declares_no_call_fails() {
    let mut memory = Memory::new("hosted::cases::declares_nothing", params([("n", 8)]));
    let (status, message) = memory.host_open().unwrap_err();
    assert_eq!(status, Status::Failed);
    assert!(
        message.contains("`hosted::cases::declares_nothing` declares nothing to measure"),
        "{message}"
    );
}

#[test]
fn a_benchmark_with_a_plan_cannot_be_hosted() {
    let mut memory = Memory::new("image::grayscale", params([("width", 2), ("height", 2)]));
    let (_, message) = memory.host_open().unwrap_err();
    assert_eq!(message, "`image::grayscale` has no host code in this library");
}
