//! Launches, copies and arrays, from the bytes that calls name.

use std::time::Duration;

use super::layout::{Record, field};
use super::role::{Amount, CopyArguments, Dimensions};
use crate::{Copy, CopyDirection, Execution, FunctionHandle, Launch, LaunchKind, StreamHandle, Waiting};

/// The stream that `cuda.h` calls `CU_STREAM_LEGACY`: the default one, by another name.
const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`: the default stream of the calling thread.
const PER_THREAD: u64 = 2;

/// Returns the stream that a handle names in a function of one of the two variants.
pub(super) fn stream(handle: u64, is_per_thread: bool) -> StreamHandle {
    StreamHandle(match handle {
        0 if is_per_thread => PER_THREAD,
        LEGACY => 0,
        other => other,
    })
}

/// Returns how many bytes a call names.
pub(super) fn bytes(record: Record<'_>, amount: Amount) -> u64 {
    match amount {
        Amount::Bytes(argument) => record.argument(argument),
        Amount::Product(one, other, each) => {
            let elements = record.argument(one).saturating_mul(record.argument(other));
            elements.saturating_mul(each)
        }
        Amount::Elements(argument, each) => record.argument(argument).saturating_mul(each),
    }
}

/// Returns a launch from its six arguments in registers and those on the stack.
pub(super) fn launch(record: Record<'_>, kind: LaunchKind) -> Launch {
    let shape = |number| record.small_argument(number);
    Launch {
        function: FunctionHandle(record.argument(0)),
        stream: StreamHandle(record.rest(16)),
        grid: [shape(1), shape(2), shape(3)],
        block: [shape(4), shape(5), record.rest_word(0)],
        kind,
        execution: Execution::Runs,
    }
}

/// Returns a launch from its `CUlaunchConfig`.
pub(super) fn launch_extended(record: Record<'_>) -> Launch {
    let word = |index: i16| record.rest_word(4 * index);
    Launch {
        function: FunctionHandle(record.argument(1)),
        stream: StreamHandle(record.rest(32)),
        grid: [word(0), word(1), word(2)],
        block: [word(3), word(4), word(5)],
        kind: LaunchKind::Extended,
        execution: Execution::Runs,
    }
}

/// Returns a launch whose block was set by earlier calls, which nobody makes any more.
pub(super) fn launch_grid(record: Record<'_>, stream: Option<usize>) -> Launch {
    Launch {
        function: FunctionHandle(record.argument(0)),
        stream: StreamHandle(stream.map_or(0, |number| record.argument(number))),
        grid: [record.small_argument(1), record.small_argument(2), 1],
        block: [1, 1, 1],
        kind: LaunchKind::Plain,
        execution: Execution::Runs,
    }
}

/// Returns a copy between the places that arguments name.
pub(super) fn copy(record: Record<'_>, arguments: CopyArguments) -> Copy {
    Copy {
        direction: arguments.direction,
        bytes: record.argument(arguments.bytes),
        destination: record.argument(arguments.destination),
        source: record.argument(arguments.source),
        stream: StreamHandle(arguments.stream.map_or(0, |number| record.argument(number))),
        waiting: arguments.waiting,
        execution: Execution::Runs,
        duration: duration(record),
    }
}

/// Returns a copy from its `CUDA_MEMCPY2D` or `CUDA_MEMCPY3D`.
pub(super) fn copy_structure(record: Record<'_>, dimensions: Dimensions, stream: Option<usize>) -> Copy {
    // Where each side begins, and where the extent is.
    let (from, to, extent) = match dimensions {
        Dimensions::Two => (16, 72, 112),
        Dimensions::Three => (32, 120, 176),
    };
    let depth = match dimensions {
        Dimensions::Two => 1,
        Dimensions::Three => record.rest(extent + 16),
    };
    let rows = record.rest(extent + 8).saturating_mul(depth);
    let (from, to) = (Side::read(record, from), Side::read(record, to));
    let direction = direction(from.kind, to.kind);
    let waits = matches!(direction, CopyDirection::HostToDevice | CopyDirection::DeviceToHost);
    Copy {
        direction,
        bytes: record.rest(extent).saturating_mul(rows),
        destination: to.place,
        source: from.place,
        stream: StreamHandle(stream.map_or(0, |number| record.argument(number))),
        waiting: if waits && stream.is_none() {
            Waiting::Blocks
        } else {
            Waiting::Queues
        },
        execution: Execution::Runs,
        duration: duration(record),
    }
}

/// One side of a copy that a structure describes.
struct Side {
    /// `CUmemorytype`: 1 host, 2 device, 3 array, 4 whatever the address is.
    kind: u32,
    place: u64,
}

impl Side {
    /// Reads kind, address of the host, address of the device, and array, 8 bytes apart.
    fn read(record: Record<'_>, at: i16) -> Side {
        let kind = record.rest_word(at);
        let place = match kind {
            1 => record.rest(at + 8),
            3 => record.rest(at + 24),
            _ => record.rest(at + 16),
        };
        Side { kind, place }
    }
}

fn direction(from: u32, to: u32) -> CopyDirection {
    const HOST: u32 = 1;
    const UNIFIED: u32 = 4;
    match (from, to) {
        (UNIFIED, _) | (_, UNIFIED) => CopyDirection::ByAddress,
        (HOST, HOST) => CopyDirection::HostToHost,
        (HOST, _) => CopyDirection::HostToDevice,
        (_, HOST) => CopyDirection::DeviceToHost,
        _ => CopyDirection::DeviceToDevice,
    }
}

/// Returns the bytes of an array from its descriptor: elements, channels, bytes of a format.
pub(super) fn array_bytes(record: Record<'_>, dimensions: Dimensions) -> u64 {
    let (depth, format) = match dimensions {
        Dimensions::Two => (1, 16),
        Dimensions::Three => (record.rest(16).max(1), 24),
    };
    // `CUarray_format`: the first of each width. Block-compressed and planar ones have other sizes.
    let each = match record.rest_word(format) {
        0x01 | 0x08 => 1,
        0x02 | 0x09 | 0x10 => 2,
        0x03 | 0x0a | 0x20 => 4,
        _ => 1,
    };
    let channels = u64::from(record.rest_word(format + 4)).max(1);
    let elements = record
        .rest(0)
        .saturating_mul(record.rest(8).max(1))
        .saturating_mul(depth);
    elements.saturating_mul(channels).saturating_mul(each)
}

pub(super) fn duration(record: Record<'_>) -> Duration {
    Duration::from_nanos(record.double(field::DURATION))
}
