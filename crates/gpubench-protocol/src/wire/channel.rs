//! A stream socket that carries frames: a kind, bytes, and descriptors.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, send, sendmsg, socketpair,
};

use super::WIRE_VERSION;

/// Largest payload of a frame.
const MAX_PAYLOAD: u32 = 256 << 20;

/// Most descriptors of a frame: the kernel's limit for one message is 253.
pub const MAX_DESCRIPTORS: usize = 192;

/// What sending a frame may take: a peer that has not read it by then is stopped or hostile.
const SENDING: Duration = Duration::from_secs(10);

const TOO_MANY: &str = "hands over too many files and buffers";

/// What a peer can make us allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a payload.
    pub payload: u32,
    /// Descriptors of a frame.
    pub descriptors: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            payload: MAX_PAYLOAD,
            descriptors: MAX_DESCRIPTORS,
        }
    }
}

/// One end of a connection between two roles.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    limits: Limits,
    /// What sending a frame may take; no limit where there is none.
    sending: Option<Duration>,
}

/// A received message.
#[derive(Debug)]
pub struct Frame {
    /// What it is; meanings belong to the pair of roles.
    pub kind: u32,
    /// Its bytes.
    pub payload: Vec<u8>,
    /// Descriptors that came with it.
    pub descriptors: Vec<OwnedFd>,
}

impl Frame {
    /// Its bytes as one record.
    ///
    /// # Errors
    /// The length is wrong, or a number is unknown.
    pub fn record<R: CheckedBitPattern>(&self) -> Result<R, ChannelError> {
        let record = bytemuck::checked::try_pod_read_unaligned(&self.payload);
        record.map_err(|_| ChannelError::Protocol("its record is damaged"))
    }
}

/// The record that a frame's bytes begin with, and the rest.
///
/// # Errors
/// There are too few bytes, or a number is unknown.
pub fn read_head<R: CheckedBitPattern>(payload: &[u8]) -> Result<(R, &[u8]), ChannelError> {
    let head = payload.split_at_checked(size_of::<R>());
    let head = head.and_then(|(head, rest)| Some((bytemuck::checked::try_pod_read_unaligned(head).ok()?, rest)));
    head.ok_or(ChannelError::Protocol("its record is damaged"))
}

/// How long to wait for a peer.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Until the peer speaks or is gone.
    Forever,
    /// Until a moment.
    Until(Instant),
}

impl Patience {
    /// Waits at most `duration` from now.
    pub fn at_most(duration: Duration) -> Patience {
        // A duration too long to add to the clock is as good as forever.
        Instant::now()
            .checked_add(duration)
            .map_or(Patience::Forever, Patience::Until)
    }

    fn left(self) -> Result<Option<Timespec>, ChannelError> {
        let Patience::Until(moment) = self else { return Ok(None) };
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            Err(ChannelError::TimedOut)
        } else {
            Ok(Timespec::try_from(left).ok())
        }
    }
}

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The peer has closed its end, by intent or by dying.
    #[error("the other process is gone")]
    Closed,
    /// The peer did not speak in time, or take what was sent to it.
    #[error("the other process did not answer in time")]
    TimedOut,
    /// We were to say more than a frame holds; nothing was sent.
    #[error("the message {0}")]
    TooLarge(&'static str),
    /// The peer said something that is not of this protocol.
    #[error("the other process broke the protocol: {0}")]
    Protocol(&'static str),
    /// The operating system refused.
    #[error("cannot talk to the other process")]
    Os(#[source] std::io::Error),
}

impl From<Errno> for ChannelError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::PIPE | Errno::CONNRESET => ChannelError::Closed,
            other => ChannelError::Os(other.into()),
        }
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    version: u32,
    kind: u32,
    payload: u32,
    descriptors: u32,
}

