//! A stream socket for frames. A frame has a kind, a payload and descriptors.

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

/// Largest payload of a frame, in bytes.
const MAX_PAYLOAD: u32 = 256 << 20;

/// Most descriptors of a frame. The kernel's limit for one message is 253.
pub const MAX_DESCRIPTORS: usize = 253;

/// Time limit for sending a frame. A peer that has not read it by then is hostile or stopped.
const SENDING: Duration = Duration::from_secs(10);

const TOO_MANY: &str = "has too many descriptors";

/// Limits on the memory that a peer can make us allocate.
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
    /// Time limit for sending a frame, if there is one.
    sending: Option<Duration>,
}

/// A received message.
#[derive(Debug)]
pub struct Frame {
    /// The kind. Each pair of roles defines its own kinds.
    pub kind: u32,
    /// The payload.
    pub payload: Vec<u8>,
    /// The descriptors.
    pub descriptors: Vec<OwnedFd>,
}

impl Frame {
    /// Reads the payload as one record.
    ///
    /// # Errors
    /// If the length is wrong or a code is unknown.
    pub fn record<R: CheckedBitPattern>(&self) -> Result<R, ChannelError> {
        let record = bytemuck::checked::try_pod_read_unaligned(&self.payload);
        record.map_err(|_| ChannelError::Protocol("its record is damaged"))
    }
}

/// Reads the record at the start of a payload. Returns it and the rest.
///
/// # Errors
/// If there are too few bytes or a code is unknown.
pub fn read_head<R: CheckedBitPattern>(payload: &[u8]) -> Result<(R, &[u8]), ChannelError> {
    let head = payload.split_at_checked(size_of::<R>());
    let head = head.and_then(|(head, rest)| Some((bytemuck::checked::try_pod_read_unaligned(head).ok()?, rest)));
    head.ok_or(ChannelError::Protocol("its record is damaged"))
}

/// How long to wait for a peer.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Until the peer sends or closes.
    Forever,
    /// Until a point in time.
    Until(Instant),
}

