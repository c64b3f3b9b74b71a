//! What a profiler sees of a worker: launches, and the commands to begin and end its recording.

use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write as _;

use crate::behaviour::{behaviour, role};
use crate::call::in_context;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuProfilerStart() -> c_int {
    in_context("cuProfilerStart", |_| {
        note("begin");
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuProfilerStop() -> c_int {
    in_context("cuProfilerStop", |_| {
        note("end");
        Ok(())
    })
}

/// Appends a line to the file of launches, if this process is a worker.
pub(crate) fn note(line: &str) {
    let Some(path) = &behaviour().launches else { return };
    if role() != "worker" {
        return;
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()));
    writeln!(file, "{line}").expect("the file can be written");
}
