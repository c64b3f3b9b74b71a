//! The header of a safetensors file: its length in eight bytes, then JSON, then the data.
//!
//! ```json
//! {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"n": "4"}}
//! ```

use super::{StoredTensor, StoredType, WrongFile, beginning, bytes_of};
use crate::case_file::JsonReader;
use crate::catalog::DType;

/// Most bytes of a header that is read.
pub const MOST_HEADER_BYTES: u64 = 16 << 20;

/// Bytes of the header's length.
pub const LENGTH_BYTES: usize = 8;

/// The key of texts about the file.
const METADATA: &str = "__metadata__";

/// The types that tensors of a benchmark can have, by their names in a file.
const TYPES: [(&str, DType); 15] = [
    ("U8", DType::U8),
    ("I8", DType::I8),
    ("U16", DType::U16),
    ("I16", DType::I16),
    ("U32", DType::U32),
    ("I32", DType::I32),
    ("U64", DType::U64),
    ("I64", DType::I64),
    ("F16", DType::F16),
    ("BF16", DType::BF16),
    ("F8_E4M3", DType::F8E4M3),
    ("F8_E5M2", DType::F8E5M2),
    ("C64", DType::Complex32),
    ("F32", DType::F32),
    ("F64", DType::F64),
];

/// Returns the number of bytes of the header, without its length, of a file of `file_bytes`.
///
/// # Errors
/// The file is shorter, or the header too long.
pub fn header_bytes(length: [u8; LENGTH_BYTES], file_bytes: u64) -> Result<u64, WrongFile> {
    let bytes = u64::from_le_bytes(length);
    let rest = file_bytes.saturating_sub(LENGTH_BYTES as u64);
    if bytes > MOST_HEADER_BYTES.min(rest) {
        let limit = match bytes > rest {
            true => format!("{rest} bytes follow"),
            false => format!("the limit is {MOST_HEADER_BYTES}"),
        };
        return Err(WrongFile::new(format!(
            "it is not a safetensors file: its header would have {bytes} bytes, but {limit}"
        )));
    }
    Ok(bytes)
}

/// Returns the tensors of a whole file.
///
/// # Errors
/// It is not a safetensors file, is truncated, or describes tensors that are not in it.
pub fn tensors_of(file: &[u8]) -> Result<Vec<StoredTensor>, WrongFile> {
    let (length, rest) = file
        .split_first_chunk::<LENGTH_BYTES>()
        .ok_or_else(|| WrongFile::new("it is not a safetensors file: it has less than 8 bytes"))?;
    let bytes = header_bytes(*length, file.len() as u64)?;
    tensors(&rest[..bytes as usize], file.len() as u64)
}

/// Returns the tensors that a header describes, which is `header` after its length, in a file of
/// `file_bytes`.
///
/// # Errors
/// As [`tensors_of`].
pub fn tensors(header: &[u8], file_bytes: u64) -> Result<Vec<StoredTensor>, WrongFile> {
    let wrong = |what: String| WrongFile::new(format!("its header is not one of safetensors: {what}"));
    let text = std::str::from_utf8(header).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    let data_start = (LENGTH_BYTES + header.len()) as u64;
    let mut json = JsonReader::new(text);
    let mut tensors: Vec<StoredTensor> = Vec::new();
    let mut member = |key: String, json: &mut JsonReader<'_>| {
        if key == METADATA {
            return json.skip().map_err(wrong);
        }
        let tensor = Entry::read(json).map_err(wrong)?;
        tensors.push(tensor.placed(key, data_start, file_bytes)?);
        Ok(())
    };
    json.members(wrong, &mut member)?;
    json.end().map_err(wrong)?;
    let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(wrong(format!("two tensors are named `{}`", beginning(twice[0])))),
        None => Ok(tensors),
    }
}

/// What the header says about a tensor.
#[derive(Default)]
struct Entry {
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
    offsets: Option<Vec<u64>>,
}

