//! How many calls a window has.

use gpubench_contract::Method;

/// Calls in a window of a method.
///
/// The rest assumes one. The referee prepares once before *go*, so that a call has inputs which no
/// other has seen and poison in its outputs. It looks once after *done*, so that every call is
/// checked. What the worker reads is one sample. A method with more calls reuses the buffers or has
/// as many sets of them; its reading is the time of all its calls.
pub fn calls_per_window(method: Method) -> u32 {
    match method {
        Method::Cold | Method::Warm => 1,
    }
}
