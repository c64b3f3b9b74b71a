//! The words of records for what events are about.

use gpubench_contract::{ProbeDirection, ProbeFilter, ProbeLeftOut, ProbeMemoryKind};

use crate::{CopyDirection, Filter, LeftOut, MemoryKind};

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

impl From<LeftOut> for ProbeLeftOut {
    fn from(left_out: LeftOut) -> Self {
        ProbeLeftOut {
            processes: left_out.processes,
            used_the_driver: left_out.used_the_driver,
            unknown: left_out.unknown,
        }
    }
}

impl From<Filter> for ProbeFilter {
    fn from(filter: Filter) -> Self {
        ProbeFilter {
            programs: filter.programs.into_iter().collect(),
            users: filter.users.into_iter().collect(),
            cgroups: filter.cgroups.into_iter().collect(),
        }
    }
}
