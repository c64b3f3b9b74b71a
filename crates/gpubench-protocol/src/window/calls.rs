//! Number of calls per window.

use gpubench_contract::Method;

/// Returns the number of calls in a window of a method.
///
/// The other code assumes one. Before *go* the referee prepares new inputs and poison once; after
/// *done* it checks once, and the worker's reading is one sample. So each call has new inputs and
/// is checked. A method with more calls would reuse buffers or need several sets, and its reading
/// would be the time of all its calls.
pub fn calls_per_window(method: Method) -> u32 {
    match method {
        Method::Cold | Method::Warm => 1,
    }
}