impl Channel {
    /// Two connected ends, closed on exec.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub fn pair() -> Result<(Channel, Channel), ChannelError> {
        let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Channel::from_socket(a), Channel::from_socket(b)))
    }

    /// Takes a connected stream socket.
    pub fn from_socket(socket: OwnedFd) -> Channel {
        Channel {
            socket,
            limits: Limits::default(),
            sending: None,
        }
    }

    /// Limits what is taken from the peer, and the time that sending it a frame may take.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Channel {
        Channel {
            limits,
            sending: Some(SENDING),
            ..self
        }
    }

    /// Gives the socket up, to be inherited by a child.
    pub fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Sends a frame; `payload` is the concatenation of `parts`.
    ///
    /// # Errors
    /// [`ChannelError::Closed`] when the peer is gone; never a signal. [`ChannelError::TooLarge`]
    /// before anything is sent.
    pub fn send(&self, kind: u32, parts: &[&[u8]], descriptors: &[BorrowedFd<'_>]) -> Result<(), ChannelError> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let payload = u32::try_from(length).ok().filter(|length| *length <= MAX_PAYLOAD);
        let payload = payload.ok_or(ChannelError::TooLarge("is too long"))?;
        if descriptors.len() > MAX_DESCRIPTORS {
            return Err(ChannelError::TooLarge(TOO_MANY));
        }
        let header = Header {
            version: WIRE_VERSION,
            kind,
            payload,
            descriptors: descriptors.len() as u32,
        };
        let patience = self.sending.map_or(Patience::Forever, Patience::at_most);
        self.send_header(&header, descriptors, patience)?;
        parts.iter().try_for_each(|part| self.send_all(part, patience))
    }

    /// Sends one fixed-size record.
    ///
    /// # Errors
    /// As [`Channel::send`].
    pub fn send_record<R: NoUninit>(&self, kind: u32, record: &R) -> Result<(), ChannelError> {
        self.send(kind, &[bytemuck::bytes_of(record)], &[])
    }

    /// Receives the next frame.
    ///
    /// # Errors
    /// When the peer is gone, silent for longer than `patience`, or speaks another protocol.
    pub fn receive(&self, patience: Patience) -> Result<Frame, ChannelError> {
        let (header, descriptors) = self.receive_header(patience)?;
        if header.version != WIRE_VERSION {
            return Err(ChannelError::Protocol("its version is another"));
        }
        if header.payload > self.limits.payload || header.descriptors as usize != descriptors.len() {
            return Err(ChannelError::Protocol("its message is damaged"));
        }
        let payload = self.receive_payload(header.payload as usize, patience)?;
        Ok(Frame {
            kind: header.kind,
            payload,
            descriptors,
        })
    }

    /// Whether something can be received, or the peer is gone, right now.
    ///
    /// # Errors
    /// When the operating system refuses to tell.
    pub fn is_readable(&self) -> Result<bool, ChannelError> {
        let mut wanted = [PollFd::new(&self.socket, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(poll(&mut wanted, Some(&now))? > 0)
    }

    fn send_header(
        &self,
        header: &Header,
        descriptors: &[BorrowedFd<'_>],
        patience: Patience,
    ) -> Result<(), ChannelError> {
        let bytes = bytemuck::bytes_of(header);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(ChannelError::TooLarge(TOO_MANY));
        }
        let header = [IoSlice::new(bytes)];
        let sent = self.send_some(patience, |flags| sendmsg(&self.socket, &header, &mut control, flags))?;
        // Descriptors went with the first byte; the rest follows plainly.
        self.send_all(&bytes[sent..], patience)
    }

    fn send_all(&self, mut bytes: &[u8], patience: Patience) -> Result<(), ChannelError> {
        while !bytes.is_empty() {
            let sent = self.send_some(patience, |flags| send(&self.socket, bytes, flags))?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    /// Sends as much as the peer has room for now, or once it has: a call that waited by itself
    /// would begin its wait anew with every byte that is read.
    fn send_some(
        &self,
        patience: Patience,
        mut attempt: impl FnMut(SendFlags) -> rustix::io::Result<usize>,
    ) -> Result<usize, ChannelError> {
        loop {
            match attempt(SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, patience)?,
                Err(Errno::INTR) => {}
                sent => return Ok(sent?),
            }
        }
    }

    fn receive_header(&self, patience: Patience) -> Result<(Header, Vec<OwnedFd>), ChannelError> {
        let mut bytes = [0_u8; size_of::<Header>()];
        let mut descriptors = Vec::new();
        let mut filled = 0;
        while filled < bytes.len() {
            self.wait(PollFlags::IN, patience)?;
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut target = [IoSliceMut::new(&mut bytes[filled..])];
            match recvmsg(&self.socket, &mut target, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) if message.bytes == 0 => return Err(ChannelError::Closed),
                Ok(message) => filled += message.bytes,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(received) = message {
                    descriptors.extend(received);
                }
            }
            if descriptors.len() > self.limits.descriptors {
                return Err(ChannelError::Protocol("it sent descriptors that nobody asked for"));
            }
        }
        Ok((bytemuck::pod_read_unaligned(&bytes), descriptors))
    }

    fn receive_payload(&self, length: usize, patience: Patience) -> Result<Vec<u8>, ChannelError> {
        // Grown as bytes arrive: a header alone must not make us reserve its claim.
        let mut payload = Vec::new();
        while payload.len() < length {
            self.wait(PollFlags::IN, patience)?;
            let start = payload.len();
            payload.resize(length.min(start + (1 << 20)), 0);
            match rustix::net::recv(&self.socket, &mut payload[start..], RecvFlags::empty()) {
                Ok((_, 0)) => return Err(ChannelError::Closed),
                Ok((_, received)) => payload.truncate(start + received),
                Err(Errno::INTR) => payload.truncate(start),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(payload)
    }

    fn wait(&self, wanted: PollFlags, patience: Patience) -> Result<(), ChannelError> {
        loop {
            let left = patience.left()?;
            let mut wanted = [PollFd::new(&self.socket, wanted)];
            match poll(&mut wanted, left.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits at most `within` for one of several channels to have something to say or to be closed;
/// gives the first such position. Returns early, with nothing, when a signal arrives.
///
/// # Errors
/// When the operating system refuses to wait.
pub fn poll_readable(channels: &[&Channel], within: Duration) -> Result<Option<usize>, ChannelError> {
    let mut wanted: Vec<PollFd<'_>> = channels
        .iter()
        .map(|channel| PollFd::new(&channel.socket, PollFlags::IN))
        .collect();
    let within = Timespec::try_from(within).ok();
    match poll(&mut wanted, within.as_ref()) {
        Ok(_) => Ok(wanted.iter().position(|wanted| !wanted.revents().is_empty())),
        Err(Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_arrives_with_its_bytes_and_descriptors() {
        let (near, far) = Channel::pair().unwrap();
        let (a, b) = Channel::pair().unwrap();
        near.send(7, &[b"half ", b"and half"], &[a.as_fd()]).unwrap();
        let frame = far.receive(Patience::Forever).unwrap();
        assert_eq!((frame.kind, frame.payload.as_slice()), (7, &b"half and half"[..]));

        let copy = Channel::from_socket(frame.descriptors.into_iter().next().unwrap());
        copy.send(1, &[], &[]).unwrap();
        assert_eq!(b.receive(Patience::Forever).unwrap().kind, 1);
    }

    #[test]
    fn a_payload_larger_than_the_socket_buffer_arrives_whole() {
        let (near, far) = Channel::pair().unwrap();
        let long = vec![3_u8; 5 << 20];
        std::thread::scope(|scope| {
            scope.spawn(|| near.send(1, &[&long], &[]).unwrap());
            assert_eq!(far.receive(Patience::Forever).unwrap().payload, long);
        });
    }

    #[test]
    fn a_dead_peer_is_told_from_a_silent_one() {
        let (near, far) = Channel::pair().unwrap();
        let silent = near.receive(Patience::at_most(Duration::from_millis(5)));
        assert!(matches!(silent, Err(ChannelError::TimedOut)));
        drop(far);
        assert!(matches!(near.receive(Patience::Forever), Err(ChannelError::Closed)));
        assert!(matches!(near.send(1, &[b"x"], &[]), Err(ChannelError::Closed)));
    }

    #[test]
    fn a_peer_that_does_not_read_is_not_waited_for_for_ever() {
        let (near, far) = Channel::pair().unwrap();
        let near = within(near, Duration::from_millis(20));
        let sent = near.send(1, &[&vec![0; 8 << 20]], &[]);
        assert!(matches!(sent, Err(ChannelError::TimedOut)), "{sent:?}");
        drop(far);
    }

    fn within(channel: Channel, sending: Duration) -> Channel {
        Channel {
            sending: Some(sending),
            ..channel
        }
    }

    #[test]
    fn a_peer_that_reads_a_little_now_and_then_is_given_no_more_time_for_it() {
        let (near, far) = Channel::pair().unwrap();
        let near = within(near, Duration::from_millis(200));
        let reads = std::thread::spawn(move || {
            let mut little = [0; 8 << 10];
            while rustix::net::recv(&far, &mut little[..], RecvFlags::empty()).is_ok_and(|(_, bytes)| bytes > 0) {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        // All of it would take it five seconds.
        let sent = near.send(1, &[&vec![0; 8 << 20]], &[]);
        assert!(matches!(sent, Err(ChannelError::TimedOut)), "{sent:?}");
        drop(near);
        reads.join().unwrap();
    }

    /// What is received of a header, which comes with so many descriptors, and a payload.
    fn received(header: Header, descriptors: usize, payload: &[u8], limits: Limits) -> Result<Frame, ChannelError> {
        let (near, far) = Channel::pair().unwrap();
        let far = far.limited(limits);
        let socket = far.as_fd().try_clone_to_owned().unwrap();
        near.send_header(&header, &vec![socket.as_fd(); descriptors], Patience::Forever)?;
        near.send_all(payload, Patience::Forever)?;
        far.receive(Patience::at_most(Duration::from_secs(5)))
    }

    #[test]
    fn a_header_is_taken_at_its_word_only_as_far_as_it_is_true() {
        let header = Header {
            version: WIRE_VERSION,
            kind: 7,
            payload: 4,
            descriptors: 2,
        };
        let limits = Limits {
            payload: 4,
            descriptors: 2,
        };
        let taken = |header, descriptors| received(header, descriptors, b"12345678", limits);
        let frame = taken(header, 2).unwrap();
        assert_eq!(
            (frame.kind, &frame.payload[..], frame.descriptors.len()),
            (7, &b"1234"[..], 2)
        );
        let with = |change: fn(&mut Header)| {
            let mut changed = header;
            change(&mut changed);
            changed
        };
        for (refused, descriptors) in [
            (with(|header| header.version += 1), 2),
            (with(|header| header.version -= 1), 2),
            (with(|header| header.payload = 5), 2),
            (with(|header| header.payload = u32::MAX), 2),
            (header, 0),
            (header, 1),
            (with(|header| header.descriptors = 0), 1),
            (with(|header| header.descriptors = 0), 2),
            (with(|header| header.descriptors = 1), 2),
            (with(|header| header.descriptors = 3), 2),
            (with(|header| header.descriptors = 3), 3),
            (with(|header| header.descriptors = u32::MAX), 0),
        ] {
            let found = taken(refused, descriptors);
            assert!(
                matches!(found, Err(ChannelError::Protocol(_))),
                "{found:?} of {descriptors} descriptors"
            );
        }
    }

    #[test]
    fn what_is_longer_than_anybody_takes_is_not_sent() {
        let (near, far) = Channel::pair().unwrap();
        let part = vec![0; 1 << 20];
        let parts = vec![&part[..]; 257];
        assert!(matches!(near.send(1, &parts, &[]), Err(ChannelError::TooLarge(_))));
        let many = vec![near.as_fd(); MAX_DESCRIPTORS + 1];
        assert!(matches!(near.send(1, &[], &many), Err(ChannelError::TooLarge(_))));
        near.send(1, &[], &many[1..]).unwrap();
        let frame = far.receive(Patience::Forever).unwrap();
        assert_eq!(frame.descriptors.len(), MAX_DESCRIPTORS);
    }
}
