//! The header of a `.npy` file. The elements follow it, in C order.

use gpubench::catalog::DType;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The elements begin at a multiple of this, so that the file can be mapped.
const ALIGNMENT: usize = 64;

/// Returns the header, of version 1.0 if its length fits, or else of 2.0.
pub(super) fn header(dtype: DType, shape: &[u64]) -> Vec<u8> {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    // A tuple of one needs the comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let description = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
        descr(dtype),
        extents.join(", ")
    );
    let length_after = |prefix: usize| (prefix + description.len() + 1).next_multiple_of(ALIGNMENT) - prefix;
    let short = u16::try_from(length_after(MAGIC.len() + 4));
    let length = short.map_or_else(|_| length_after(MAGIC.len() + 6), usize::from);
    let mut header = MAGIC.to_vec();
    match short {
        Ok(length) => header.extend([&[1, 0][..], &length.to_le_bytes()].concat()),
        Err(_) => header.extend([&[2, 0][..], &(length as u32).to_le_bytes()].concat()),
    }
    header.extend(description.bytes());
    header.extend(std::iter::repeat_n(b' ', length - 1 - description.len()));
    header.push(b'\n');
    header
}

/// Returns what the elements of a file are if NumPy does not have the type.
pub(super) fn what_instead(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::BF16 => Some("the bits of bf16, as uint16"),
        DType::F8E4M3 | DType::F8E5M2 => Some("the bits of 8-bit floats, as uint8"),
        _ => None,
    }
}

/// Returns NumPy's name of a type. What it lacks has the name of integers of the same size.
fn descr(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 | DType::F8E4M3 | DType::F8E5M2 => "|u1",
        DType::I8 => "|i1",
        DType::U16 | DType::BF16 => "<u2",
        DType::I16 => "<i2",
        DType::U32 => "<u4",
        DType::I32 => "<i4",
        DType::U64 => "<u8",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Complex32 => "<c8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What NumPy 2 itself writes before the elements of `zeros(shape, descr)`, which has more
    /// spaces.
    fn of_numpy(descr: &str, shape: &str, spaces: usize) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        header.extend(text.bytes());
        header.extend(std::iter::repeat_n(b' ', spaces));
        header.push(b'\n');
        header
    }

    #[test]
    fn headers_are_those_of_numpy() {
        assert_eq!(header(DType::F32, &[600]), of_numpy("<f4", "(600,)", 58));
        assert_eq!(header(DType::F16, &[3, 1024, 5]), of_numpy("<f2", "(3, 1024, 5)", 52));
        assert_eq!(header(DType::I8, &[]), of_numpy("|i1", "()", 62));
        assert_eq!(header(DType::BF16, &[0]), of_numpy("<u2", "(0,)", 60));
        assert_eq!(header(DType::F8E5M2, &[600]), of_numpy("|u1", "(600,)", 58));
        assert_eq!(header(DType::Complex32, &[600]), of_numpy("<c8", "(600,)", 58));
    }

    #[test]
    fn elements_begin_at_a_multiple_of_64_whatever_the_shape() {
        for rank in (0..200).chain([12_000]) {
            let shape = vec![10 + rank; rank as usize];
            let header = header(DType::F64, &shape);
            assert_eq!(header.len() % ALIGNMENT, 0, "{rank}");
            assert_eq!(header.last(), Some(&b'\n'));
            let (length, prefix) = match header[6..8] {
                [1, 0] => (usize::from(u16::from_le_bytes([header[8], header[9]])), 10),
                _ => (u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize, 12),
            };
            assert_eq!(prefix + length, header.len(), "{rank}");
            assert_eq!(prefix, if rank < 12_000 { 10 } else { 12 });
        }
    }
}
