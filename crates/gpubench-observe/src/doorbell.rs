//! Submissions to the GPU, counted where no code of the process is involved.
//!
//! A process submits work by a write to the GPU's doorbell, a word in a mapping of `/dev/nvidia…`.
//! A hardware watchpoint on that word counts submissions, whatever route through the driver they
//! took. It needs no eBPF and, where `perf_event_paranoid` is at most 2, no rights on a process of
//! the same user. It adds about 4 µs to a launch on an H200, so no timed call should have it.

use std::collections::BTreeSet;

use gpubench_bpf::BpfError;
use gpubench_bpf::perf::Watchpoint;
use gpubench_diagnostic::{ExitCode, Expected};

use crate::system::mappings_of;

/// Counts the submissions of one process, from all its threads. A program that it starts has a
/// doorbell of its own, which is not watched.
///
/// On an H200 with driver 580, these are one each: a launch, a launch of a graph, a fill, a copy, a
/// record of an event with times, and a wait for or a write of a word
/// (`measurements/probe/doorbell.cu`). A copy of 64 MiB of pageable memory is 64. Records of
/// events without times, functions of the host, allocations and synchronizations are none. Work
/// that kernels start themselves is none. A doorbell that is moved (`mremap`), or mapped again, is
/// not seen.
#[derive(Debug)]
pub struct Doorbell {
    watchpoints: Vec<Watchpoint>,
}

/// Why submissions cannot be counted.
#[derive(Debug, thiserror::Error)]
pub enum DoorbellError {
    /// The process has no doorbell yet, or the driver has none of the known form.
    #[error("process `{0}` has not mapped the doorbell of a GPU")]
    NoDoorbell(u32),
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] BpfError),
    /// It has more doorbells than can be watched, for example those of several GPUs.
    #[error("process `{pid}` has mapped {doorbells} doorbells, and a processor watches at most {WATCHPOINTS}")]
    TooMany {
        /// The process.
        pid: u32,
        /// The number of its doorbells.
        doorbells: usize,
    },
    /// It does not count what is known to have been submitted.
    #[error("the doorbell counted {counted} of at least {submitted} submissions")]
    Inexact {
        /// What it counted.
        counted: u64,
        /// What was submitted at least.
        submitted: u64,
    },
}

impl Expected for DoorbellError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        match self {
            DoorbellError::NoDoorbell(_) => None,
            DoorbellError::Kernel(error) => error.hint(),
            DoorbellError::TooMany { .. } => Some("let it use one GPU: set `CUDA_VISIBLE_DEVICES`".to_owned()),
            DoorbellError::Inexact { .. } => Some("this driver submits in another way; leave the count out".to_owned()),
        }
    }
}

/// The size of a mapping with a doorbell, from Volta on (driver 580 on an H200).
const MAPPING_BYTES: u64 = 0x10000;

/// Where the doorbell is in it.
const WORD: u64 = 0x90;

/// Watchpoints that a processor has for each thread.
const WATCHPOINTS: usize = 4;

impl Doorbell {
    /// Watches the doorbells of a process. It has them once it has launched something.
    ///
    /// # Errors
    ///
    /// If it has none, or the kernel refuses.
    pub fn of_process(pid: u32) -> Result<Doorbell, DoorbellError> {
        let words: Vec<u64> = mappings_of(pid)
            .lines()
            .filter_map(mapping_of_gpu)
            .map(|start| start + WORD)
            .collect();
        if words.is_empty() {
            return Err(DoorbellError::NoDoorbell(pid));
        }
        Doorbell::on_words(pid, &words)
    }

    /// Watches words of a process.
    ///
    /// # Errors
    ///
    /// If there are more than four, or the kernel refuses.
    pub fn on_words(pid: u32, words: &[u64]) -> Result<Doorbell, DoorbellError> {
        if words.len() > WATCHPOINTS {
            let doorbells = words.len();
            return Err(DoorbellError::TooMany { pid, doorbells });
        }
        let mut watchpoints = Vec::new();
        let mut watched = BTreeSet::new();
        // A thread inherits watchpoints, but not from one that has none yet. Once a round finds no
        // new thread, all have them.
        loop {
            let new: Vec<u32> = threads(pid).difference(&watched).copied().collect();
            if new.is_empty() {
                return Ok(Doorbell { watchpoints });
            }
            for thread in new {
                watched.insert(thread);
                for word in words {
                    match Watchpoint::on_writes(thread, *word) {
                        Ok(watchpoint) => watchpoints.push(watchpoint),
                        Err(_) if !threads(pid).contains(&thread) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }

    /// Returns how many submissions there were since the watch began.
    ///
    /// # Errors
    ///
    /// If the kernel does not tell.
    pub fn submissions(&self) -> Result<u64, DoorbellError> {
        let mut submissions = 0;
        for watchpoint in &self.watchpoints {
            submissions += watchpoint.writes()?;
        }
        Ok(submissions)
    }
}

/// Returns where a mapping begins that has the form of a doorbell's, from a line of
/// `/proc/PID/maps`.
fn mapping_of_gpu(line: &str) -> Option<u64> {
    // A container may have its devices below another folder.
    let (_, number) = line.rsplit_once("/dev/nvidia")?;
    let is_gpu = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    (is_gpu && end.checked_sub(start)? == MAPPING_BYTES).then_some(start)
}

fn threads(pid: u32) -> BTreeSet<u32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_gpus_with_the_doorbells_size_are_found() {
        let start = |line| mapping_of_gpu(line);
        let doorbell = "7f0000010000-7f0000020000 rw-s 00000000 00:05 42   /dev/nvidia0";
        assert_eq!(start(doorbell), Some(0x7f00_0001_0000));
        assert_eq!(
            start("7f0000010000-7f0000210000 rw-s 00000000 00:05 42   /dev/nvidia0"),
            None
        );
        assert_eq!(
            start("7f0000010000-7f0000020000 rw-s 00000000 00:05 42   /dev/nvidiactl"),
            None
        );
        assert_eq!(start("7f0000010000-7f0000020000 rw-p 00000000 00:00 0"), None);
    }

    #[test]
    fn more_doorbells_than_watchpoints_are_refused() {
        let error = Doorbell::on_words(7, &[0; 5]).expect_err("there are four watchpoints");
        assert_eq!(
            error.to_string(),
            "process `7` has mapped 5 doorbells, and a processor watches at most 4"
        );
    }

    #[test]
    fn a_process_without_a_gpu_has_no_doorbell() {
        let pid = std::process::id();
        let error = Doorbell::of_process(pid).expect_err("there is no GPU");
        assert_eq!(
            error.to_string(),
            format!("process `{pid}` has not mapped the doorbell of a GPU")
        );
    }
}
