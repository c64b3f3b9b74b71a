//! Hand-made records of a run in which every verdict occurs.

use gpubench_contract::{Cause, Grade, SubmissionFacts, Verdict, *};
use gpubench_stats::{median, summary, twin, worker_share};
use gpubench_store::testing::gpu;

/// A run: its first record, its cases, their results and its last record.
#[derive(Clone)]
pub struct SampleRun {
    /// Its first record.
    pub started: RunStarted,
    /// Its cases.
    pub cases: Vec<BenchmarkStarted>,
    /// Their results.
    pub results: Vec<BenchmarkComplete>,
    /// Its comparison with another run.
    pub comparison: Option<ComparisonComplete>,
    /// Its last record.
    pub finished: RunFinished,
}

impl SampleRun {
    /// The run's records in order.
    pub fn records(&self) -> Vec<Record> {
        let mut records = vec![Record::RunStarted(Box::new(self.started.clone()))];
        for (case, result) in self.cases.iter().zip(&self.results) {
            records.push(Record::BenchmarkStarted(case.clone()));
            records.push(Record::BenchmarkComplete(Box::new(result.clone())));
        }
        records.push(Record::RunFinished(self.finished.clone()));
        records
    }
}

/// A run of two packages on the CPU device with every verdict in it.
pub fn every_verdict() -> SampleRun {
    let mut cases = Cases::default();
    cases.push("suite", "copy::axpy", &[("len", ParamValue::Int(1 << 20))], |case| {
        let on_cpu = KernelUse {
            kernel: "axpy".into(),
            resources: None,
            ..add_one(1 << 20)
        };
        BenchmarkComplete {
            kernels: Some(vec![on_cpu]),
            ..passed(case, Grade::Unverified, 1_204_000.0, 0.004)
        }
    });
    cases.push("suite", "copy::axpy", &[("len", ParamValue::Int(1 << 24))], |case| {
        BenchmarkComplete {
            throughput: Throughput::default(),
            sample_flags: vec![SampleFlag {
                sample: 1,
                flag: SampleFlagKind::Preempted,
                reasons: Vec::new(),
            }],
            ..passed(case, Grade::Sealed, 3_650.0, 0.11)
        }
    });
    cases.push("suite", "copy::nothing", &[], |case| {
        passed(case, Grade::Sandboxed, 0.0, 0.0)
    });
    let gray = [
        ("width", ParamValue::Int(4)),
        ("height", ParamValue::Int(2)),
        ("gamma", ParamValue::Float(2.0)),
    ];
    cases.push("suite", "image::grayscale", &gray, wrong_output);
    let mode = [(
        "mode",
        ParamValue::Text("all at once, and \"more\" | than fits on one line of a table".into()),
    )];
    cases.push("suite", "image::late", &mode, |case| {
        failed(
            case,
            Verdict::LateWrite,
            Some(Cause::Late),
            "128 bytes of `gray` changed after call 3 ended",
        )
    });
    cases.push("suite", "time::short", &[], |case| BenchmarkComplete {
        conservation: Some(Conservation {
            claimed_ns: 1_000.0,
            observed_ns: 342_000.0,
            control_ns: Some(291_000.0),
            verified_ns: Some(51_000.0),
            excess_ns: Some(50_000.0),
            bound_ns: Some(2_400.0),
            ..Conservation::default()
        }),
        ..failed(
            case,
            Verdict::TimeMismatch,
            Some(Cause::ClaimTooShort),
            "a call takes 51.0 µs by the referee's clock, 50.0 µs more than the worker claims; the bound for honest claims is 2.4 µs",
        )
    });
    cases.push("suite", "time::too_fast", &[], |case| {
        failed(
            case,
            Verdict::BelowFloor,
            Some(Cause::BelowBandwidth),
            "call 9 took 1000 ns, but its declared bytes, less what the cache can hold, take at least 1748 ns at the device's peak bandwidth",
        )
    });
    cases.push("suite", "wild::store", &[("len", ParamValue::Int(64))], |case| {
        let message = "kernel `store`: invalid write at address 0x7f2c5e3ff104, 4 bytes past the end of `y` (256 bytes); block (1, 0, 0), thread (31, 0, 0), step 1 of the plan, call 1";
        failed(case, Verdict::Crashed, Some(Cause::OutOfBounds), message)
    });
    cases.push("suite", "wild::endless", &[], |case| {
        failed(
            case,
            Verdict::Timeout,
            Some(Cause::Slow),
            "call 1 did not finish within 10s (hint: raise the limit with `--timeout`)",
        )
    });
    cases.push("suite", "wild::liar", &[], |case| {
        failed(
            case,
            Verdict::ProtocolViolation,
            Some(Cause::BadClaim),
            "the worker claims -1 ns for call 1, but the referee's clock shows 51000 ns",
        )
    });
    cases.push("tensor-cores", "mma::bf16", &[], |case| BenchmarkComplete {
        cause: Some(Cause::Unsupported),
        message: Some("needs a CUDA device of compute capability 8.0".into()),
        ..BenchmarkComplete::unmeasured(case, cpu().short(), Verdict::Skipped)
    });
    cases.push("tensor-cores", "mma::broken", &[], |case| {
        let message = "could not compile `mma.cu` for the CPU device\nkernels/mma.cu:3:17: error: expected ';' before '}' token\n    3 |     y[i] = x[i] }\n      |                 ^\n";
        failed(case, Verdict::Error, Some(Cause::CompileFailed), message)
    });
    cases.finish()
}

