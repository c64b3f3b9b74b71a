//! Encoding of the types in [`catalog`](crate::catalog).

use super::{codec_enum, codec_struct};
use crate::catalog::*;

codec_struct!(Catalog {
    benchmarks,
    problems,
    sources
});
codec_struct!(StatedProblem {
    outline,
    statement,
    signature,
    work,
    hidden,
    score,
    limits,
    reference,
    device_references
});
codec_enum!(ReferenceKind { 0 = Function, 1 = Launches, 2 = Command });
codec_struct!(Parameter { name, type_name, kind });
codec_enum!(ParameterKind { 0 = Axis, 1 = Tensor { role, shape } });
codec_struct!(HiddenCases { axes, draws, count });
codec_struct!(Draw { name, least, most });
codec_enum!(Score { 0 = GeometricMean, 1 = ArithmeticMean, 2 = Last });
codec_struct!(SubmissionLimits { call_ns, source_bytes });
codec_struct!(Benchmark {
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
    own_library
});
codec_enum!(Selection { 0 = Default, 1 = Ignored });
codec_struct!(Axis { names, values });
codec_enum!(AxisValue { 0 = Int(value), 1 = Float(value), 2 = Text(value), 3 = Bool(value) });
codec_enum!(Requirement { 0 = Device(kind), 1 = Capability(capability) });
codec_enum!(DeviceKind { 0 = Cpu, 1 = Cuda });
codec_struct!(Source {
    name,
    form,
    files,
    options
});
codec_enum!(SourceForm { 0 = Cuda, 1 = CudaForNvcc, 2 = Ptx, 3 = Cubin, 4 = Fatbin });
codec_struct!(SourceFile { path, contents });
codec_struct!(RecordRequest {
    params,
    facts,
    occupancies
});
codec_struct!(Occupancy { query, blocks });
codec_struct!(OccupancyQuery {
    kernel,
    threads,
    dynamic_shared
});
codec_struct!(DeviceFacts {
    kind,
    name,
    multiprocessors,
    capability,
    warp_size,
    max_threads_per_block,
    max_threads_per_multiprocessor,
    max_block,
    max_grid,
    shared_per_block,
    shared_per_block_optin,
    l2_bytes,
});
codec_struct!(Recording {
    tensors,
    work,
    plan,
    reference,
    execution,
    call
});
codec_enum!(Reference {
    0 = Author,
    1 = Plan(plan),
    2 = Checked,
    3 = Provider(provider)
});
codec_struct!(Provider {
    command,
    folder,
    params
});
codec_enum!(Execution { 0 = Sealed, 1 = Hosted, 2 = HostedSync });
codec_struct!(Tensor {
    name,
    dtype,
    shape,
    role,
    fill,
    tolerance,
    record
});
codec_struct!(Record { name, fields });
codec_struct!(Field {
    name,
    offset,
    dtype,
    count,
    tolerance
});
codec_enum!(Role { 0 = Input, 1 = Constant, 2 = Output, 3 = InOut, 4 = Scratch });
codec_enum!(Fill {
    0 = Poison,
    1 = Uniform { low, high },
    2 = Normal { mean, stddev },
    3 = Integers { low, high },
    4 = Bits,
    5 = Kernel(kernel),
    6 = Cpu,
    7 = Stored,
});
codec_enum!(Tolerance {
    0 = Exact,
    1 = Close { rtol, atol },
    2 = Default { rtol, atol },
    3 = Mostly {
        rtol,
        atol,
        mismatched
    },
    4 = ByCheck,
});
codec_struct!(Mismatched { share, cap });
codec_struct!(Work { bytes, flops, counters });
codec_struct!(Counter { name, amount });
codec_enum!(DType {
    0 = U8,
    1 = I8,
    2 = U16,
    3 = I16,
    4 = U32,
    5 = I32,
    6 = U64,
    7 = I64,
    8 = F16,
    9 = BF16,
    10 = F32,
    11 = F64,
    12 = F8E4M3,
    13 = F8E5M2,
    14 = Complex32,
});
