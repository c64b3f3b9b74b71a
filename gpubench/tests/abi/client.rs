//! The tool's side of the table, for tests: it does what `cargo gpubench` does in its author
//! process.

#![allow(unsafe_code)]

use gpubench::abi::{Buffer, Bytes, EntryPoint, HostEnvironment, MAGIC, Sink, Status, Table, gpubench_abi_v1};
use gpubench::catalog::{
    AxisValue, Catalog, DeviceFacts, DeviceKind, Occupancy, Params, RecordRequest, Recording, Role,
};
use gpubench::codec::{decode, encode};
use std::ffi::c_void;

pub(crate) fn table() -> &'static Table {
    let entry: EntryPoint = gpubench_abi_v1;
    // SAFETY: the entry point may be called at any time, and its table is static.
    let table = unsafe { &*entry() };
    assert_eq!(table.magic, MAGIC);
    table
}

unsafe extern "C" fn append(context: *mut c_void, data: *const u8, len: usize) {
    // SAFETY: the context is the vector in `answer`, and the bytes are valid for the call.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) }
}

/// Returns the answer of a function in the table.
fn answer(call: impl FnOnce(Sink) -> i32) -> Result<Vec<u8>, (Status, String)> {
    let message = |(status, bytes)| (status, String::from_utf8(bytes).expect("messages are UTF-8"));
    status_and_bytes(call).map_err(message)
}

/// Returns the answer of a function in the table, or another status with its text.
fn status_and_bytes(call: impl FnOnce(Sink) -> i32) -> Result<Vec<u8>, (Status, Vec<u8>)> {
    let mut bytes: Vec<u8> = Vec::new();
    let status = call(Sink {
        context: (&raw mut bytes).cast(),
        write: append,
    });
    match status {
        0 => Ok(bytes),
        1 => Err((Status::Failed, bytes)),
        2 => Err((Status::Panicked, bytes)),
        3 => Err((Status::NeedsOccupancy, bytes)),
        4 => Err((Status::Skipped, bytes)),
        other => panic!("status {other}"),
    }
}

pub(crate) fn catalog() -> Catalog {
    try_catalog().unwrap()
}

pub(crate) fn try_catalog() -> Result<Catalog, (Status, String)> {
    // SAFETY: the sink is valid for the call.
    let bytes = answer(|sink| unsafe { (table().catalog)(sink) })?;
    Ok(decode(&bytes).unwrap())
}

/// Returns the position of a benchmark in the catalog.
pub(crate) fn position(path: &str) -> u32 {
    catalog()
        .benchmarks
        .iter()
        .position(|benchmark| benchmark.path == path)
        .expect(path) as u32
}

pub(crate) fn facts() -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cpu,
        name: "CPU device".to_owned(),
        multiprocessors: 2,
        capability: 0,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 1024,
        max_block: [1024, 1024, 64],
        max_grid: [i32::MAX as u32, 65535, 65535],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 96 << 10,
        l2_bytes: 8 << 20,
    }
}

pub(crate) fn params<const N: usize>(values: [(&str, i64); N]) -> Params {
    values
        .map(|(name, value)| (name.to_owned(), AxisValue::Int(value)))
        .to_vec()
}

fn request(params: Params) -> RecordRequest {
    RecordRequest {
        params,
        facts: facts(),
        occupancies: Vec::new(),
    }
}

/// Records for a GPU, with known occupancies.
pub(crate) fn record_on_gpu(
    path: &str,
    params: Params,
    occupancies: Vec<Occupancy>,
) -> Result<Recording, (Status, Vec<u8>)> {
    let facts = DeviceFacts {
        kind: DeviceKind::Cuda,
        capability: 90,
        ..facts()
    };
    let request = encode(&RecordRequest {
        params,
        facts,
        occupancies,
    });
    let position = position(path);
    // SAFETY: request and sink are valid for the call.
    let bytes = status_and_bytes(|sink| unsafe { (table().record)(position, lend(&request), sink) })?;
    Ok(decode(&bytes).unwrap())
}

pub(crate) fn record(path: &str, params: Params) -> Result<Recording, (Status, String)> {
    record_at(position(path), params)
}

pub(crate) fn record_at(position: u32, params: Params) -> Result<Recording, (Status, String)> {
    let request = encode(&request(params));
    // SAFETY: request and sink are valid for the call.
    let bytes = answer(|sink| unsafe { (table().record)(position, lend(&request), sink) })?;
    Ok(decode(&bytes).unwrap())
}

