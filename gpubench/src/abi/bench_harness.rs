//! A hint at the end of `cargo bench`, whose harness runs no benchmark of this library.

use std::io::Write;

use crate::registry::BenchmarkEntry;

/// What `cargo bench` passes to a harness. The tool never passes it to a process of its own.
const BENCH: &str = "--bench";

/// Runs when the process ends. Benchmarks are registered when it begins, in any order, and this
/// must come after them.
#[used]
// SAFETY: the section holds pointers to functions with this signature.
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    let is_bench = std::env::args_os().any(|argument| argument == BENCH);
    // In a library that is built as a dependency of other benchmarks, `cfg(test)` is off.
    if is_bench && inventory::iter::<BenchmarkEntry>().any(|entry| entry.in_test_harness) {
        // Without standard error there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "note: `cargo bench` does not run functions with `#[gpubench]`: use `cargo gpubench`"
        );
    }
}
