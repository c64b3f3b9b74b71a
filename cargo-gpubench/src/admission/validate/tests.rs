use super::*;
use gpubench::catalog::{
    DType, DeviceKind, Execution, Reference, Role, Source, SourceFile, SourceForm, Tolerance, Work,
};
use gpubench::plan::{
    Argument, BufferId, ConstantValue, Cooperation, Dependence, Launch, Span, TensorMapDescription, TensorMapElement,
};

mod limits;

fn facts() -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cpu,
        name: "test".to_owned(),
        multiprocessors: 2,
        capability: 0,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [1 << 20, 65_535, 65_535],
        shared_per_block: 49_152,
        shared_per_block_optin: 49_152,
        l2_bytes: 1 << 20,
    }
}

fn catalog() -> Catalog {
    let text = "template <int N> __global__ void reduce(float *x) {}\n__global__ void axpy(float *y) {}".to_owned();
    let files = vec![SourceFile {
        path: "a.cu".to_owned(),
        contents: text.into(),
    }];
    let source = Source {
        name: "a.cu".to_owned(),
        form: SourceForm::Cuda,
        files,
        options: Vec::new(),
    };
    Catalog {
        benchmarks: Vec::new(),
        problems: Vec::new(),
        sources: vec![source],
    }
}

fn on_cpu(recording: &Recording) -> CodePlacement<'_> {
    CodePlacement::new(recording, KernelHost::Author)
}

fn launch() -> Launch {
    Launch {
        kernel: KernelRef {
            source: 0,
            name: "axpy".to_owned(),
        },
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments: vec![Argument::Pointer {
            buffer: BufferId::Tensor(1),
            offset: 0,
        }],
        types: Vec::new(),
        place: String::new(),
    }
}

fn recording() -> Recording {
    let tensor = |name: &str, role, fill| Tensor {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: vec![8],
        role,
        fill,
        tolerance: Tolerance::Exact,
        record: None,
    };
    Recording {
        tensors: vec![
            tensor("x", Role::Input, Fill::Uniform { low: 0.0, high: 1.0 }),
            tensor("y", Role::Output, Fill::Poison),
        ],
        work: Work::default(),
        plan: Plan {
            steps: vec![Step::Launch(launch())],
            scratch: vec![16],
            constants: Vec::new(),
        },
        execution: Execution::Sealed,
        call: None,
        reference: Reference::Author,
    }
}

fn tensor_map() -> Argument {
    Argument::TensorMap {
        buffer: BufferId::Tensor(0),
        offset: 0,
        map: TensorMapDescription {
            element: TensorMapElement::F32,
            dims: vec![8],
            strides: Vec::new(),
            box_dims: vec![16],
            element_strides: vec![1],
            interleave: Default::default(),
            swizzle: Default::default(),
            l2_promotion: Default::default(),
            fill: Default::default(),
        },
    }
}

#[test]
fn a_tensor_map_is_validated_if_the_device_supports_it() {
    let gpu = DeviceFacts {
        capability: 90,
        ..facts()
    };
    let verdict_of = |bytes: u64| {
        let mut recording = recording();
        recording.tensors[0].shape = vec![bytes / 4];
        let Step::Launch(launch) = &mut recording.plan.steps[0] else {
            unreachable!()
        };
        launch.arguments = vec![tensor_map()];
        validate(&on_cpu(&recording), &catalog(), &gpu).map_err(|Invalid(message)| message)
    };
    assert_eq!(verdict_of(32), Ok(()));
    let refused = verdict_of(16).expect_err("eight floats have 32 bytes");
    assert!(
        refused.contains("argument 1: tensor map: it extends past the end"),
        "{refused}"
    );
}

fn verdict(change: impl FnOnce(&mut Recording)) -> String {
    let mut recording = recording();
    change(&mut recording);
    validate(&on_cpu(&recording), &catalog(), &facts()).map_or_else(|Invalid(message)| message, |()| "valid".to_owned())
}

fn change_launch(change: impl FnOnce(&mut Launch)) -> String {
    verdict(|recording| {
        let Step::Launch(launch) = &mut recording.plan.steps[0] else {
            unreachable!()
        };
        change(launch);
    })
}

#[test]
fn kernels_of_a_compiled_source_are_not_searched_in_its_text() {
    let mut compiled = catalog();
    compiled.sources[0].form = SourceForm::Ptx;
    compiled.sources[0].files[0].contents = b".target sm_75\n".to_vec();
    assert_eq!(validate(&on_cpu(&recording()), &compiled, &facts()), Ok(()));
}

