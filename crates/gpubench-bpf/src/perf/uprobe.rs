//! Uprobes as perf events, for kernels without `uprobe_multi`.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::attribute::{PerfAttribute, Scope};
use crate::{BpfError, Moment};

/// A uprobe of all processes.
#[derive(Debug)]
pub(crate) struct UprobeEvent(OwnedFd);

const SOURCE: &str = "/sys/bus/event_source/devices/uprobe/type";
const RETURN_BIT: &str = "/sys/bus/event_source/devices/uprobe/format/retprobe";
const ENABLE: libc::Ioctl = 0x2400;

/// Returns the number of the kernel's source of uprobes, if it has one.
pub(crate) fn uprobe_source() -> Option<u32> {
    std::fs::read_to_string(SOURCE).ok()?.trim().parse().ok()
}

/// Returns the bit of the configuration that asks for returns: `config:0` is bit 0.
fn return_bit() -> Option<u32> {
    let text = std::fs::read_to_string(RETURN_BIT).ok()?;
    text.trim().strip_prefix("config:")?.parse().ok()
}

impl UprobeEvent {
    pub(crate) fn open(path: &CStr, offset: u64, moment: Moment) -> Result<UprobeEvent, BpfError> {
        let unsupported = || BpfError::Refused {
            what: "probe a function of a file",
            source: std::io::Error::from_raw_os_error(libc::ENODEV),
        };
        let source = uprobe_source().ok_or_else(unsupported)?;
        let configuration = match moment {
            Moment::Entry => 0,
            Moment::Return => 1 << return_bit().ok_or_else(unsupported)?,
        };
        let attribute = PerfAttribute::new(source, configuration, 0)
            .double(56, path.as_ptr().addr() as u64)
            .double(64, offset);
        // SAFETY: the path outlives the call.
        let event = unsafe { attribute.open(Scope::Processor(0)) };
        event.map(UprobeEvent).map_err(|source| BpfError::Refused {
            what: "probe a function of a file",
            source,
        })
    }

    pub(crate) fn enable(&self) -> Result<(), BpfError> {
        // SAFETY: the descriptor is a perf event, and this request has no argument.
        match unsafe { libc::ioctl(self.as_raw_fd(), ENABLE, 0) } {
            0 => Ok(()),
            _ => Err(BpfError::last("enable a probe")),
        }
    }
}

impl AsRawFd for UprobeEvent {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
