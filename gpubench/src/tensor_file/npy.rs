//! Files of `numpy.save`.

use super::{StoredTensor, StoredType, WrongFile, beginning, bytes_of};
use crate::catalog::DType;

/// The first bytes of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Most bytes of a header that is read.
const MOST_HEADER_BYTES: usize = 64 << 10;

/// The types that tensors of a benchmark can have, by NumPy's names.
const TYPES: [(&str, DType); 12] = [
    ("|u1", DType::U8),
    ("|i1", DType::I8),
    ("<u2", DType::U16),
    ("<i2", DType::I16),
    ("<u4", DType::U32),
    ("<i4", DType::I32),
    ("<u8", DType::U64),
    ("<i8", DType::I64),
    ("<f2", DType::F16),
    ("<c8", DType::Complex32),
    ("<f4", DType::F32),
    ("<f8", DType::F64),
];

/// Returns the only tensor of a whole file.
///
/// # Errors
/// It is not such a file, is truncated, or has its elements in another order.
pub fn tensor_of(file: &[u8]) -> Result<StoredTensor, WrongFile> {
    let no_npy = || WrongFile::new("it is not a `.npy` file");
    let rest = file.strip_prefix(MAGIC).ok_or_else(no_npy)?;
    let ([major, _], rest) = rest.split_first_chunk::<2>().ok_or_else(no_npy)?;
    let (header_bytes, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(no_npy)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(no_npy)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        other => return Err(WrongFile::new(format!("version {other} of `.npy` is unknown"))),
    };
    if header_bytes > MOST_HEADER_BYTES.min(rest.len()) {
        return Err(WrongFile::new(format!(
            "its header would have {header_bytes} bytes; {} follow, and the limit is {MOST_HEADER_BYTES}",
            rest.len()
        )));
    }
    let (header, data) = rest.split_at(header_bytes);
    let header = std::str::from_utf8(header).map_err(|_| WrongFile::new("its header is not UTF-8"))?;
    let Header { dtype, shape } = Header::read(header)?;
    let bytes = match &dtype {
        StoredType::Known(known) => bytes_of(*known, &shape),
        StoredType::Other(_) => Some(data.len() as u64),
    };
    match bytes {
        Some(bytes) if bytes == data.len() as u64 => Ok(StoredTensor {
            name: String::new(),
            dtype,
            shape,
            start: (file.len() - data.len()) as u64,
            bytes,
        }),
        _ => Err(WrongFile::new(format!(
            "it has {} bytes of data, which is not the size of {dtype} elements of the shape {shape:?} (hint: the file may be truncated)",
            data.len()
        ))),
    }
}

struct Header {
    dtype: StoredType,
    shape: Vec<u64>,
}

impl Header {
    /// Reads a dictionary of Python, with these keys in any order:
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn read(text: &str) -> Result<Header, WrongFile> {
        let wrong = || {
            let text = beginning(text);
            WrongFile::new(format!("its header is not one of `numpy.save`: `{text}`"))
        };
        let (mut dtype, mut in_rows, mut shape) = (None, None, None);
        let mut rest = text.trim().strip_prefix('{').ok_or_else(wrong)?.trim_start();
        while !rest.starts_with('}') {
            let (key, value) = quoted(rest).ok_or_else(wrong)?;
            let value = value.trim_start().strip_prefix(':').ok_or_else(wrong)?.trim_start();
            rest = match key {
                "descr" => {
                    // A list describes elements with several fields.
                    let (name, rest) = quoted(value).ok_or_else(wrong)?;
                    let known = TYPES.iter().find(|(known, _)| *known == name);
                    let other = || StoredType::Other(name.to_owned());
                    dtype = Some(known.map_or_else(other, |(_, known)| StoredType::Known(*known)));
                    rest
                }
                "fortran_order" => {
                    let (is_in_rows, rest) = match (value.strip_prefix("False"), value.strip_prefix("True")) {
                        (Some(rest), _) => (true, rest),
                        (_, Some(rest)) => (false, rest),
                        _ => return Err(wrong()),
                    };
                    in_rows = Some(is_in_rows);
                    rest
                }
                "shape" => {
                    let (extents, rest) = value
                        .strip_prefix('(')
                        .and_then(|value| value.split_once(')'))
                        .ok_or_else(wrong)?;
                    let extents = extents.split(',').map(str::trim).filter(|extent| !extent.is_empty());
                    let extents = extents.map(|extent| extent.parse().map_err(|_| wrong()));
                    shape = Some(extents.collect::<Result<Vec<u64>, _>>()?);
                    rest
                }
                _ => return Err(wrong()),
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        match (dtype, in_rows, shape) {
            (Some(dtype), Some(true), Some(shape)) => Ok(Header { dtype, shape }),
            (Some(_), Some(false), Some(_)) => Err(WrongFile::new(
                "its elements are in Fortran's order (hint: save `numpy.ascontiguousarray(..)`)",
            )),
            _ => Err(wrong()),
        }
    }
}

/// Returns the text in quotes at the beginning, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('\'')?.split_once('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, data: usize) -> Vec<u8> {
        let length = header.len() as u32;
        let length = length.to_le_bytes();
        let length = if version == 1 { &length[..2] } else { &length };
        [MAGIC, &[version, 0], length, header.as_bytes(), &vec![0; data]].concat()
    }

