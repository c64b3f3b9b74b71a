//! Files of tensors: safetensors and `.npy`.

use gpubench::catalog::DType;
use gpubench::tensor_file::{npy, safetensors};

/// Reads a file in both formats. Every tensor that is found lies in the file.
pub fn run(data: &[u8]) {
    let stored = safetensors::tensors_of(data).unwrap_or_default();
    for tensor in stored.into_iter().chain(npy::tensor_of(data)) {
        let end = tensor.start.checked_add(tensor.bytes);
        assert!(end.is_some_and(|end| end <= data.len() as u64), "{tensor:?}");
    }
}

/// Returns a file of each format.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut stored = safetensors::header(&[("w", DType::F32, &[2, 3]), ("i", DType::I8, &[4])], &[("n", "6")]);
    stored.extend([0; 28]);
    let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    let array = [&b"\x93NUMPY\x01\x00\x3b\x00"[..], header, &[0; 24]].concat();
    assert!(npy::tensor_of(&array).is_ok(), "the seed is a file");
    vec![stored, array]
}