/// A run in which everything passed, on a GPU.
pub fn all_passed() -> SampleRun {
    let mut cases = Cases::default();
    cases.push("suite", "axpy", &[], |case| {
        passed(case, Grade::Sealed, 205_200.0, 0.0016)
    });
    let mut run = cases.finish();
    run.started.device = gpu();
    run.results[0].device = gpu().short();
    run
}

/// A kernel of `n / 256` blocks.
fn add_one(n: u64) -> KernelUse {
    KernelUse {
        kernel: "add_one".into(),
        launches: 1,
        grid: [n / 256, 1, 1],
        block: [256, 1, 1],
        cluster: None,
        dynamic_shared_bytes: 0,
        resources: Some(KernelResources {
            registers: 16,
            local_bytes: 0,
            spill_store_bytes: Some(0),
            spill_load_bytes: Some(0),
            static_shared_bytes: 0,
            blocks_per_multiprocessor: 8,
            occupancy: Some(1.0),
            limited_by: vec![OccupancyLimit::Threads],
            waves: Some((n / 256) as f64 / (8.0 * 132.0)),
        }),
    }
}

/// A kernel of clusters that spills registers, and one that the device could not tell about.
fn softmax() -> Vec<KernelUse> {
    let rows = KernelUse {
        kernel: "softmax_rows<float, 128>".into(),
        launches: 2,
        grid: [64, 4, 1],
        block: [32, 8, 1],
        cluster: Some([2, 1, 1]),
        dynamic_shared_bytes: 32 << 10,
        resources: Some(KernelResources {
            registers: 128,
            local_bytes: 64,
            spill_store_bytes: Some(24),
            spill_load_bytes: Some(48),
            static_shared_bytes: 1 << 10,
            blocks_per_multiprocessor: 2,
            occupancy: Some(0.25),
            limited_by: vec![OccupancyLimit::Registers, OccupancyLimit::SharedMemory],
            waves: Some(0.97),
        }),
    };
    let normalize = KernelUse {
        kernel: "normalize".into(),
        launches: 1,
        cluster: None,
        dynamic_shared_bytes: 0,
        resources: None,
        ..rows.clone()
    };
    vec![rows, normalize]
}

/// Returns a run whose cases are also measured warm, in half of the time.
pub fn in_two_modes(run: SampleRun) -> SampleRun {
    let mut doubled = SampleRun {
        cases: Vec::new(),
        results: Vec::new(),
        ..run
    };
    for (case, result) in run.cases.iter().zip(run.results) {
        for mode in [Mode::Cold, Mode::Warm] {
            let index = doubled.cases.len() as u64;
            doubled.cases.push(BenchmarkStarted {
                mode,
                index,
                ..case.clone()
            });
            let result = BenchmarkComplete {
                mode,
                index,
                ..result.clone()
            };
            doubled.results.push(match mode {
                Mode::Warm => twice_as_fast(result),
                _ => result,
            });
        }
    }
    doubled.started.cases = doubled.cases.len() as u64;
    let RunFinished {
        passed,
        failed,
        skipped,
        ..
    } = &mut doubled.finished;
    [passed, failed, skipped].into_iter().for_each(|count| *count *= 2);
    doubled
}