/// Searching the text once per launch would take minutes.
#[test]
fn the_longest_plan_is_valid_whatever_the_length_of_its_kernels_source() {
    let mut long = catalog();
    long.sources[0].files[0]
        .contents
        .extend(b"\n__device__ int x;".repeat(20_000));
    let mut recording = recording();
    let step = recording.plan.steps[0].clone();
    recording.plan.steps.resize(16_384, step);
    assert_eq!(validate(&on_cpu(&recording), &long, &facts()), Ok(()));
}

#[test]
fn a_kernel_that_a_macro_may_define_is_left_to_the_compiler() {
    let mut made = catalog();
    made.sources[0].files[0].contents =
        b"#define KERNEL(name) \\\nextern \"C\" __global__ void name(float *x) {}\nKERNEL(other)\n".to_vec();
    assert_eq!(validate(&on_cpu(&recording()), &made, &facts()), Ok(()));
    made.sources[0].files[0].contents = b"#define GLOBAL 1\n__global__ void other(float *x) {}\n".to_vec();
    let message = validate(&on_cpu(&recording()), &made, &facts())
        .unwrap_err()
        .to_string();
    assert!(message.contains("it declares `other`"), "{message}");
}

#[test]
fn an_output_that_is_only_passed_to_be_read_is_refused() {
    let verdict = |declaration: &str, arguments: &[u32], more: Option<Step>| {
        let mut catalog = catalog();
        catalog.sources[0].files[0].contents = format!("__global__ void axpy({declaration}) {{}}").into();
        let mut recording = recording();
        let pointer = |tensor: &u32| Argument::Pointer {
            buffer: BufferId::Tensor(*tensor),
            offset: 0,
        };
        let arguments = arguments.iter().map(pointer).collect();
        recording.plan.steps = vec![Step::Launch(Launch { arguments, ..launch() })];
        recording.plan.steps.extend(more);
        match validate(&on_cpu(&recording), &catalog, &facts()) {
            Ok(()) => "valid".to_owned(),
            Err(Invalid(message)) => message,
        }
    };
    let refused = "no step can write the output `y`: argument 1 of `axpy` is `const float *x` (hint: two arguments may be in each other's place)";
    let right = "const float *x, float *y";
    assert_eq!(verdict(right, &[1, 0], None), refused);
    assert_eq!(verdict(right, &[0, 1], None), "valid");
    assert_eq!(verdict(right, &[1, 1], None), "valid", "it is also written");
    let target = Span {
        buffer: BufferId::Tensor(1),
        offset: 0,
        len: 4,
    };
    assert_eq!(
        verdict(right, &[1, 0], Some(Step::Memset { target, value: 0 })),
        "valid"
    );
    let other = "const float *x, float *y) {} namespace other { __global__ void axpy(float *x, const float *y) {} } __global__ void more(int a";
    assert_eq!(verdict(other, &[1, 0], None), "valid", "the kernels of a name differ");
    for unclear in [
        "T x, float *y",
        "const float **x, float *y",
        "float *const x, float *y",
        "MORE(x, y), float *z, int a",
    ] {
        assert_eq!(verdict(unclear, &[1, 0], None), "valid", "{unclear}");
    }
}

#[test]
fn template_kernels_and_pointers_to_the_end_are_valid() {
    assert_eq!(verdict(|_| ()), "valid");
    assert_eq!(
        change_launch(|launch| launch.kernel.name = "reduce<256>".to_owned()),
        "valid"
    );
    assert_eq!(
        change_launch(|launch| launch.arguments = vec![Argument::Pointer {
            buffer: BufferId::Scratch(0),
            offset: 16
        }]),
        "valid"
    );
}

#[test]
fn a_hosted_recording_has_outputs_and_no_plan() {
    let hosted = |change: fn(&mut Recording)| {
        verdict(|recording| {
            (recording.execution, recording.plan) = (Execution::Hosted, Plan::default());
            change(recording);
        })
    };
    assert_eq!(hosted(|_| ()), "valid");
    assert_eq!(
        hosted(|recording| recording.plan.scratch.push(16)),
        "a hosted benchmark cannot have a plan"
    );
    assert!(hosted(|recording| drop(recording.tensors.pop())).starts_with("it has no output tensor"));
}