    #[test]
    fn arrays_of_each_version_are_read() {
        for (version, header, dtype, shape) in [
            (
                1,
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                DType::F32,
                vec![2, 3],
            ),
            (
                2,
                "{'shape':(24,),'fortran_order':False,'descr':'|u1'}",
                DType::U8,
                vec![24],
            ),
            (
                3,
                "{'descr': '<f8', 'fortran_order': False, 'shape': (3,1,1)}",
                DType::F64,
                vec![3, 1, 1],
            ),
        ] {
            let whole = file(version, header, 24);
            let found = tensor_of(&whole).expect(header);
            super::super::check(&found, dtype, &shape).expect(header);
            assert_eq!((found.start as usize, found.bytes), (whole.len() - 24, 24));
        }
        let scalar = tensor_of(&file(1, "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", 4));
        assert_eq!(scalar.expect("a scalar").shape, [0; 0]);
    }

    #[test]
    fn a_hostile_file_is_refused_by_what_is_wrong_with_it() {
        let header = |descr: &str, order: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")
        };
        for (header, expected) in [
            (String::new(), "not one of `numpy.save`"),
            ("{".to_owned(), "not one of"),
            ("{'descr'".to_owned(), "not one of"),
            ("{}".to_owned(), "not one of"),
            (header("'<f4'", "True", "(2,)"), "in Fortran's order"),
            (header("'<f4'", "Maybe", "(2,)"), "not one of"),
            (header("[('a', '<f4')]", "False", "(2,)"), "not one of"),
            (header("'<f4'", "False", "(3,)"), "may be truncated"),
            (header("'<f4'", "False", "(1,)"), "8 bytes of data"),
            (header("'<f4'", "False", "(-2,)"), "not one of"),
            (header("'<f4'", "False", "(4294967296, 4294967296)"), "not the size"),
            (header("'<f4'", "False", "(2,"), "not one of"),
        ] {
            let found = tensor_of(&file(1, &header, 8)).expect_err(&header).to_string();
            assert!(found.contains(expected), "{header}: {found}");
        }
        for (bytes, expected) in [
            (&b""[..], "not a `.npy`"),
            (b"\x93NUMPY\x01", "not a `.npy`"),
            (b"\x93NUMPY\x09\x00\x00\x00", "version 9"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "would have 4294967295 bytes"),
            (b"\x93NUMPY\x01\x00\x01\x00\xff", "not UTF-8"),
        ] {
            let found = tensor_of(bytes).expect_err("it is wrong").to_string();
            assert!(found.contains(expected), "{found}");
        }
        let other = tensor_of(&file(1, &header("'>f4'", "False", "(2,)"), 8)).expect("another type");
        assert_eq!(other.dtype, StoredType::Other(">f4".to_owned()));
    }
}
