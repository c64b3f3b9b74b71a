//! Captured graphs. A graph and its executable have the same handle.

use std::ffi::{c_int, c_uint, c_ulonglong};

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUstream};
use gpubench_device::{Driver as _, Graph, Stream};

use crate::call::in_context;
use crate::gpu::Handle as _;
use crate::ledger::Kind;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamBeginCapture_v2(stream: CUstream, _mode: c_uint) -> c_int {
    in_context("cuStreamBeginCapture_v2", |gpu| {
        Ok(gpu.cpu.begin_capture(Stream::of_pointer(stream)?)?)
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) -> c_int {
    in_context("cuStreamEndCapture", |gpu| {
        let made = gpu.cpu.end_capture(Stream::of_pointer(stream)?)?;
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *graph = made.to_pointer() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut CUgraphExec,
    graph: CUgraph,
    _flags: c_ulonglong,
) -> c_int {
    in_context("cuGraphInstantiateWithFlags", |gpu| {
        gpu.ledger.take(Kind::Graph);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *executable = graph.cast() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGraphUpload(_executable: CUgraphExec, _stream: CUstream) -> c_int {
    in_context("cuGraphUpload", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGraphLaunch(executable: CUgraphExec, stream: CUstream) -> c_int {
    in_context("cuGraphLaunch", |gpu| {
        let (graph, stream) = (Graph::of_pointer(executable)?, Stream::of_pointer(stream)?);
        Ok(gpu.cpu.launch_graph(stream, graph)?)
    })
}

/// The executable graph keeps what was captured.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGraphDestroy(_graph: CUgraph) -> c_int {
    in_context("cuGraphDestroy", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuGraphExecDestroy(executable: CUgraphExec) -> c_int {
    in_context("cuGraphExecDestroy", |gpu| {
        gpu.cpu.release_graph(Graph::of_pointer(executable)?);
        gpu.ledger.give_back(Kind::Graph);
        Ok(())
    })
}