impl Patience {
    /// Waits at most `duration` from now.
    pub fn at_most(duration: Duration) -> Patience {
        // A duration that overflows the clock means forever.
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
    /// The peer closed its end or died.
    #[error("the other process has closed the connection")]
    Closed,
    /// The peer did not send or receive in time.
    #[error("the other process did not answer in time")]
    TimedOut,
    /// Our message exceeds the limits of a frame. Nothing was sent.
    #[error("the message {0}")]
    TooLarge(&'static str),
    /// The peer broke the protocol.
    #[error("the other process broke the protocol: {0}")]
    Protocol(&'static str),
    /// The operating system returned an error.
    #[error("the connection to the other process failed")]
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
    /// Returns two connected ends, which are closed on exec.
    ///
    /// # Errors
    /// If the process has no descriptors left.
    pub fn pair() -> Result<(Channel, Channel), ChannelError> {
        let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok((Channel::from_socket(a), Channel::from_socket(b)))
    }

    /// Returns a channel for a connected stream socket.
    pub fn from_socket(socket: OwnedFd) -> Channel {
        Channel {
            socket,
            limits: Limits::default(),
            sending: None,
        }
    }

    /// Limits what the peer may send, and the time for sending it a frame.
    #[must_use]
    pub fn limited(self, limits: Limits) -> Channel {
        Channel {
            limits,
            sending: Some(SENDING),
            ..self
        }
    }

    /// Tells the peer that no more frames will come. It can still send.
    pub fn close(&self) {
        // A connection that is already closed needs no more.
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write);
    }

    /// Returns the socket, for a child to inherit.
    pub fn into_socket(self) -> OwnedFd {
        self.socket
    }

    /// Sends a frame whose payload is the concatenation of `parts`.
    ///
    /// # Errors
    /// [`ChannelError::Closed`] if the peer has closed its end; there is never a signal.
    /// [`ChannelError::TooLarge`] before anything is sent.
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

    /// Sends one record.
    ///
    /// # Errors
    /// As [`Channel::send`].
    pub fn send_record<R: NoUninit>(&self, kind: u32, record: &R) -> Result<(), ChannelError> {
        self.send(kind, &[bytemuck::bytes_of(record)], &[])
    }

    /// Receives the next frame.
    ///
    /// # Errors
    /// If the peer has closed its end, is silent for longer than `patience` or breaks the protocol.
    pub fn receive(&self, patience: Patience) -> Result<Frame, ChannelError> {
        let (header, descriptors) = self.receive_header(patience)?;
        if header.version != WIRE_VERSION {
            return Err(ChannelError::Protocol("it has another version"));
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

    /// Whether a frame or the end of the connection can be received without waiting.
    ///
    /// # Errors
    /// If the operating system cannot poll.
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
        // The first byte carried the descriptors. The rest follows without them.
        self.send_all(&bytes[sent..], patience)
    }

    fn send_all(&self, mut bytes: &[u8], patience: Patience) -> Result<(), ChannelError> {
        while !bytes.is_empty() {
            let sent = self.send_some(patience, |flags| send(&self.socket, bytes, flags))?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    /// Sends as much as the peer has room for, and waits for room first if it has none. A blocking
    /// call would restart its timeout with every byte that the peer reads.
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
                return Err(ChannelError::Protocol("it sent unexpected descriptors"));
            }
        }
        Ok((bytemuck::pod_read_unaligned(&bytes), descriptors))
    }

    fn receive_payload(&self, length: usize, patience: Patience) -> Result<Vec<u8>, ChannelError> {
        // The vector grows as bytes arrive, so that a header alone cannot reserve memory.
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

/// Waits at most `within` until one of the channels has data or is closed. Returns the first such
/// position. Returns early with `None` when a signal arrives.
///
/// # Errors
/// If the operating system cannot poll.
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
    fn a_dead_peer_differs_from_a_silent_one() {
        let (near, far) = Channel::pair().unwrap();
        let silent = near.receive(Patience::at_most(Duration::from_millis(5)));
        assert!(matches!(silent, Err(ChannelError::TimedOut)));
        drop(far);
        assert!(matches!(near.receive(Patience::Forever), Err(ChannelError::Closed)));
        assert!(matches!(near.send(1, &[b"x"], &[]), Err(ChannelError::Closed)));
    }

    #[test]
    fn sending_to_a_peer_that_does_not_read_times_out() {
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
    fn slow_reads_do_not_extend_the_time_limit() {
        let (near, far) = Channel::pair().unwrap();
        let near = within(near, Duration::from_millis(200));
        let reads = std::thread::spawn(move || {
            let mut little = [0; 8 << 10];
            while rustix::net::recv(&far, &mut little[..], RecvFlags::empty()).is_ok_and(|(_, bytes)| bytes > 0) {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        // Reading everything would take five seconds.
        let sent = near.send(1, &[&vec![0; 8 << 20]], &[]);
        assert!(matches!(sent, Err(ChannelError::TimedOut)), "{sent:?}");
        drop(near);
        reads.join().unwrap();
    }

    /// The result of receiving a header with `descriptors` descriptors and a payload.
    fn received(header: Header, descriptors: usize, payload: &[u8], limits: Limits) -> Result<Frame, ChannelError> {
        let (near, far) = Channel::pair().unwrap();
        let far = far.limited(limits);
        let socket = far.as_fd().try_clone_to_owned().unwrap();
        near.send_header(&header, &vec![socket.as_fd(); descriptors], Patience::Forever)?;
        near.send_all(payload, Patience::Forever)?;
        far.receive(Patience::at_most(Duration::from_secs(5)))
    }

    #[test]
    fn a_header_that_lies_is_rejected() {
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
        let receive = |header, descriptors| received(header, descriptors, b"12345678", limits);
        let frame = receive(header, 2).unwrap();
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
            let found = receive(refused, descriptors);
            assert!(
                matches!(found, Err(ChannelError::Protocol(_))),
                "{found:?} of {descriptors} descriptors"
            );
        }
    }

    #[test]
    fn a_message_over_the_limits_is_not_sent() {
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
