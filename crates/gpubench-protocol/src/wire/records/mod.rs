//! The records of fixed size between the roles, and the kinds of frames.
//!
//! `frames` defines the record of each frame. `device`, `case`, `worker` and `author` have orders
//! of the broker; `claim` and `facts` have the results of worker and referee. `kernel`,
//! `differences` and `contents` have questions to the referee.

mod author;
mod case;
mod check;
mod claim;
mod contents;
mod device;
mod device_work;
mod differences;
mod facts;
mod frames;
mod kernel;
mod worker;

pub use author::*;
pub use case::*;
pub use check::*;
pub use claim::*;
pub use contents::*;
pub use device::*;
pub use device_work::*;
pub use differences::*;
pub use facts::*;
pub use frames::*;
pub use kernel::*;
pub use worker::*;

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use gpubench_device::DeviceOrder;

    use super::*;
    use crate::wire::{ChannelError, Frame};

    /// Reads a record with a number at one offset. From the third on, its other words are 1: counts
    /// are not 0.
    fn read<R: bytemuck::CheckedBitPattern>(position: usize, number: u32) -> Result<R, ChannelError> {
        let mut payload = vec![0; size_of::<R>()];
        payload.iter_mut().step_by(4).skip(2).for_each(|byte| *byte = 1);
        payload[position..position + size_of::<u32>()].copy_from_slice(&number.to_le_bytes());
        let frame = Frame {
            kind: 0,
            payload,
            descriptors: Vec::new(),
        };
        frame.record()
    }

    macro_rules! refuses_others {
        ($($record:ident at $position:expr => $known:pat,)*) => {$(
            for number in (0..100).chain([u32::MAX]) {
                let is_read = read::<$record>($position, number).is_ok();
                assert_eq!(is_read, matches!(number, $known), "{number} in `{}`", stringify!($record));
            }
        )*};
    }

    #[test]
    fn a_record_with_an_unknown_code_is_rejected() {
        const KIND_OF_DEVICE: usize = 0;
        refuses_others! {
            AbsentDevice at offset_of!(AbsentDevice, kind) => 0..=2,
            Attach at offset_of!(Attach, kernels_run_in) => 0..=1,
            Begin at offset_of!(Begin, flush_kind) => 0..=1,
            Claim at offset_of!(Claim, fault) => 0..=11 | 32 | 33,
            Claim at offset_of!(Claim, place) => 0..=2,
            Claim at offset_of!(Claim, progress) => 0..=2,
            ContentsOrder at offset_of!(ContentsOrder, contents) => 0..=2,
            DeviceOrder at KIND_OF_DEVICE => 0..=1,
            OpenCase at offset_of!(OpenCase, workers_of_case) => 0..=1,
            SandboxReport at offset_of!(SandboxReport, state) => 0..=1,
            WindowFacts at offset_of!(WindowFacts, end) => 0..=2,
            WindowFacts at offset_of!(WindowFacts, gate) => 0..=1,
            WindowFacts at offset_of!(WindowFacts, kind) => 0..=7,
            WindowOrder at offset_of!(WindowOrder, gate) => 0..=1,
            WindowOrder at offset_of!(WindowOrder, kind) => 0..=7,
            WorkerSetup at offset_of!(WorkerSetup, metric) => 0..=4,
            WorkerSetup at offset_of!(WorkerSetup, device) + KIND_OF_DEVICE => 0..=1,
            WorkerSetup at offset_of!(WorkerSetup, observer) => 0..=3,
        }
    }

    #[test]
    fn unknown_codes_in_output_facts_mean_none() {
        let output = OutputFacts {
            replay: u64::MAX,
            old_answer: u64::MAX,
            zeros: u64::MAX,
            ..bytemuck::Zeroable::zeroed()
        };
        assert_eq!(
            (output.replay(), output.old_answer(), output.zeros()),
            (Replay::None, OtherAnswer::NotAsked, OtherAnswer::NotAsked)
        );
    }
}