/// The memory of a case's tensors.
pub(crate) struct Memory {
    path: String,
    request: Vec<u8>,
    names: Vec<String>,
    roles: Vec<Role>,
    /// 16-byte words, so that every element type is aligned.
    words: Vec<Vec<u128>>,
    bytes: Vec<usize>,
}

impl Memory {
    pub(crate) fn new(path: &str, params: Params) -> Memory {
        let recording = record(path, params.clone()).unwrap();
        let sizes = recording.tensors.iter();
        let bytes: Vec<usize> = sizes
            .map(|tensor| tensor.shape.iter().product::<u64>() as usize * tensor.dtype.size())
            .collect();
        Memory {
            path: path.to_owned(),
            request: encode(&request(params)),
            names: recording.tensors.iter().map(|tensor| tensor.name.clone()).collect(),
            roles: recording.tensors.iter().map(|tensor| tensor.role).collect(),
            words: bytes.iter().map(|bytes| vec![0; bytes.div_ceil(16)]).collect(),
            bytes,
        }
    }

    fn buffers(&mut self) -> Vec<Buffer> {
        let scratch = |role: &Role| *role == Role::Scratch;
        let buffers = self.words.iter_mut().zip(&self.bytes).zip(&self.roles);
        buffers
            .map(|((words, &len), role)| Buffer {
                data: if scratch(role) {
                    std::ptr::null_mut()
                } else {
                    words.as_mut_ptr().cast()
                },
                len,
            })
            .collect()
    }

    pub(crate) fn generate(&mut self, seed: u64) -> Result<(), (Status, String)> {
        let buffers = self.buffers();
        let (request, position) = (lend(&self.request), position(&self.path));
        // SAFETY: request, buffers and sink are valid for the call.
        let call = |sink| unsafe { (table().generate)(position, request, seed, buffers.as_ptr(), buffers.len(), sink) };
        answer(call).map(|bytes| assert!(bytes.is_empty()))
    }

    pub(crate) fn reference(&mut self) -> Result<(), (Status, String)> {
        let buffers = self.buffers();
        let (request, position) = (lend(&self.request), position(&self.path));
        // SAFETY: request, buffers and sink are valid for the call.
        let call = |sink| unsafe { (table().reference)(position, request, buffers.as_ptr(), buffers.len(), sink) };
        answer(call).map(|bytes| assert!(bytes.is_empty()))
    }

    /// Opens a hosted benchmark on this memory.
    pub(crate) fn host_open(&mut self) -> Result<*mut c_void, (Status, String)> {
        let mut buffers = self.buffers();
        for (buffer, words) in buffers.iter_mut().zip(&mut self.words) {
            buffer.data = words.as_mut_ptr().cast();
        }
        let (request, position) = (lend(&self.request), position(&self.path));
        let environment = HostEnvironment {
            stream: std::ptr::null_mut(),
            ordinal: 3,
            reserved: 0,
        };
        let mut state = std::ptr::null_mut();
        // SAFETY: request and sink are valid for the call; the memory outlives the calls of the
        // test.
        let call = |sink| unsafe {
            let (data, count) = (buffers.as_ptr(), buffers.len());
            (table().host_open)(position, request, environment, data, count, &raw mut state, sink)
        };
        answer(call)?;
        Ok(state)
    }

    /// Calls with a buffer one byte too short.
    pub(crate) fn reference_with_short_memory(&mut self) -> Result<(), (Status, String)> {
        self.bytes[0] -= 1;
        let result = self.reference();
        self.bytes[0] += 1;
        result
    }

    pub(crate) fn bytes(&mut self, name: &str) -> &mut [u8] {
        let position = self.names.iter().position(|known| known == name).expect(name);
        let words = &mut self.words[position];
        // SAFETY: the words have at least that many bytes.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), self.bytes[position]) }
    }

    pub(crate) fn f32s(&mut self, name: &str) -> Vec<f32> {
        self.bytes(name)
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn u32s(&mut self, name: &str) -> Vec<u32> {
        self.bytes(name)
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn set_f32s(&mut self, name: &str, values: impl IntoIterator<Item = f32>) {
        for (bytes, value) in self.bytes(name).chunks_exact_mut(4).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// Calls a hosted benchmark once.
pub(crate) fn host_call(state: *mut c_void) -> Result<(), (Status, String)> {
    // SAFETY: `host_open` returned the state on the same thread.
    answer(|sink| unsafe { (table().host_call)(state, sink) }).map(drop)
}

fn lend(bytes: &[u8]) -> Bytes {
    Bytes {
        data: bytes.as_ptr(),
        len: bytes.len(),
    }
}
