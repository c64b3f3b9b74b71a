//! The open case.

use std::os::fd::OwnedFd;

use gpubench::catalog::Recording;

use super::RefereeError;
use super::buffers::{self, Buffer};
use crate::device::harness::Harness;
use crate::device::{DevicePtr, Driver, Stream};
use crate::window::Seeds;
use crate::wire::{BufferLayout, FlushKind, SharedPage};

/// What the referee holds for the whole run.
pub(super) struct Referee {
    pub(super) driver: Box<dyn Driver>,
    pub(super) harness: Harness,
    pub(super) stream: Stream,
    pub(super) seeds: Seeds,
    pub(super) flush: Flush,
    /// Room for two stamps of the clock, in private memory.
    pub(super) stamps: DevicePtr,
    /// Room for the two keys of a digest and the digest, in private memory.
    pub(super) digest: DevicePtr,
}

/// The buffer that a cache flush goes through.
pub(super) struct Flush {
    pub(super) buffer: DevicePtr,
    pub(super) bytes: u64,
    pub(super) kind: FlushKind,
}

impl Flush {
    /// Makes the buffer. It is written once: memory that nobody has written may be one and the same page over and over, and reading that evicts nothing.
    pub(super) fn new(
        driver: &mut dyn Driver,
        harness: &Harness,
        stream: Stream,
        bytes: u64,
        kind: FlushKind,
    ) -> Result<Flush, RefereeError> {
        let buffer = driver.alloc(bytes)?;
        harness.noise(driver, stream, buffer, bytes, 0, 0)?;
        driver.synchronize(stream)?;
        Ok(Flush { buffer, bytes, kind })
    }
}

/// The open case: its buffers, and the page shared with its worker.
pub(super) struct OpenCase {
    pub(super) number: u64,
    pub(super) recording: Recording,
    pub(super) buffers: Vec<Buffer>,
    pub(super) page: SharedPage,
}

impl OpenCase {
    pub(super) fn open(referee: &mut Referee, number: u64, recording: Recording) -> Result<OpenCase, RefereeError> {
        let buffers = buffers::for_recording(&mut *referee.driver, &recording)?;
        let page = SharedPage::create().map_err(RefereeError::Page)?;
        Ok(OpenCase {
            number,
            recording,
            buffers,
            page,
        })
    }

    /// Where every buffer lies.
    pub(super) fn layouts(&self) -> Vec<BufferLayout> {
        self.buffers.iter().map(|buffer| buffer.layout).collect()
    }

    /// Descriptors for the worker: the page, then every buffer.
    pub(super) fn worker_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        let page = std::os::fd::AsFd::as_fd(&self.page)
            .try_clone_to_owned()
            .map_err(RefereeError::Page)?;
        let mut descriptors = vec![page];
        for buffer in &self.buffers {
            descriptors.push(driver.export(buffer.shared.memory)?);
        }
        Ok(descriptors)
    }

    /// Descriptors for the author, tensor by tensor: contents of an input, answer of an output, or both in this order.
    pub(super) fn author_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        let mut descriptors = Vec::new();
        for buffer in &self.buffers[..self.recording.tensors.len()] {
            if let Some(masters) = buffer.masters() {
                descriptors.push(driver.export(masters.author.memory)?);
            }
            if let Some(answers) = buffer.answers() {
                descriptors.push(driver.export(answers.author.memory)?);
            }
        }
        Ok(descriptors)
    }

    /// Gives every buffer back.
    pub(super) fn close(self, driver: &mut dyn Driver) {
        self.buffers.into_iter().for_each(|buffer| buffer.release(driver));
    }
}
