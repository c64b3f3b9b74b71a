//! Frames from other processes, the records in them, and what an author sends.

use std::fmt::Debug;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use gpubench::catalog::{
    Catalog, DType, Execution, Fill, Mismatched, OccupancyQuery, Recording, Reference, Role, Source, SourceFile,
    SourceForm, Tensor, Tolerance, Work,
};
use gpubench::codec::{Decode, Encode, decode, encode};
use gpubench::plan::{KernelRef, Plan};
use gpubench_device::DeviceOrder;
use gpubench_protocol::wire::{
    AbsentDevice, Attach, Begin, BufferLayout, CaseWorkers, Channel, Claim, ContentsOrder, Differences,
    DifferencesOrder, Frame, Generate, KernelNeeds, LaunchShape, Limits, OpenCase, PageLeft, Patience, Problem,
    SandboxReport, SideScratch, WIRE_VERSION, WindowFacts, WindowOrder, WorkerSetup, decode_counts, decode_modules,
    read_head,
};

/// More does not fit into a socket while nobody reads.
const MOST: usize = 64 << 10;

/// Receives the bytes as frames, and reads each payload, and the bytes themselves, in every way.
pub fn run(data: &[u8]) {
    let data = &data[..data.len().min(MOST)];
    let (mut sender, receiver) = UnixStream::pair().expect("a pair of sockets");
    sender.write_all(data).expect("room in the socket");
    drop(sender);
    let channel = Channel::from_socket(OwnedFd::from(receiver)).limited(Limits {
        payload: MOST as u32,
        descriptors: 0,
    });
    while let Ok(frame) = channel.receive(Patience::at_most(Duration::from_secs(1))) {
        read_payload(&frame);
    }
    read_payload(&Frame {
        kind: 0,
        payload: data.to_vec(),
        descriptors: Vec::new(),
    });
}

macro_rules! read_records {
    ($frame:expr; $($record:ty),* $(,)?) => {$(
        if let Ok(record) = $frame.record::<$record>() {
            let _ = format!("{record:?}");
        }
        if let Ok((record, _)) = read_head::<$record>(&$frame.payload) {
            let _ = format!("{record:?}");
        }
    )*};
}

fn read_payload(frame: &Frame) {
    read_records!(frame;
        AbsentDevice, Attach, Begin, BufferLayout, CaseWorkers, Claim, ContentsOrder, DeviceOrder, Differences,
        DifferencesOrder, Generate, KernelNeeds, LaunchShape,
        OpenCase, Problem, SandboxReport, SideScratch, WindowFacts, WindowOrder, WorkerSetup,
    );
    if let Ok((_, rest)) = read_head::<Claim>(&frame.payload) {
        let _ = decode_counts(rest);
    }
    let _ = decode_counts(&frame.payload);
    let _ = decode_modules(&frame.payload, &mut Vec::new());
    let _ = PageLeft::from_bytes(&frame.payload);
    read_message::<Catalog>(&frame.payload);
    read_message::<Recording>(&frame.payload);
    read_message::<OccupancyQuery>(&frame.payload);
}

/// A message that can be read is one that can be written, to the byte.
fn read_message<T: Decode + Encode + Debug>(bytes: &[u8]) {
    if let Ok(message) = decode::<T>(bytes) {
        assert_eq!(encode(&message), bytes, "{message:?}");
    }
}

/// Returns frames with records of zeros, and messages of an author.
pub fn seeds() -> Vec<Vec<u8>> {
    let sizes = [
        size_of::<Claim>(),
        size_of::<WindowFacts>(),
        size_of::<OpenCase>(),
        size_of::<WorkerSetup>(),
        size_of::<BufferLayout>(),
        size_of::<Problem>(),
    ];
    let messages = [encode(&catalog()), encode(&recording()), encode(&query())];
    let payloads = sizes.into_iter().map(|size| vec![0; size]).chain(messages);
    payloads.flat_map(|payload| [frame(&payload), payload]).collect()
}

/// A frame without descriptors.
fn frame(payload: &[u8]) -> Vec<u8> {
    let header = [WIRE_VERSION, 1, payload.len() as u32, 0];
    let header = header.iter().flat_map(|word| word.to_le_bytes());
    header.chain(payload.iter().copied()).collect()
}

fn catalog() -> Catalog {
    Catalog {
        benchmarks: Vec::new(),
        problems: Vec::new(),
        sources: vec![Source {
            name: "a.cu".into(),
            form: SourceForm::Cuda,
            files: vec![SourceFile {
                path: "src/a.cu".into(),
                contents: b"__global__ void k() {}".to_vec(),
            }],
            options: vec!["-O3".into()],
        }],
    }
}

fn recording() -> Recording {
    Recording {
        tensors: vec![Tensor {
            name: "x".into(),
            dtype: DType::U8,
            shape: vec![2, 3],
            role: Role::Input,
            fill: Fill::Uniform { low: 0.0, high: 1.0 },
            tolerance: Tolerance::Mostly {
                rtol: 1e-5,
                atol: 0.0,
                mismatched: Mismatched { share: 0.01, cap: 10.0 },
            },
            record: None,
        }],
        work: Work {
            bytes: Some(6),
            flops: None,
            counters: Vec::new(),
        },
        plan: Plan::default(),
        reference: Reference::Checked,
        execution: Execution::Sealed,
        call: None,
    }
}

fn query() -> OccupancyQuery {
    OccupancyQuery {
        kernel: KernelRef {
            source: 0,
            name: "k".into(),
        },
        threads: 256,
        dynamic_shared: 0,
    }
}