impl Entry {
    fn read(json: &mut JsonReader<'_>) -> Result<Entry, String> {
        let mut entry = Entry::default();
        json.members(|what| what, &mut |key: String, json: &mut JsonReader<'_>| {
            match key.as_str() {
                "dtype" => entry.dtype = Some(json.text()?),
                "shape" => entry.shape = Some(json.whole_numbers()?),
                "data_offsets" => entry.offsets = Some(json.whole_numbers()?),
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(entry)
    }

    /// Returns the tensor, if its data is in the file.
    fn placed(self, name: String, data_start: u64, file_bytes: u64) -> Result<StoredTensor, WrongFile> {
        let shown = beginning(&name);
        let wrong = |what: String| WrongFile::new(format!("the tensor `{shown}` {what}"));
        let (Some(dtype), Some(shape), Some(offsets)) = (self.dtype, self.shape, self.offsets) else {
            return Err(wrong("lacks `dtype`, `shape` or `data_offsets`".to_owned()));
        };
        let [start, end] = offsets[..] else {
            return Err(wrong(format!("has {} data offsets, not 2", offsets.len())));
        };
        let known = TYPES.iter().find(|(word, _)| *word == dtype);
        let dtype = known.map_or(StoredType::Other(dtype), |(_, dtype)| StoredType::Known(*dtype));
        let bytes = end
            .checked_sub(start)
            .ok_or_else(|| wrong(format!("ends at {end}, before it begins at {start}")))?;
        if let StoredType::Known(known) = dtype
            && bytes_of(known, &shape) != Some(bytes)
        {
            return Err(wrong(format!(
                "has {bytes} bytes, which is not the size of {known} elements of the shape {shape:?}"
            )));
        }
        let in_data = file_bytes.saturating_sub(data_start);
        if end > in_data {
            return Err(wrong(format!(
                "ends at {end}, but the file has {in_data} bytes of data (hint: the file may be truncated)"
            )));
        }
        Ok(StoredTensor {
            name,
            dtype,
            shape,
            start: data_start + start,
            bytes,
        })
    }
}

/// Returns the length and the header of a file with these tensors, whose data follow each other,
/// and with texts about it.
pub fn header(tensors: &[(&str, DType, &[u64])], metadata: &[(&str, &str)]) -> Vec<u8> {
    let texts = metadata
        .iter()
        .map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)));
    let texts: Vec<String> = texts.collect();
    let mut members = vec![format!("{}:{{{}}}", quoted(METADATA), texts.join(","))];
    let mut start = 0_u64;
    for (name, dtype, shape) in tensors {
        let known = TYPES.iter().find(|(_, known)| known == dtype);
        let (word, name) = (known.map_or("", |(word, _)| word), quoted(name));
        let end = start.saturating_add(bytes_of(*dtype, shape).unwrap_or(u64::MAX));
        members.push(format!(
            "{name}:{{\"dtype\":\"{word}\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
        ));
        start = end;
    }
    let mut text = format!("{{{}}}", members.join(","));
    // Aligned data can be used in place.
    let padded = (LENGTH_BYTES + text.len()).next_multiple_of(64) - LENGTH_BYTES;
    text.extend(std::iter::repeat_n(' ', padded - text.len()));
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.extend(text.into_bytes());
    header
}

