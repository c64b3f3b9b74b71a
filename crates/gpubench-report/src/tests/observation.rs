//! Hand-made records of an observation.

use gpubench_contract::*;

pub(crate) fn started() -> ProbeStarted {
    ProbeStarted {
        schema_version: SchemaVersion,
        started_at: "2026-11-18T10:00:00Z".into(),
        tool_version: "0.1.0".into(),
        target: ProbeTarget::Command,
        children: true,
        command: ["python", "train.py", "--steps", "7"].map(str::to_owned).to_vec(),
        pid: Some(4711),
        pids: Vec::new(),
        filter: None,
        notices: Vec::new(),
    }
}

fn process(pid: u32, program: &str) -> ProbeProcess {
    ProbeProcess {
        pid,
        program: Some(program.into()),
        command: vec![program.into()],
        running: true,
        wait_status: None,
        seen_ns: 12_400_000_000,
        launches: 123_456,
        graph_launches: 120,
        launches_per_second: 12_345.0,
        copied_bytes: 3 << 30,
        live: 312,
        live_bytes: 3 << 29,
        peak_bytes: 1 << 31,
        oldest_ns: Some(12_100_000_000),
        memory: vec![ProbeAllocations {
            kind: ProbeMemoryKind::Device,
            bytes: 1 << 20,
            count: 312,
            thread: pid,
            oldest_ns: 12_100_000_000,
            newest_ns: 100_000_000,
        }],
        allocations: Vec::new(),
        unfreed: 0,
        unfreed_bytes: 0,
        unknown_frees: 0,
        errors: 3,
        kernels: Vec::new(),
    }
}

fn kernel(name: &str, launches: u64) -> ProbeKernel {
    ProbeKernel {
        name: name.into(),
        mangled: Some(name.into()),
        launches,
        captured_launches: launches / 100_000,
        launches_per_second: launches as f64 / 10.0,
    }
}

fn class(above_ns: u64, at_most_ns: Option<u64>, count: u64) -> ProbeDurationClass {
    ProbeDurationClass {
        above_ns,
        at_most_ns,
        count,
    }
}

fn state() -> ProbeState {
    ProbeState {
        events: 130_000,
        lost_events: 0,
        notices: Vec::new(),
        left_out: None,
        drivers: vec![
            ProbeDriver {
                path: "/usr/lib/x86_64-linux-gnu/libcuda.so.1".into(),
                emulated: 320,
                stepped: 0,
                returns: 174,
                pays: ProbePayer::EveryProcess,
            },
            ProbeDriver {
                path: "/opt/odd/libcuda.so.1".into(),
                emulated: 2,
                stepped: 1,
                returns: 0,
                pays: ProbePayer::OneProcess,
            },
        ],
        processes_seen: 5,
        processes: vec![
            process(4711, "python"),
            ProbeProcess {
                running: false,
                wait_status: Some(0),
                launches_per_second: 0.0,
                live: 0,
                live_bytes: 0,
                oldest_ns: None,
                unfreed: 2,
                unfreed_bytes: 2 << 20,
                memory: vec![ProbeAllocations {
                    kind: ProbeMemoryKind::Device,
                    bytes: 1 << 20,
                    count: 2,
                    thread: 4802,
                    oldest_ns: 2_000_000_000,
                    newest_ns: 400_000_000,
                }],
                ..process(4801, "data-loader")
            },
        ],
        processes_left_out: 0,
        work: ProbeWork {
            plain_launches: 100_000,
            extended_launches: 23_456,
            captured_launches: 40,
            graph_launches: 120,
            launches_per_second: 12_345.6,
            graph_launches_per_second: 12.0,
            memsets: 17,
            memset_bytes: 1 << 20,
            waits: 240,
            waited_ns: 1_200_000_000,
            ..ProbeWork::default()
        },
        kernels: vec![
            kernel(
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)",
                100_000,
            ),
            kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", 23_400),
            ProbeKernel {
                mangled: None,
                ..kernel("(unnamed)", 56)
            },
        ],
        kernels_left_out: 0,
        copies: vec![
            ProbeCopies {
                direction: ProbeDirection::HostToDevice,
                copies: 120,
                bytes: 3 << 30,
                bytes_per_second: 1.2e9,
                bandwidth: Some(24.3e9),
            },
            ProbeCopies {
                direction: ProbeDirection::DeviceToHost,
                copies: 12,
                bytes: 4096,
                bytes_per_second: 0.0,
                bandwidth: None,
            },
        ],
        durations: vec![
            ProbeDurations {
                calls: ProbeTimedCalls::Allocation,
                count: 314,
                total_ns: 40_000_000,
                classes: vec![class(2_000, Some(5_000), 300), class(1_000_000, Some(2_000_000), 14)],
            },
            ProbeDurations {
                calls: ProbeTimedCalls::StreamWait,
                count: 240,
                total_ns: 1_200_000_000,
                classes: vec![class(0, Some(1_000), 1_234), class(10_000_000_000, None, 1)],
            },
        ],
        memory: vec![ProbeMemory {
            kind: ProbeMemoryKind::Device,
            allocations: 1000,
            allocated_bytes: 5 << 30,
            frees: 686,
            freed_bytes: 3 << 30,
            live: 312,
            live_bytes: 3 << 29,
            unfreed: 2,
            unfreed_bytes: 2 << 20,
            untracked: 0,
        }],
        unknown_frees: 1,
        errors: vec![ProbeError {
            call: "cuMemAlloc".into(),
            code: 2,
            name: Some("CUDA_ERROR_OUT_OF_MEMORY".into()),
            count: 3,
        }],
        errors_left_out: 0,
        calls: vec![ProbeCalls {
            call: "cuLaunchKernel".into(),
            calls: 100_040,
            errors: None,
            lost: 0,
        }],
    }
}

