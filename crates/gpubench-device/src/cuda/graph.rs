//! Work that a stream has captured, as a CUDA graph.

use std::ffi::c_uint;

use cudarc::driver::sys::{CUgraphExec, CUstream, CUstreamCaptureMode};

use super::call::{DriverError, call};
use super::context::Context;

/// A captured graph, instantiated and uploaded.
pub(super) struct CapturedGraph(CUgraphExec);

impl CapturedGraph {
    /// Starts to capture a stream. Calls of this thread that a capture does not allow fail; those
    /// of other threads are not affected.
    pub(super) fn begin(context: &Context, stream: CUstream) -> Result<(), DriverError> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL as c_uint;
        // SAFETY: the driver of this process created the stream.
        unsafe { call!(context.api, cuStreamBeginCapture_v2(stream, mode)) }
    }

    /// Ends the capture, instantiates the graph and uploads it, so that a launch only runs it. A
    /// capture that failed also ends.
    pub(super) fn end(context: &Context, stream: CUstream) -> Result<CapturedGraph, DriverError> {
        let api = context.api;
        let mut graph = std::ptr::null_mut();
        // SAFETY: it writes one pointer; the stream captures.
        unsafe { call!(api, cuStreamEndCapture(stream, &mut graph)) }?;
        let mut executable = std::ptr::null_mut();
        // SAFETY: it writes one pointer; the graph is complete.
        let made = unsafe { call!(api, cuGraphInstantiateWithFlags(&mut executable, graph, 0)) };
        // SAFETY: the executable graph does not use the graph that it was made from.
        let destroyed = unsafe { call!(api, cuGraphDestroy(graph)) };
        made?;
        let captured = CapturedGraph(executable);
        match destroyed.and_then(|()| captured.upload(context, stream)) {
            Ok(()) => Ok(captured),
            Err(error) => {
                captured.release(context);
                Err(error)
            }
        }
    }

    fn upload(&self, context: &Context, stream: CUstream) -> Result<(), DriverError> {
        // SAFETY: the executable graph is not destroyed yet.
        unsafe { call!(context.api, cuGraphUpload(self.0, stream)) }?;
        context.wait_for(stream)
    }

    /// Queues the graph.
    pub(super) fn launch(&self, context: &Context, stream: CUstream) -> Result<(), DriverError> {
        // SAFETY: the executable graph is not destroyed yet.
        unsafe { call!(context.api, cuGraphLaunch(self.0, stream)) }
    }

    /// Destroys the graph. After a fault the call fails, and the end of the process frees it.
    pub(super) fn release(self, context: &Context) {
        // SAFETY: `end` made the executable graph, and nothing uses it any more.
        let _ = unsafe { (context.api.cuGraphExecDestroy)(self.0) };
    }
}
