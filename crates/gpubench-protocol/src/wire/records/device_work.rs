//! What the device did in a traced call, as the worker reports it.

use bytemuck::{Pod, Zeroable};
use gpubench_device::{Operation, OperationKind, busy_ns, span_ns};
use serde::{Deserialize, Serialize};

use crate::wire::json;

/// What the device did in a traced call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct DeviceWork {
    /// Number of kernels.
    pub kernels: u32,
    /// Number of copies.
    pub copies: u32,
    /// Number of times that memory was set.
    pub memsets: u32,
    /// 1 if the call was traced, else 0.
    pub traced: u32,
    /// Time in which the device did something, in nanoseconds.
    #[serde(with = "json::float")]
    pub busy_ns: f64,
    /// Time from its first start to its last end, in nanoseconds.
    #[serde(with = "json::float")]
    pub span_ns: f64,
}

impl DeviceWork {
    /// Sums up the operations of a call.
    pub fn from_operations(operations: &[Operation]) -> DeviceWork {
        let number = |kind: OperationKind| operations.iter().filter(|it| it.kind == kind).count() as u32;
        DeviceWork {
            kernels: number(OperationKind::Kernel),
            copies: number(OperationKind::Copy),
            memsets: number(OperationKind::Fill),
            traced: 1,
            busy_ns: busy_ns(operations) as f64,
            span_ns: span_ns(operations) as f64,
        }
    }
}