pub(crate) fn sample() -> ProbeSample {
    ProbeSample {
        schema_version: SchemaVersion,
        elapsed_ns: 12_400_000_000,
        interval_ns: 1_000_000_000,
        calls: Some(state()),
        processes_only: None,
    }
}

/// A sample with more rows than a terminal has.
pub(crate) fn busy() -> ProbeSample {
    let mut sample = sample();
    let seen = sample.calls.as_mut().expect("calls");
    seen.processes = (0..30)
        .map(|pid| process(u32::MAX - pid, "a-program-with-a-long-name"))
        .collect();
    seen.kernels = (0..60)
        .map(|number| kernel(&format!("kernel_{number}"), 10 + number))
        .collect();
    seen.lost_events = 12;
    sample
}

/// A sample with names that try to change the terminal or the page.
pub(crate) fn hostile() -> ProbeSample {
    let mut sample = sample();
    let name = "<script>\x1b[2J\r\n\u{202e}\"'&";
    let seen = sample.calls.as_mut().expect("calls");
    seen.processes[0].program = Some(name.into());
    seen.kernels[0].name = name.into();
    seen.errors[0].call = name.into();
    sample
}

pub(crate) fn finished() -> ProbeFinished {
    let steps = 1..=60_u64;
    ProbeFinished {
        schema_version: SchemaVersion,
        elapsed_ns: 62_000_000_000,
        end: ProbeEnd::Ended,
        exit_code: Some(0),
        signal: None,
        calls: Some(state()),
        processes_only: None,
        timeline: steps
            .map(|step| ProbePoint {
                elapsed_ns: step * 1_000_000_000,
                live_bytes: step * (1 << 24),
                launches: 2000 + 500 * (step % 7),
                copied_bytes: (step % 5) << 20,
                errors: u64::from(step == 30) * 3,
            })
            .collect(),
    }
}

fn outlined(pid: u32, program: &str) -> OutlinedProcess {
    OutlinedProcess {
        pid,
        program: Some(program.into()),
        command: vec![program.into(), "--steps".into(), "7".into()],
        running: true,
        seen_ns: 12_400_000_000,
        driver: true,
        submissions: Some(123_456),
        counted_ns: Some(12_100_000_000),
    }
}

fn outline() -> ProbeOutline {
    ProbeOutline {
        left_out: None,
        processes_seen: 4,
        processes: vec![
            outlined(4711, "python"),
            OutlinedProcess {
                submissions: None,
                counted_ns: None,
                ..outlined(4712, "<b>helper")
            },
            OutlinedProcess {
                running: false,
                driver: false,
                submissions: None,
                counted_ns: None,
                ..outlined(4713, "sh")
            },
        ],
        processes_left_out: 1,
        submissions: Some(123_456),
        submissions_per_second: Some(10_123.4),
        lost_events: 0,
    }
}

/// The start where calls cannot be observed.
pub(crate) fn started_without_calls() -> ProbeStarted {
    ProbeStarted {
        notices: vec!["launches, memory, copies and errors are not observed: no rights; run it as root".into()],
        ..started()
    }
}

/// A sample where calls cannot be observed.
pub(crate) fn sample_without_calls() -> ProbeSample {
    ProbeSample {
        calls: None,
        processes_only: Some(outline()),
        ..sample()
    }
}

/// An end where calls cannot be observed.
pub(crate) fn finished_without_calls() -> ProbeFinished {
    ProbeFinished {
        calls: None,
        processes_only: Some(outline()),
        timeline: Vec::new(),
        ..finished()
    }
}