#[test]
fn clusters_and_programmatic_launches_need_device_support() {
    let verdict_on = |capability, change: &dyn Fn(&mut Launch)| {
        let mut recording = recording();
        let Step::Launch(launch) = &mut recording.plan.steps[0] else {
            unreachable!()
        };
        launch.grid = [16, 1, 1];
        change(launch);
        let gpu = DeviceFacts { capability, ..facts() };
        validate(&on_cpu(&recording), &catalog(), &gpu).map_or_else(|Invalid(message)| message, |()| "valid".to_owned())
    };
    let cluster = |cluster: [u32; 3]| verdict_on(90, &move |launch| launch.cluster = cluster);
    let programmatic = |capability| verdict_on(capability, &|launch| launch.dependence = Dependence::Programmatic);
    let messages = [
        cluster([16, 1, 1]),
        cluster([0, 1, 1]),
        cluster([3, 1, 1]),
        cluster([16, 2, 1]),
        cluster([u32::MAX; 3]),
        programmatic(90),
        programmatic(86),
        programmatic(0),
        verdict_on(90, &|launch| launch.cooperation = Cooperation::Grid),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn every_error_in_a_plan_is_reported() {
    let span = |buffer, offset, len| Span { buffer, offset, len };
    let copy = |source, target| Step::Copy { source, target };
    let (x, y) = (BufferId::Tensor(0), BufferId::Tensor(1));
    let value = |source, symbol: &str, bytes| ConstantValue {
        source,
        symbol: symbol.to_owned(),
        bytes: vec![0; bytes],
    };
    let constant =
        |source, symbol, bytes| verdict(|recording| recording.plan.constants.push(value(source, symbol, bytes)));
    assert_eq!(constant(0, "filter::taps", 4), "valid");
    let messages = [
        change_launch(|launch| launch.kernel.name = "axpi".to_owned()),
        change_launch(|launch| launch.kernel.name = " ".to_owned()),
        change_launch(|launch| launch.kernel.source = 9),
        change_launch(|launch| launch.grid[1] = 0),
        change_launch(|launch| launch.grid[2] = 65_536),
        change_launch(|launch| launch.grid = [u32::MAX; 3]),
        change_launch(|launch| launch.block = [0, 1, 1]),
        change_launch(|launch| launch.block = [1024, 2, 1]),
        change_launch(|launch| launch.block = [u32::MAX; 3]),
        change_launch(|launch| launch.block[2] = 65),
        change_launch(|launch| launch.dynamic_shared = 50_000),
        change_launch(|launch| launch.cluster[0] = 2),
        change_launch(|launch| launch.cooperation = Cooperation::Grid),
        change_launch(|launch| launch.arguments = vec![tensor_map()]),
        verdict(|recording| {
            let step = recording.plan.steps[0].clone();
            recording.plan.steps.resize(16_385, step);
        }),
        constant(0, "filter::taps)", 4),
        constant(0, "", 4),
        constant(0, "filter::", 4),
        constant(0, "9taps", 4),
        constant(0, "taps", 0),
        constant(0, "taps", (64 << 10) + 1),
        constant(9, "taps", 4),
        verdict(|recording| recording.plan.constants = vec![value(0, "taps", 4), value(0, "taps", 4)]),
        verdict(|recording| {
            recording.plan.constants.push(value(0, "taps", 4));
            recording.plan.steps = vec![copy(span(x, 0, 8), span(y, 0, 8))];
        }),
        change_launch(|launch| launch.arguments = vec![Argument::Pointer { buffer: y, offset: 33 }]),
        change_launch(|launch| {
            launch.arguments = vec![Argument::Pointer {
                buffer: BufferId::Scratch(1),
                offset: 0,
            }]
        }),
        change_launch(|launch| {
            launch.arguments = vec![Argument::Pointer {
                buffer: BufferId::Tensor(2),
                offset: 0,
            }]
        }),
        verdict(|recording| recording.plan.steps.clear()),
        verdict(|recording| recording.plan.scratch.push(0)),
        verdict(|recording| {
            recording.plan.steps.push(Step::Memset {
                target: span(x, 0, 4),
                value: 0,
            })
        }),
        verdict(|recording| {
            recording.plan.steps.push(Step::Memset {
                target: span(y, 30, 4),
                value: 0,
            })
        }),
        verdict(|recording| {
            recording.plan.steps.push(Step::Memset {
                target: span(y, u64::MAX, 4),
                value: 0,
            })
        }),
        verdict(|recording| recording.plan.steps.push(copy(span(x, 0, 8), span(y, 0, 4)))),
        verdict(|recording| recording.plan.steps.push(copy(span(x, 32, 8), span(y, 0, 8)))),
        verdict(|recording| {
            recording
                .plan
                .steps
                .push(copy(span(x, 0, 8), span(BufferId::Scratch(7), 0, 8)))
        }),
        verdict(|recording| recording.plan.steps.push(copy(span(x, 0, 0), span(y, 0, 0)))),
        verdict(|recording| recording.plan.steps.push(copy(span(y, 0, 8), span(y, 4, 8)))),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_reference_follows_the_rules_of_plans_and_writes_every_output() {
    let reference = |change: &dyn Fn(&mut Plan)| {
        verdict(|recording| {
            let mut plan = Plan {
                scratch: vec![64],
                ..recording.plan.clone()
            };
            change(&mut plan);
            recording.tensors.push(Tensor {
                name: "partial".to_owned(),
                role: Role::Scratch,
                ..recording.tensors[1].clone()
            });
            recording.reference = Reference::Plan(plan);
        })
    };
    let span = |buffer, offset, len| Span { buffer, offset, len };
    let (x, y, partial) = (BufferId::Tensor(0), BufferId::Tensor(1), BufferId::Tensor(2));
    let memset = |target| Step::Memset { target, value: 0 };
    // Beyond the 16 bytes of the plan's scratch.
    let own_scratch = memset(span(BufferId::Scratch(0), 32, 32));
    assert_eq!(reference(&|plan| plan.steps.push(own_scratch.clone())), "valid");
    let messages = [
        reference(&|plan| plan.steps.clear()),
        reference(&|plan| plan.steps = vec![memset(span(BufferId::Scratch(0), 0, 4))]),
        reference(&|plan| plan.steps.push(memset(span(x, 0, 4)))),
        reference(&|plan| plan.steps.push(memset(span(y, 30, 4)))),
        reference(&|plan| plan.steps.push(memset(span(partial, 0, 4)))),
        reference(&|plan| {
            plan.steps.push(Step::Copy {
                source: span(partial, 0, 4),
                target: span(y, 0, 4),
            })
        }),
        reference(&|plan| {
            let mut of_no_kernel = launch();
            // The end of a kernel's name is not a name.
            of_no_kernel.kernel.name = "py".to_owned();
            plan.steps.push(Step::Launch(of_no_kernel));
        }),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_call_and_its_reference_need_no_steps_if_every_output_is_empty() {
    let without_steps = |shapes: &[u64]| {
        verdict(|recording| {
            let output = |(position, extent): (usize, &u64)| Tensor {
                name: format!("y{position}"),
                shape: vec![*extent, 8],
                ..recording.tensors[1].clone()
            };
            let outputs: Vec<Tensor> = shapes.iter().enumerate().map(output).collect();
            recording.tensors.truncate(1);
            recording.tensors.extend(outputs);
            recording.plan.steps.clear();
            recording.reference = Reference::Plan(Plan::default());
        })
    };
    assert_eq!(without_steps(&[0]), "valid");
    assert_eq!(without_steps(&[0, 0]), "valid");
    assert_eq!(without_steps(&[0, 1]), "its reference: it launches nothing");
    assert_eq!(without_steps(&[]), "it has no output tensor, so nothing can be checked");
}

#[test]
fn a_reference_may_leave_an_empty_output_and_no_step_writes_to_one() {
    let with_empty = |step: Option<Step>| {
        verdict(|recording| {
            let empty = Tensor {
                name: "none".to_owned(),
                shape: vec![0],
                ..recording.tensors[1].clone()
            };
            recording.tensors.push(empty);
            recording.plan.steps.extend(step);
            recording.reference = Reference::Plan(Plan {
                steps: vec![Step::Launch(launch())],
                ..Plan::default()
            });
        })
    };
    let at = |offset, len| Step::Memset {
        target: Span {
            buffer: BufferId::Tensor(2),
            offset,
            len,
        },
        value: 0,
    };
    assert_eq!(with_empty(None), "valid");
    assert_eq!(
        with_empty(Some(at(0, 1))),
        "step 2: memset: 1 bytes at offset 0 are out of bounds of `none`, which has 0 bytes"
    );
    assert_eq!(with_empty(Some(at(0, 0))), "step 2: memset: the range is empty");
}

/// Returns a source without the kernel under test, but with a kernel of the same name.
fn source_of_its_own(path: &str, files: Vec<SourceFile>) -> Source {
    let contents = b"__global__ void axpy(float *y, size_t n, unsigned long long seed) {}".to_vec();
    let main = SourceFile {
        path: path.to_owned(),
        contents,
    };
    Source {
        name: path.to_owned(),
        form: SourceForm::Cuda,
        files: [vec![main], files].concat(),
        options: Vec::new(),
    }
}

fn axpy_of(source: u32) -> KernelRef {
    KernelRef {
        source,
        name: "axpy".to_owned(),
    }
}

fn with_reference_of(source: u32) -> Recording {
    let mut recording = recording();
    let mut plan = recording.plan.clone();
    plan.steps = vec![Step::Launch(Launch {
        kernel: axpy_of(source),
        ..launch()
    })];
    recording.reference = Reference::Plan(plan);
    recording
}

fn with_generator_of(source: u32) -> Recording {
    let mut recording = recording();
    recording.tensors[0].fill = Fill::Kernel(axpy_of(source));
    recording
}

#[test]
fn the_referee_runs_no_kernel_from_the_file_of_a_kernel_under_test() {
    let header = SourceFile {
        path: "shared.cuh".to_owned(),
        contents: Vec::new(),
    };
    let mut catalog = catalog();
    catalog.sources[0].files.push(header.clone());
    let main = catalog.sources[0].files[0].clone();
    let declared_again = Source {
        options: vec!["-DTILE=32".to_owned()],
        ..catalog.sources[0].clone()
    };
    catalog.sources.extend([
        source_of_its_own("reference.cu", vec![header]),
        source_of_its_own("including.cu", vec![main]),
        declared_again,
    ]);
    let verdict_of = |recording: &Recording, home| validate(&CodePlacement::new(recording, home), &catalog, &facts());
    let cases = [(0, "refused"), (1, "valid"), (2, "refused"), (3, "refused")];
    for (source, expected) in cases {
        for (recording, what) in [
            (with_reference_of(source), "reference"),
            (with_generator_of(source), "generator"),
        ] {
            assert_eq!(verdict_of(&recording, KernelHost::Author), Ok(()));
            let verdict = verdict_of(&recording, KernelHost::Referee);
            match expected {
                "valid" => assert_eq!(verdict, Ok(()), "{what} of source {source}"),
                _ => {
                    let message = verdict.expect_err("the file is shared").to_string();
                    assert!(message.starts_with(&format!("its {what} kernel `axpy`")), "{message}");
                    assert!(message.contains("`a.cu`") && message.contains("(hint: "), "{message}");
                }
            }
        }
    }
}

#[test]
fn every_error_in_tensors_is_reported() {
    let messages = [
        verdict(|recording| recording.tensors[1].name = "x".to_owned()),
        verdict(|recording| recording.tensors[1].shape = vec![1 << 40, 1 << 40]),
        verdict(|recording| recording.tensors[0].shape = vec![1 << 41]),
        verdict(|recording| recording.tensors[0].shape = vec![u64::MAX, 0]),
        verdict(|recording| recording.tensors[0].shape = vec![0, 1 << 40, 1 << 40]),
        verdict(|recording| recording.tensors[1].fill = Fill::Bits),
        verdict(|recording| recording.tensors[0].fill = Fill::Uniform { low: 1.0, high: 1.0 }),
        verdict(|recording| {
            recording.tensors[0].fill = Fill::Normal {
                mean: 0.0,
                stddev: f64::NAN,
            }
        }),
        verdict(|recording| {
            recording.tensors[0].fill = Fill::Integers {
                low: 0,
                high: (1 << 64) + 1,
            }
        }),
        verdict(|recording| {
            recording.tensors[0].fill = Fill::Integers {
                low: i128::MIN,
                high: i128::MAX,
            }
        }),
        verdict(|recording| recording.tensors[0].fill = Fill::Bits),
        verdict(|recording| recording.tensors[0].fill = Fill::Kernel(axpy_of(7))),
        verdict(|recording| recording.tensors[1].tolerance = Tolerance::Close { rtol: -1.0, atol: 0.0 }),
        verdict(|recording| drop(recording.tensors.pop())),
        verdict(|recording| {
            let output = |number| Tensor {
                name: format!("y{number}"),
                ..recording.tensors[1].clone()
            };
            recording
                .tensors
                .extend((0..MAX_OUTPUTS).map(output).collect::<Vec<_>>());
        }),
        verdict(|recording| recording.plan.scratch = vec![1; MAX_BUFFERS]),
        verdict(|recording| recording.plan.scratch = vec![u64::MAX; 2]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}
