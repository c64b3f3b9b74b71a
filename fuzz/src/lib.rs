//! Fuzz targets: each `run` passes bytes to a reader of untrusted bytes, and panics if the reader
//! is wrong. Each `seeds` returns inputs to start from.
#![forbid(unsafe_code)]

pub mod archive;
pub mod cuda_source;
pub mod evidence;
pub mod line_tables;
pub mod records;
pub mod stored_run;
pub mod submission;
pub mod tensor_files;
pub mod traces;
pub mod wire;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, also that of its program for libFuzzer.
    pub name: &'static str,
    /// Passes bytes to the reader.
    pub run: fn(&[u8]),
    /// Returns valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 10] = [
    Target {
        name: "wire",
        run: wire::run,
        seeds: wire::seeds,
    },
    Target {
        name: "stored_run",
        run: stored_run::run,
        seeds: stored_run::seeds,
    },
    Target {
        name: "archive",
        run: archive::run,
        seeds: archive::seeds,
    },
    Target {
        name: "records",
        run: records::run,
        seeds: records::seeds,
    },
    Target {
        name: "evidence",
        run: evidence::run,
        seeds: evidence::seeds,
    },
    Target {
        name: "cuda_source",
        run: cuda_source::run,
        seeds: cuda_source::seeds,
    },
    Target {
        name: "line_tables",
        run: line_tables::run,
        seeds: line_tables::seeds,
    },
    Target {
        name: "tensor_files",
        run: tensor_files::run,
        seeds: tensor_files::seeds,
    },
    Target {
        name: "submission",
        run: submission::run,
        seeds: submission::seeds,
    },
    Target {
        name: "traces",
        run: traces::run,
        seeds: traces::seeds,
    },
];