fn twice_as_fast(mut result: BenchmarkComplete) -> BenchmarkComplete {
    result.samples.iter_mut().for_each(|sample| *sample /= 2.0);
    let stats = result.stats.take();
    result.stats = stats.and_then(|_| summary(&result.samples_by_worker()));
    let Throughput {
        bytes_per_s,
        bytes_from: _,
        flops_per_s,
        of_peak_bandwidth,
        of_peak_flops,
        counters,
    } = &mut result.throughput;
    counters.iter_mut().for_each(|counter| counter.per_s *= 2.0);
    for rate in [bytes_per_s, flops_per_s, of_peak_bandwidth, of_peak_flops] {
        *rate = rate.map(|rate| 2.0 * rate);
    }
    result
}

/// The steps of two kernels and a memset, at their medians.
fn softmax_steps() -> Vec<StepTimes> {
    let step = |(name, median_ns): (&str, f64)| StepTimes {
        step: name.into(),
        times: PartTimes {
            n: 6,
            median_ns,
            q1_ns: 0.99 * median_ns,
            q3_ns: 1.01 * median_ns,
            min_ns: 0.98 * median_ns,
            max_ns: 1.02 * median_ns,
        },
    };
    let rows = "softmax_rows<float, 128>";
    [
        ("memset", 2_112.0),
        (rows, 30_720.0),
        (rows, 20_480.0),
        ("normalize", 10_240.0),
    ]
    .map(step)
    .to_vec()
}

/// The same samples, from three workers.
fn by_three_workers(result: BenchmarkComplete) -> BenchmarkComplete {
    let share = result.samples.len().div_ceil(3);
    let by_worker: Vec<&[f64]> = result.samples.chunks(share).collect();
    BenchmarkComplete {
        stats: summary(&by_worker),
        workers: by_worker.into_iter().map(worker_share).collect(),
        ..result
    }
}

/// A run on a GPU: sealed results, one that the GPU's state disturbed, one without a second clock,
/// and a failure.
pub fn on_gpu() -> SampleRun {
    let mut cases = Cases::default();
    let gigabytes = |bytes: u64, value: f64| {
        let work = Amounts::declared(Some(bytes), Some(bytes / 8));
        let peaks = Peaks {
            bandwidth: gpu().peak_bandwidth,
            flops: Some(67e12),
        };
        Throughput::new(work, value, peaks)
    };
    for (n, value, spread) in [
        (1024, 3_648.0, 0.08),
        (2_097_152, 10_176.0, 0.03),
        (67_108_864, 205_200.0, 0.0016),
    ] {
        let params = [("n", ParamValue::Int(n))];
        cases.push("suite", "axpy::add_one", &params, |case| {
            let result = by_three_workers(passed(case, Grade::Sealed, value, spread));
            let stats = result.stats.as_ref().expect("samples");
            BenchmarkComplete {
                throughput: gigabytes(8 * n as u64, stats.value),
                kernels: Some(vec![add_one(n as u64)]),
                event_overhead_ns: Some(1_280.0),
                conservation: Some(Conservation {
                    claimed_ns: value,
                    observed_ns: value + 291_400.0,
                    control_ns: Some(291_000.0),
                    verified_ns: Some(value + 400.0),
                    added_ns: Some(0.0),
                    excess_ns: Some(400.0),
                    bound_ns: Some(2_400.0),
                    residuals_ns: (0..result.samples.len() as i64)
                        .map(|sample| 291_400 + 32 * (sample % 3 - 1))
                        .collect(),
                    control_residuals_ns: vec![290_968, 291_000, 291_032],
                    control_shares: vec![1; 3],
                }),
                ..result
            }
        });
    }
    cases.push("suite", "softmax::rows", &[("rows", ParamValue::Int(4096))], |case| {
        BenchmarkComplete {
            throughput: gigabytes(128 << 20, 61_440.0),
            kernels: Some(softmax()),
            steps: softmax_steps(),
            window_counts: WindowCounts {
                parts: 6,
                warm_up: 4,
                timed: 8,
                early_check: 2,
                ..WindowCounts::default()
            },
            windows: 20,
            sample_flags: vec![SampleFlag {
                sample: 3,
                flag: SampleFlagKind::Throttled,
                reasons: vec!["power-cap".into()],
            }],
            notices: vec!["the GPU throttled while samples were taken: power-cap".into()],
            ..passed(case, Grade::Sealed, 61_440.0, 0.01)
        }
    });
    cases.push("suite", "gemm::cublas", &[("n", ParamValue::Int(4096))], |case| {
        BenchmarkComplete {
            throughput: gigabytes(192 << 20, 190_464.0),
            execution: Some(Execution::Hosted),
            grade_reason: Some("2 other processes are using the device".into()),
            ..passed(case, Grade::Unverified, 190_464.0, 0.002)
        }
    });
    cases.push("suite", "gemm::hand_made", &[("n", ParamValue::Int(4096))], |case| {
        failed(
            case,
            Verdict::Crashed,
            Some(Cause::OutOfBounds),
            "kernel `gemm`: an illegal address: the kernel accessed unmapped memory or wrote to a read-only input (`CUDA_ERROR_ILLEGAL_ADDRESS`); step 1 of the plan, call 1",
        )
    });
    let mut run = cases.finish();
    run.started.device = gpu();
    run.started.environment = Environment {
        driver: Some("580.159 (CUDA 13.0)".into()),
        threads: None,
        flush_bytes: Some(120 << 20),
        ..environment()
    };
    for result in &mut run.results {
        result.device = gpu().short();
        result.environment = gpu_environment();
    }
    run
}