/// Returns a string of JSON.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: usize) -> Vec<u8> {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(vec![0; data]);
        file
    }

    fn wrong(header: &str, data: usize) -> String {
        tensors_of(&file(header, data)).expect_err(header).to_string()
    }

    #[test]
    fn a_header_that_was_written_is_read_again() {
        let listed: [(&str, DType, &[u64]); 3] = [
            ("x", DType::F32, &[2, 3]),
            ("a \"quoted\"\n\\name", DType::BF16, &[]),
            ("empty", DType::I64, &[0, 7]),
        ];
        let mut whole = header(&listed, &[("n", "4"), ("text", "\"\\\t")]);
        assert_eq!(whole.len() % 64, 0);
        let start = whole.len() as u64;
        whole.extend([0; 26]);
        let found = tensors_of(&whole).expect("a file");
        let places: Vec<(u64, u64)> = found
            .iter()
            .map(|tensor| (tensor.start - start, tensor.bytes))
            .collect();
        assert_eq!(places, [(0, 24), (24, 2), (26, 0)]);
        for (tensor, (name, dtype, shape)) in found.iter().zip(listed) {
            assert_eq!(tensor.name, name);
            super::super::check(tensor, dtype, shape).expect("its type and shape");
        }
    }

    #[test]
    fn what_other_programs_write_is_read() {
        let text = r#" {"w" : {"shape":[2], "dtype":"F8_E8M0", "data_offsets":[0,2], "new":{"a":[1]}}} "#;
        let found = tensors_of(&file(text, 2)).expect("a file");
        assert_eq!(found[0].dtype, StoredType::Other("F8_E8M0".to_owned()));
        let refused = super::super::check(&found[0], DType::U8, &[2]).expect_err("another type");
        assert_eq!(refused.to_string(), "it holds `F8_E8M0`, not u8");
    }

    #[test]
    fn a_hostile_header_is_refused_by_what_is_wrong_with_it() {
        let entry = |shape: &str, offsets: &str| {
            format!(r#"{{"w":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
        };
        for (header, expected) in [
            (String::new(), "expected an object"),
            ("{".to_owned(), "expected a key"),
            (entry("[2]", "[0,8]") + "x", "text after the end"),
            (entry("[2]", "[8,0]"), "ends at 0, before it begins at 8"),
            (entry("[2]", "[0,9]"), "has 9 bytes, which is not the size"),
            (entry("[3]", "[0,12]"), "may be truncated"),
            (entry("[4294967296,4294967296,4]", "[0,0]"), "not the size"),
            (entry("[-1]", "[0,8]"), "expected whole numbers"),
            (entry("[2.0]", "[0,8]"), "expected whole numbers"),
            (entry("[2]", "[0]"), "has 1 data offsets"),
            (entry("[2]", "[18446744073709551608,18446744073709551615]"), "not the size"),
            (entry("2", "[0,8]"), "expected a list"),
            (r#"{"w":{"dtype":"F32"}}"#.to_owned(), "lacks"),
            (r#"{"w":[]}"#.to_owned(), "expected an object"),
            (format!(r#"{{"w":{}}}"#, "[".repeat(100_000)), "expected an object"),
            (
                format!(r#"{{"__metadata__":{}}}"#, "[".repeat(100_000)),
                "nested more than",
            ),
            (
                r#"{"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#
                    .to_owned(),
                "two tensors are named `w`",
            ),
        ] {
            let found = wrong(&header, 8);
            assert!(found.contains(expected), "{header:.80}: {found}");
        }
        for (bytes, expected) in [
            (&[1, 2][..], "less than 8 bytes"),
            (&[0xff; 8], "but 0 bytes follow"),
            (&[9, 0, 0, 0, 0, 0, 0, 0, b'{', b'}'], "but 2 bytes follow"),
            (&[1, 0, 0, 0, 0, 0, 0, 0, 0xff], "it is not UTF-8"),
        ] {
            let found = tensors_of(bytes).expect_err("it is wrong").to_string();
            assert!(found.contains(expected), "{found}");
        }
        let huge = header_bytes((64_u64 << 20).to_le_bytes(), 1 << 40).expect_err("it is long");
        assert!(huge.to_string().contains("the limit is 16777216"), "{huge}");
    }

    #[test]
    fn a_missing_tensor_is_answered_with_the_names_of_the_others() {
        let empty = |count: usize| -> Vec<StoredTensor> {
            let names: Vec<String> = (0..count).map(|number| format!("w{number}")).collect();
            let listed: Vec<(&str, DType, &[u64])> = names.iter().map(|name| (&**name, DType::U8, &[0][..])).collect();
            tensors_of(&header(&listed, &[])).expect("a file")
        };
        let missing = |count| {
            super::super::named(&empty(count), "x")
                .expect_err("missing")
                .to_string()
        };
        assert_eq!(missing(0), "there is no tensor `x`: it has no tensors");
        assert_eq!(missing(2), "there is no tensor `x`: it has `w0`, `w1`");
        assert!(missing(14).ends_with("`w11` and 2 more"), "{}", missing(14));
    }
}
