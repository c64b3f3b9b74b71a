use super::*;
use crate::catalog::*;
use crate::plan::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Strings, including multi-byte characters.
fn text() -> impl Strategy<Value = String> {
    "[a-zµ:<>0-9_]{0,12}"
}

fn axis_value() -> impl Strategy<Value = AxisValue> {
    prop_oneof![
        any::<i64>().prop_map(AxisValue::Int),
        any::<f64>().prop_map(AxisValue::Float),
        text().prop_map(AxisValue::Text),
        any::<bool>().prop_map(AxisValue::Bool)
    ]
}

fn axes() -> impl Strategy<Value = Vec<Axis>> {
    vec(
        (vec(text(), 0..3), vec(vec(axis_value(), 0..3), 0..4)).prop_map(|(names, values)| Axis { names, values }),
        0..3,
    )
}

fn device_kind() -> impl Strategy<Value = DeviceKind> {
    prop_oneof![Just(DeviceKind::Cpu), Just(DeviceKind::Cuda)]
}

fn problem() -> impl Strategy<Value = StatedProblem> {
    let shape = option::of(text());
    let tensor = (prop_oneof![Just(Role::Input), Just(Role::InOut)], shape);
    let kind = option::of(tensor).prop_map(|tensor| match tensor {
        None => ParameterKind::Axis,
        Some((role, shape)) => ParameterKind::Tensor { role, shape },
    });
    let parameter = (text(), text(), kind).prop_map(|(name, type_name, kind)| Parameter { name, type_name, kind });
    let draw = (text(), any::<i64>(), any::<i64>()).prop_map(|(name, least, most)| Draw { name, least, most });
    let hidden = (axes(), vec(draw, 0..3), any::<u32>());
    let hidden = hidden.prop_map(|(axes, draws, count)| HiddenCases { axes, draws, count });
    let score = prop_oneof![
        Just(Score::GeometricMean),
        Just(Score::ArithmeticMean),
        Just(Score::Last)
    ];
    let limits = (option::of(any::<u64>()), option::of(any::<u64>()));
    let limits = limits.prop_map(|(call_ns, source_bytes)| SubmissionLimits { call_ns, source_bytes });
    let work = vec((text(), text()), 0..3);
    let reference = || {
        prop_oneof![
            Just(ReferenceKind::Function),
            Just(ReferenceKind::Launches),
            Just(ReferenceKind::Command)
        ]
    };
    let references = (reference(), vec((device_kind(), reference()), 0..3));
    let signature = vec(parameter, 0..4);
    (benchmark(), ".*", signature, work, hidden, score, limits, references).prop_map(
        |(outline, statement, signature, work, hidden, score, limits, references)| StatedProblem {
            outline,
            statement,
            signature,
            work,
            hidden,
            score,
            limits,
            reference: references.0,
            device_references: references.1,
        },
    )
}

fn benchmark() -> impl Strategy<Value = Benchmark> {
    let requirement = prop_oneof![
        device_kind().prop_map(Requirement::Device),
        any::<u32>().prop_map(Requirement::Capability)
    ];
    let selection = prop_oneof![Just(Selection::Default), Just(Selection::Ignored)];
    let names = (text(), text(), text(), text());
    (
        names,
        any::<u32>(),
        selection,
        vec(requirement, 0..3),
        (axes(), vec(text(), 0..3), vec(text(), 0..3)),
        vec((device_kind(), axes()), 0..3),
        vec((text(), text()), 0..3),
        option::of(text()),
    )
        .prop_map(
            |(names, line, selection, requirements, (axes, own_axes, counters), device_axes, settings, own_library)| {
                let (library, path, problem, file) = names;
                Benchmark {
                    library,
                    path,
                    problem,
                    file,
                    line,
                    selection,
                    requirements,
                    axes,
                    own_axes,
                    counters,
                    device_axes,
                    settings,
                    own_library,
                }
            },
        )
}