fn gpu_environment() -> Environment {
    let state = |clock_hz, temperature_c, power_w| GpuState {
        clock_hz: Some(clock_hz),
        memory_clock_hz: Some(3.201e9),
        temperature_c: Some(temperature_c),
        power_w: Some(power_w),
        throttle_reasons: Some(vec!["idle".into()]),
    };
    Environment {
        driver: Some("580.159 (CUDA 13.0)".into()),
        threads: None,
        flush_bytes: Some(120 << 20),
        clock_hz: Some(1.98e9),
        throttle_reasons: Some(vec!["idle".into()]),
        gpu: Some(GpuEnvironment {
            sample_clock_hz: Some(1.98e9),
            before: state(1.2e9, 31.0, 78.5),
            after: Some(state(1.98e9, 33.0, 131.25)),
            persistence_mode: Some(true),
            uncorrected_ecc_errors: Some(0),
            new_uncorrected_ecc_errors: Some(0),
            xids: Some(vec![]),
            other_clients: None,
        }),
        ..environment()
    }
}

/// A run in which three implementations compete on one problem, at two sizes.
pub fn competition() -> SampleRun {
    let mut cases = Cases::default();
    let problem = |result| BenchmarkComplete {
        problem: Some("matmul::square".into()),
        ..result
    };
    for (benchmark, slower) in [
        ("matmul::naive", 3.2),
        ("matmul::tiled", 1.0),
        ("matmul::vectorized", 1.001),
    ] {
        for n in [256, 512] {
            let time = (n as f64).powi(3) * slower;
            cases.push("suite", benchmark, &[("n", ParamValue::Int(n))], |case| {
                problem(passed(case, Grade::Unverified, time, 0.004))
            });
        }
    }
    let message = "nothing was written to `c` in call 1; first wrong element `c[0, 0]`: expected 64.25 within rtol 1e-5, atol 1e-6, got NaN (hint: outputs start as noise; write every element, or set them first, as `Launcher::memset` does)";
    let broken = |case: &BenchmarkStarted| problem(failed(case, Verdict::WrongOutput, Some(Cause::Unwritten), message));
    cases.push("suite", "matmul::wrong", &[("n", ParamValue::Int(256))], broken);
    cases.finish()
}

/// Returns the run with its benchmarks as submissions.
pub fn submitted(mut run: SampleRun) -> SampleRun {
    for result in &mut run.results {
        let name = result.benchmark.rsplit("::").next().unwrap_or_default();
        result.submission = Some(SubmissionFacts {
            place: format!("{name}.cu"),
            sha256: Some("ab".repeat(32)),
            is_solution: false,
            score_rule: ScoreRule::GeometricMean,
            hidden_case: None,
        });
    }
    run
}

