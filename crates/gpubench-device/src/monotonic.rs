//! The host's clock that all processes share.

/// Returns the nanoseconds of `CLOCK_MONOTONIC`. The harness's stamp kernel for the CPU device and
/// the kernel's probes read the same clock.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The C library's function also works where a tool such as valgrind hides the kernel's page of
    // functions from the process.
    // SAFETY: it writes the time to a local variable; every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