fn catalog() -> impl Strategy<Value = Catalog> {
    let file = (text(), vec(any::<u8>(), 0..9)).prop_map(|(path, contents)| SourceFile { path, contents });
    let form = prop_oneof![
        Just(SourceForm::Cuda),
        Just(SourceForm::CudaForNvcc),
        Just(SourceForm::Ptx),
        Just(SourceForm::Cubin),
        Just(SourceForm::Fatbin),
    ];
    let source = (text(), form, vec(file, 0..3), vec(text(), 0..3)).prop_map(|(name, form, files, options)| Source {
        name,
        form,
        files,
        options,
    });
    (vec(benchmark(), 0..4), vec(problem(), 0..2), vec(source, 0..3)).prop_map(|(benchmarks, problems, sources)| {
        Catalog {
            benchmarks,
            problems,
            sources,
        }
    })
}

fn request() -> impl Strategy<Value = RecordRequest> {
    let numbers = (
        any::<[u32; 5]>(),
        any::<[u32; 3]>(),
        any::<[u32; 3]>(),
        any::<[u64; 3]>(),
    );
    let occupancy = (kernel(), any::<[u32; 3]>()).prop_map(|(kernel, [threads, dynamic_shared, blocks])| Occupancy {
        query: OccupancyQuery {
            kernel,
            threads,
            dynamic_shared,
        },
        blocks,
    });
    let params = vec((text(), axis_value()), 0..4);
    (params, device_kind(), text(), numbers, vec(occupancy, 0..3)).prop_map(
        |(params, kind, name, (counts, max_block, max_grid, bytes), occupancies)| RecordRequest {
            occupancies,
            params,
            facts: DeviceFacts {
                kind,
                name,
                multiprocessors: counts[0],
                capability: counts[1],
                warp_size: counts[2],
                max_threads_per_block: counts[3],
                max_threads_per_multiprocessor: counts[4],
                max_block,
                max_grid,
                shared_per_block: bytes[0],
                shared_per_block_optin: bytes[1],
                l2_bytes: bytes[2],
            },
        },
    )
}

fn kernel() -> impl Strategy<Value = KernelRef> {
    (any::<u32>(), text()).prop_map(|(source, name)| KernelRef { source, name })
}

fn buffer() -> impl Strategy<Value = BufferId> {
    prop_oneof![
        any::<u32>().prop_map(BufferId::Tensor),
        any::<u32>().prop_map(BufferId::Scratch)
    ]
}

fn span() -> impl Strategy<Value = Span> {
    (buffer(), any::<u64>(), any::<u64>()).prop_map(|(buffer, offset, len)| Span { buffer, offset, len })
}