/// Returns the run with the results of each problem and each set of arguments in a contest of five
/// rounds.
pub fn in_contests(mut run: SampleRun) -> SampleRun {
    let firsts: Vec<(Option<String>, Params)> = run
        .results
        .iter()
        .map(|result| (result.problem.clone(), result.params.clone()))
        .collect();
    for result in &mut run.results {
        let same = (result.problem.clone(), result.params.clone());
        let number = firsts.iter().position(|first| *first == same).unwrap_or_default();
        result.contest = Some(ContestShare {
            number: number as u64,
            confidence: 0.99,
            analyses: 3,
        });
        let rounds = (0..5).map(|round| {
            let drift = 1.0 + 0.1 * f64::from(round) + 0.0005 * ((u64::from(round as u32) + result.index) % 3) as f64;
            result.samples.iter().map(|sample| sample * drift).collect::<Vec<f64>>()
        });
        let rounds: Vec<Vec<f64>> = rounds.collect();
        result.workers = rounds.iter().map(|samples| worker_share(samples)).collect();
        result.samples = rounds.concat();
    }
    run
}

#[derive(Default)]
struct Cases {
    cases: Vec<BenchmarkStarted>,
    results: Vec<BenchmarkComplete>,
}

impl Cases {
    fn push(
        &mut self,
        package: &str,
        benchmark: &str,
        params: &[(&str, ParamValue)],
        result: impl Fn(&BenchmarkStarted) -> BenchmarkComplete,
    ) {
        let params = Params(
            params
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        );
        let case = match params.0.len() {
            0 => benchmark.to_owned(),
            _ => format!("{benchmark}::{params}"),
        };
        let started = BenchmarkStarted {
            schema_version: SchemaVersion,
            run_id: "0f3a".into(),
            package: package.into(),
            benchmark: benchmark.into(),
            params,
            case,
            mode: Mode::Cold,
            metric: Metric::time(),
            counters: Vec::new(),
            index: self.cases.len() as u64,
        };
        self.results.push(result(&started));
        self.cases.push(started);
    }

    fn finish(self) -> SampleRun {
        let count =
            |wanted: fn(Verdict) -> bool| self.results.iter().filter(|result| wanted(result.verdict)).count() as u64;
        let finished = RunFinished {
            schema_version: SchemaVersion,
            run_id: "0f3a".into(),
            passed: count(|verdict| verdict == Verdict::Pass),
            failed: count(Verdict::is_failure),
            skipped: count(|verdict| verdict == Verdict::Skipped),
            seed: "ab".repeat(32),
            not_run: 0,
            end: RunEnd::Completed,
            wall_ns: 14_240_000_000,
        };
        let mut packages: Vec<String> = self.cases.iter().map(|case| case.package.clone()).collect();
        packages.dedup();
        let started = RunStarted {
            schema_version: SchemaVersion,
            run_id: "0f3a".into(),
            started_at: "2026-11-20T13:43:00Z".into(),
            tool_version: "0.1.0".into(),
            seed_commitment: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into(),
            revision: None,
            device: cpu(),
            packages,
            cases: self.cases.len() as u64,
            environment: environment(),
            repeat: Some(RepeatedCommand::default()),
            grading: None,
            resumption: None,
        };
        SampleRun {
            started,
            cases: self.cases,
            results: self.results,
            comparison: None,
            finished,
        }
    }
}

