//! The author's process: it receives orders and sends answers.

use std::num::NonZeroUsize;
use std::os::fd::AsFd;

use gpubench::catalog::Recording;
use gpubench::codec;

use super::attached::{Attached, Attachment};
use super::stored_tensors::StoredTensors;
use crate::cdylib::{AuthorError, Library, Recorded};
use crate::wire::{
    Attach, AuthorFailure, BufferLayout, Channel, ChannelError, CheckOrder, Frame, Generate, Patience, SandboxReport,
    decode_modules, from_author, read_head, take_files, to_author,
};
use gpubench_sandbox::{ConfinedRole, Sandbox};

/// Closes the sandbox before it loads any code of the user. Then carries out the broker's orders
/// until `channel` closes.
///
/// # Errors
/// If the connection fails.
pub fn serve(channel: &Channel) -> Result<(), ChannelError> {
    let sandbox = Sandbox::begin(ConfinedRole::Author, &[channel.as_fd()], None);
    let confinement = sandbox.close(rustix::process::getppid());
    channel.send_record(from_author::SANDBOX, &SandboxReport::from(&confinement))?;
    let mut author = Author {
        library: None,
        stored: None,
        attached: None,
    };
    loop {
        let frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        };
        match author.carry_out(frame) {
            Ok((kind, answer)) => channel.send(kind, &[&answer], &[])?,
            Err(error) => {
                let failure = (error.failure as u32).to_le_bytes();
                channel.send(from_author::FAILED, &[&failure, error.message.as_bytes()], &[])?;
            }
        }
    }
}

struct Author {
    library: Option<Library>,
    /// The contents of tensors, if there is no library.
    stored: Option<StoredTensors>,
    attached: Option<Attached>,
}

impl Author {
    /// Carries out an order. Returns the kind and the payload of the answer.
    fn carry_out(&mut self, mut frame: Frame) -> Result<(u32, Vec<u8>), AuthorError> {
        let done = |answer| (from_author::DONE, answer);
        match frame.kind {
            to_author::LOAD => {
                let files = frame.descriptors.len();
                let files =
                    take_files(files, &mut frame.descriptors).ok_or_else(|| invalid_order("the code is not frozen"))?;
                let library = Library::load(files)?;
                Ok(done(self.library.insert(library).catalog()?))
            }
            to_author::HOLD => {
                let files = take_files(1, &mut frame.descriptors);
                let file = files.and_then(|files| files.into_iter().next());
                let file = file.ok_or_else(|| invalid_order("the file is not frozen"))?;
                self.stored = Some(StoredTensors::in_file(&file)?);
                Ok(done(Vec::new()))
            }
            to_author::RECORD => {
                let (benchmark, request) = read_head::<u32>(&frame.payload)?;
                match self.library()?.record(benchmark, request)? {
                    Recorded::Recording(recording) => Ok(done(recording)),
                    Recorded::NeedsOccupancy(query) => Ok((from_author::NEEDS_OCCUPANCY, query)),
                }
            }
            to_author::ATTACH => {
                let case = parse_attach(&mut frame)?;
                self.attached = Some(Attached::new(case, frame.descriptors)?);
                Ok(done(Vec::new()))
            }
            to_author::GENERATE => {
                let (order, _) = read_head::<Generate>(&frame.payload)?;
                if let (Some(stored), Some(attached)) = (&self.stored, &mut self.attached) {
                    return attached.copy_stored(stored, &order).map(|()| done(Vec::new()));
                }
                let library = self.library()?;
                self.attached()?.generate(library, &order).map(|()| done(Vec::new()))
            }
            to_author::REFERENCE => {
                let library = self.library()?;
                self.attached()?.reference(library).map(|()| done(Vec::new()))
            }
            to_author::CHECK => {
                let library = self.library()?;
                let order: CheckOrder = frame.record().map_err(|_| invalid_order("it is damaged"))?;
                Ok(done(match self.attached()?.check(library, order)? {
                    None => Vec::new(),
                    Some((call, reason)) => [&call.to_le_bytes(), reason.as_bytes()].concat(),
                }))
            }
            to_author::DETACH => {
                self.attached = None;
                Ok(done(Vec::new()))
            }
            _ => Err(invalid_order("its kind is unknown")),
        }
    }

    fn library(&self) -> Result<Library, AuthorError> {
        self.library.ok_or_else(|| invalid_order("no library is loaded"))
    }

    fn attached(&mut self) -> Result<&mut Attached, AuthorError> {
        let attached = self.attached.as_mut();
        attached.ok_or_else(|| invalid_order("no buffers are attached"))
    }
}

fn parse_attach(frame: &mut Frame) -> Result<Attachment, AuthorError> {
    let (head, rest) = read_head::<Attach>(&frame.payload)?;
    let layout_bytes = head.tensors as usize * size_of::<BufferLayout>();
    let damaged = || invalid_order("it is damaged");
    let (layouts, rest) = rest.split_at_checked(layout_bytes).ok_or_else(damaged)?;
    let (modules, rest) = rest.split_at_checked(head.module_bytes as usize).ok_or_else(damaged)?;
    let (request, recording) = rest.split_at_checked(head.request_bytes as usize).ok_or_else(damaged)?;
    let recording: Recording = codec::decode(recording).map_err(|_| damaged())?;
    let tensors_of_call = recording.tensors.len() / head.calls.get() as usize;
    Ok(Attachment {
        tensors_of_call: NonZeroUsize::new(tensors_of_call).ok_or_else(damaged)?,
        benchmark: head.benchmark,
        home: head.kernels_run_in,
        request: request.to_vec(),
        recording,
        layouts: bytemuck::allocation::pod_collect_to_vec(layouts),
        modules: decode_modules(modules, &mut frame.descriptors).ok_or_else(damaged)?,
    })
}

fn invalid_order(what: &str) -> AuthorError {
    AuthorError::new(
        AuthorFailure::Internal,
        format!("invalid order from the broker: {what}"),
    )
}