fn tensor_map() -> impl Strategy<Value = TensorMapDescription> {
    let numbers = (
        vec(any::<u64>(), 0..6),
        vec(any::<u64>(), 0..6),
        vec(any::<u32>(), 0..6),
    );
    let element = prop_oneof![Just(TensorMapElement::U8), Just(TensorMapElement::Tf32Ftz)];
    let interleave = prop_oneof![Just(Interleave::None), Just(Interleave::Bytes32)];
    let swizzle = prop_oneof![Just(Swizzle::None), Just(Swizzle::Bytes128)];
    let l2_promotion = prop_oneof![Just(L2Promotion::None), Just(L2Promotion::Bytes256)];
    let fill = prop_oneof![Just(OutOfBoundsFill::Zeros), Just(OutOfBoundsFill::NanRequestZeroFma)];
    (numbers, element, interleave, swizzle, l2_promotion, fill).prop_map(
        |((dims, strides, counts), element, interleave, swizzle, l2_promotion, fill)| TensorMapDescription {
            element,
            dims,
            strides,
            box_dims: counts.clone(),
            element_strides: counts,
            interleave,
            swizzle,
            l2_promotion,
            fill,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let argument = prop_oneof![
        (buffer(), any::<u64>()).prop_map(|(buffer, offset)| Argument::Pointer { buffer, offset }),
        vec(any::<u8>(), 0..20).prop_map(Argument::Value),
        (buffer(), any::<u64>(), tensor_map()).prop_map(|(buffer, offset, map)| Argument::TensorMap {
            buffer,
            offset,
            map
        }),
    ];
    let cooperation = prop_oneof![Just(Cooperation::Independent), Just(Cooperation::Grid)];
    let dependence = prop_oneof![Just(Dependence::Complete), Just(Dependence::Programmatic)];
    let geometry = (any::<[u32; 3]>(), any::<[u32; 3]>(), any::<[u32; 3]>(), any::<u32>());
    let field = ("[a-z.]{0,8}", any::<u32>(), any::<u32>()).prop_map(|(name, offset, count)| FieldType {
        name,
        offset,
        dtype: DType::F32,
        count,
    });
    let types = vec(
        ("[a-z<>]{0,8}", vec(field, 0..3)).prop_map(|(name, fields)| ArgumentType { name, fields }),
        0..3,
    );
    let launch = (kernel(), geometry, cooperation, dependence, vec(argument, 0..5), types).prop_map(
        |(kernel, (grid, block, cluster, dynamic_shared), cooperation, dependence, arguments, types)| {
            Step::Launch(Launch {
                kernel,
                grid,
                block,
                cluster,
                dynamic_shared,
                cooperation,
                dependence,
                arguments,
                types,
                place: String::from("src/lib.rs:7"),
            })
        },
    );
    prop_oneof![
        launch,
        (span(), any::<u8>()).prop_map(|(target, value)| Step::Memset { target, value }),
        (span(), span()).prop_map(|(source, target)| Step::Copy { source, target }),
    ]
}

fn tensor() -> impl Strategy<Value = Tensor> {
    let dtype = proptest::sample::select(vec![
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E4M3,
        DType::F8E5M2,
        DType::Complex32,
    ]);
    let role = proptest::sample::select(vec![
        Role::Input,
        Role::Constant,
        Role::Output,
        Role::InOut,
        Role::Scratch,
    ]);
    let fill = prop_oneof![
        Just(Fill::Poison),
        any::<(f64, f64)>().prop_map(|(low, high)| Fill::Uniform { low, high }),
        any::<(f64, f64)>().prop_map(|(mean, stddev)| Fill::Normal { mean, stddev }),
        any::<(i128, i128)>().prop_map(|(low, high)| Fill::Integers { low, high }),
        Just(Fill::Bits),
        kernel().prop_map(Fill::Kernel),
        Just(Fill::Cpu),
        Just(Fill::Stored),
    ];
    let tolerance = prop_oneof![
        Just(Tolerance::Exact),
        Just(Tolerance::ByCheck),
        any::<(f64, f64)>().prop_map(|(rtol, atol)| Tolerance::Close { rtol, atol }),
        any::<[f64; 4]>().prop_map(|[rtol, atol, share, cap]| Tolerance::Mostly {
            rtol,
            atol,
            mismatched: Mismatched { share, cap },
        })
    ];
    let field = (
        text(),
        any::<u64>(),
        dtype.clone(),
        option::of(any::<u64>()),
        tolerance.clone(),
    );
    let field = field.prop_map(|(name, offset, dtype, count, tolerance)| Field {
        name,
        offset,
        dtype,
        count,
        tolerance,
    });
    let record = (text(), vec(field, 0..3)).prop_map(|(name, fields)| Box::new(Record { name, fields }));
    let record = option::of(record);
    (text(), dtype, vec(any::<u64>(), 0..4), role, fill, tolerance, record).prop_map(
        |(name, dtype, shape, role, fill, tolerance, record)| Tensor {
            name,
            dtype,
            shape,
            role,
            fill,
            tolerance,
            record,
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let constant = (any::<u32>(), text(), vec(any::<u8>(), 0..9)).prop_map(|(source, symbol, bytes)| ConstantValue {
        source,
        symbol,
        bytes,
    });
    (vec(step(), 0..4), vec(any::<u64>(), 0..3), vec(constant, 0..3)).prop_map(|(steps, scratch, constants)| Plan {
        steps,
        scratch,
        constants,
    })
}

fn recording() -> impl Strategy<Value = Recording> {
    let counter = (text(), any::<u64>()).prop_map(|(name, amount)| Counter { name, amount });
    let work = (any::<(Option<u64>, Option<u64>)>(), vec(counter, 0..3));
    let work = work.prop_map(|((bytes, flops), counters)| Work { bytes, flops, counters });
    let provider = Provider {
        command: vec!["python3".to_owned(), "a b.py".to_owned()],
        folder: "/somewhere".to_owned(),
        params: vec![("n".to_owned(), AxisValue::Int(3))],
    };
    let reference = prop_oneof![
        Just(Reference::Author),
        Just(Reference::Checked),
        plan().prop_map(Reference::Plan),
        Just(Reference::Provider(Box::new(provider)))
    ];
    let execution = prop_oneof![
        Just(Execution::Sealed),
        Just(Execution::Hosted),
        Just(Execution::HostedSync)
    ];
    let call = (text(), vec(library_argument(), 0..4), text());
    let call = call.prop_map(|(function, arguments, place)| {
        Box::new(LibraryCall {
            function,
            arguments,
            place,
        })
    });
    let parts = (
        vec(tensor(), 0..4),
        work,
        plan(),
        reference,
        execution,
        option::of(call),
    );
    parts.prop_map(|(tensors, work, plan, reference, execution, call)| Recording {
        tensors,
        work,
        plan,
        reference,
        execution,
        call,
    })
}

fn library_argument() -> impl Strategy<Value = LibraryArgument> {
    let dtype = prop_oneof![Just(DType::U8), Just(DType::F64)];
    prop_oneof![
        any::<(u32, u64, u64)>().prop_map(|(tensor, start, elements)| LibraryArgument::Buffer {
            tensor,
            start,
            elements
        }),
        (dtype, any::<u64>()).prop_map(|(dtype, bits)| LibraryArgument::Number { dtype, bits }),
        Just(LibraryArgument::Null),
    ]
}

/// Encodes, decodes and compares. It also compares the bytes, because a NaN does not equal itself.
fn round_trips<T: Encode + Decode>(message: &T) {
    let bytes = encode(message);
    let decoded: T = decode(&bytes).unwrap();
    assert_eq!(encode(&decoded), bytes);
}

/// Checks that no prefix of a message, and no message with an extra byte, decodes.
fn only_the_whole_is_a_message<T: Encode + Decode>(message: &T) {
    let mut bytes = encode(message);
    for end in 0..bytes.len() {
        assert!(decode::<T>(&bytes[..end]).is_err());
    }
    bytes.push(0);
    assert_eq!(decode::<T>(&bytes).err(), Some(DecodeError::Trailing { bytes: 1 }));
}

/// Checks that accepted bytes are exactly what encoding writes.
fn is_refused_or_canonical<T: Encode + Decode>(bytes: &[u8]) {
    if let Ok(message) = decode::<T>(bytes) {
        assert_eq!(encode(&message), bytes);
    }
}

proptest! {
    #[test]
    fn a_catalog_survives_a_round_trip(catalog in catalog()) {
        round_trips(&catalog);
    }

    #[test]
    fn a_request_survives_a_round_trip(request in request()) {
        round_trips(&request);
    }

    #[test]
    fn a_recording_survives_a_round_trip(recording in recording()) {
        round_trips(&recording);
    }

    #[test]
    fn a_truncated_or_extended_message_is_rejected(catalog in catalog(), recording in recording(), request in request()) {
        only_the_whole_is_a_message(&catalog);
        only_the_whole_is_a_message(&recording);
        only_the_whole_is_a_message(&request);
    }

    #[test]
    fn arbitrary_bytes_are_rejected_or_canonical(body in vec(any::<u8>(), 0..300)) {
        let bytes = [&FORMAT.to_le_bytes()[..], &body].concat();
        is_refused_or_canonical::<Catalog>(&bytes);
        is_refused_or_canonical::<Recording>(&bytes);
        is_refused_or_canonical::<RecordRequest>(&bytes);
    }

    #[test]
    fn a_message_with_a_changed_byte_is_rejected_or_canonical(recording in recording(), place: prop::sample::Index, byte: u8) {
        let mut bytes = encode(&recording);
        let place = place.index(bytes.len());
        bytes[place] = byte;
        is_refused_or_canonical::<Recording>(&bytes);
    }
}

#[test]
fn a_false_length_is_rejected_before_memory_is_allocated() {
    let mut bytes = FORMAT.to_le_bytes().to_vec();
    bytes.extend_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(decode::<Catalog>(&bytes), Err(DecodeError::Truncated));
}

#[test]
fn bytes_of_another_format_are_distinguished_from_damaged_ones() {
    assert_eq!(decode::<Catalog>(b"not a catalog"), Err(DecodeError::Format));
    assert_eq!(decode::<Catalog>(b""), Err(DecodeError::Truncated));
}