fn passed(case: &BenchmarkStarted, grade: Grade, center_ns: f64, spread: f64) -> BenchmarkComplete {
    let samples: Vec<f64> = [-1.0, 0.5, 0.0, 1.0, -0.5, 0.25, 0.0, -0.25]
        .map(|step| center_ns * (1.0 + spread * step))
        .to_vec();
    let stats = summary(&[&samples]).unwrap();
    let work = Amounts::declared(Some(12 << 20), Some(2 << 20));
    let elements = 1 << 20;
    BenchmarkComplete {
        problem: Some(case.benchmark.clone()),
        grade: Some(grade),
        execution: Some(Execution::Sealed),
        throughput: Throughput::new(
            work,
            stats.value,
            Peaks {
                bandwidth: Some(25e9),
                flops: None,
            },
        ),
        stats: Some(stats),
        host_ns: Some(HostTime {
            median_ns: median(&[900.0, 1_100.0, 1_000.0]).unwrap(),
            min_ns: 900.0,
            max_ns: 1_100.0,
        }),
        event_overhead_ns: Some(42.0),
        stop: Some(Stop {
            reason: StopReason::MedianInterval,
            target_cv: 0.01,
        }),
        checks: vec![Check {
            output: "y".into(),
            elements,
            matched: elements,
            mismatched: 0,
            tolerance: Some(AllowedError {
                rtol: 1e-5,
                atol: 1e-6,
                mismatched: None,
            }),
            stale_output_passes: Some(false),
            max_abs_error: Some(1.2e-7),
            median_abs_error: Some(6.0e-8),
            max_rel_error: Some(5.9e-8),
            worst_index: Some(17),
            shape: vec![elements],
            first_wrong: None,
            wrong: Vec::new(),
            pattern: None,
        }],
        windows: 14,
        window_counts: WindowCounts {
            warm_up: 4,
            timed: 8,
            early_check: 2,
            ..WindowCounts::default()
        },
        calls_per_sample: 1,
        distinct_inputs: 14,
        conservation: Conservation::new(center_ns, center_ns + 5_000.0, None),
        twin: twin(&[&[80_100.0, 80_000.0, 79_900.0]]),
        grade_reason: (grade == Grade::Unverified).then(|| {
            "kernels of the CPU device run inside the worker and could change the times that it reports".to_owned()
        }),
        environment: environment(),
        wall_ns: 310_000_000,
        samples,
        ..BenchmarkComplete::unmeasured(case, cpu().short(), Verdict::Pass)
    }
}

fn failed(case: &BenchmarkStarted, verdict: Verdict, cause: Option<Cause>, message: &str) -> BenchmarkComplete {
    BenchmarkComplete {
        cause,
        message: Some(message.into()),
        windows: 1,
        window_counts: WindowCounts {
            warm_up: 1,
            ..WindowCounts::default()
        },
        calls_per_sample: 1,
        distinct_inputs: 1,
        wall_ns: 20_000_000,
        ..BenchmarkComplete::unmeasured(case, cpu().short(), verdict)
    }
}

fn wrong_output(case: &BenchmarkStarted) -> BenchmarkComplete {
    let element = |value: f32| ElementValue::from(value);
    let found = |output: &str, wrong: u64, got: ElementValue| Check {
        output: output.into(),
        elements: 8,
        matched: 8 - wrong,
        mismatched: 0,
        tolerance: Some(AllowedError {
            rtol: 0.0,
            atol: 0.0,
            mismatched: None,
        }),
        stale_output_passes: None,
        max_abs_error: Some(0.25),
        median_abs_error: Some(0.25),
        max_rel_error: Some(0.5),
        worst_index: Some(5),
        shape: vec![2, 4],
        first_wrong: (wrong > 0).then(|| WrongElement {
            index: 5,
            expected: element(0.5),
            got,
        }),
        wrong: (5..5 + wrong)
            .map(|index| WrongElement {
                index,
                expected: element(0.5),
                got,
            })
            .collect(),
        pattern: (wrong > 1).then(|| format!("the wrong elements are `{output}[1, 1..4]`")),
    };
    BenchmarkComplete {
        samples: vec![1_000.0],
        stats: summary(&[&[1_000.0]]),
        grade: Some(Grade::Unverified),
        checks: vec![
            found("gray", 3, element(0.25)),
            found("alpha", 0, element(0.0)),
            found("histogram", 1, element(f32::NAN)),
        ],
        ..failed(
            case,
            Verdict::WrongOutput,
            Some(Cause::Stale),
            "`gray` in call 3 repeats the expected output of call 2; first wrong element `gray[1, 1]`: expected 0.5 exactly, got 0.25",
        )
    }
}

fn cpu() -> Device {
    Device {
        kind: DeviceKind::Cpu,
        name: "Example Processor 9000".into(),
        multiprocessors: Some(2),
        capability: None,
        l2_bytes: Some(32 << 20),
        clock_tick_ns: Some(1.0),
        peak_bandwidth: None,
        peak_flops: None,
        peak_arithmetic: None,
        uuids: Vec::new(),
    }
}

fn environment() -> Environment {
    Environment {
        host: None,
        kernel: Some("6.8.0".into()),
        cpu: Some("Example Processor 9000".into()),
        cpus: Some(2),
        load_1m: Some(0.5),
        threads: Some(2),
        flush_bytes: Some(8 << 20),
        flush: Some(Flush::Read),
        ..Environment::default()
    }
}
