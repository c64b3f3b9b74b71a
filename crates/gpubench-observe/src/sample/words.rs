//! The words of records for what events are about.

use gpubench_contract::{ProbeDirection, ProbeMemoryKind};

use crate::{CopyDirection, MemoryKind};

impl From<CopyDirection> for ProbeDirection {
    fn from(direction: CopyDirection) -> Self {
        match direction {
            CopyDirection::HostToDevice => ProbeDirection::HostToDevice,
            CopyDirection::DeviceToHost => ProbeDirection::DeviceToHost,
            CopyDirection::DeviceToDevice => ProbeDirection::DeviceToDevice,
            CopyDirection::HostToHost => ProbeDirection::HostToHost,
            CopyDirection::PeerToPeer => ProbeDirection::PeerToPeer,
            CopyDirection::ByAddress => ProbeDirection::Unknown,
        }
    }
}

impl From<MemoryKind> for ProbeMemoryKind {
    fn from(kind: MemoryKind) -> Self {
        match kind {
            MemoryKind::Device => ProbeMemoryKind::Device,
            MemoryKind::StreamOrdered => ProbeMemoryKind::StreamOrdered,
            MemoryKind::Pool => ProbeMemoryKind::Pool,
            MemoryKind::Managed => ProbeMemoryKind::Managed,
            MemoryKind::Pinned => ProbeMemoryKind::Pinned,
            MemoryKind::Registered => ProbeMemoryKind::Registered,
            MemoryKind::Physical => ProbeMemoryKind::Physical,
            MemoryKind::Array => ProbeMemoryKind::Array,
        }
    }
}
