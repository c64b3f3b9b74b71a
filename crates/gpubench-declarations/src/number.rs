//! Number types of CUDA C++.

/// A number type, as 64-bit Linux has it.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    Bool,
    /// `char`, whose sign depends on the processor.
    Char,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// `intptr_t` and `uintptr_t`: 64 bits that may be an address.
    Address,
    F16,
    BF16,
    F32,
    F64,
    F8E4M3,
    F8E5M2,
}

impl Number {
    /// Returns its bytes.
    pub fn size(self) -> usize {
        match self {
            Number::Bool | Number::Char | Number::I8 | Number::U8 | Number::F8E4M3 | Number::F8E5M2 => 1,
            Number::I16 | Number::U16 | Number::F16 | Number::BF16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::I64 | Number::U64 | Number::Address | Number::F64 => 8,
        }
    }

    /// Returns whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        use Number::{BF16, F8E4M3, F8E5M2, F16, F32, F64};
        matches!(self, F8E4M3 | F8E5M2 | F16 | BF16 | F32 | F64)
    }

    /// Returns whether it has the same bits, if the sign of integers counts for nothing.
    pub(crate) fn is_like(self, other: Number) -> bool {
        self == other || !self.is_float() && !other.is_float() && self.size() == other.size()
    }
}

/// No number type has as many words, qualifiers included.
pub(crate) const MOST_WORDS: usize = 16;

/// Returns the number type that the words name, without qualifiers.
pub(crate) fn number(words: &[&str]) -> Option<Number> {
    let words = match words {
        ["std", ":", ":", rest @ ..] => rest,
        words => words,
    };
    let [word] = words else {
        return integer(words);
    };
    Some(match *word {
        "float" => Number::F32,
        "double" => Number::F64,
        "half" | "__half" => Number::F16,
        "__nv_bfloat16" | "nv_bfloat16" => Number::BF16,
        "__nv_fp8_e4m3" => Number::F8E4M3,
        "__nv_fp8_e5m2" => Number::F8E5M2,
        "bool" => Number::Bool,
        "int8_t" => Number::I8,
        "uint8_t" | "uchar" | "__nv_fp8_storage_t" => Number::U8,
        "int16_t" => Number::I16,
        "uint16_t" | "ushort" => Number::U16,
        "int32_t" => Number::I32,
        "uint32_t" | "uint" => Number::U32,
        "int64_t" | "ptrdiff_t" | "ssize_t" => Number::I64,
        "uint64_t" | "size_t" => Number::U64,
        "intptr_t" | "uintptr_t" => Number::Address,
        _ => return integer(words),
    })
}

/// Parses types such as `unsigned long long int`.
fn integer(words: &[&str]) -> Option<Number> {
    let known = ["unsigned", "signed", "int", "char", "short", "long"];
    if words.is_empty() || words.iter().any(|word| !known.contains(word)) {
        return None;
    }
    let has = |word: &str| words.contains(&word);
    let of_sign = |signed, unsigned| if has("unsigned") { unsigned } else { signed };
    Some(match () {
        () if has("char") && !has("signed") => of_sign(Number::Char, Number::U8),
        () if has("char") => Number::I8,
        () if has("short") => of_sign(Number::I16, Number::U16),
        () if has("long") => of_sign(Number::I64, Number::U64),
        () => of_sign(Number::I32, Number::U32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_number_types() {
        for (words, expected) in [
            ("unsigned long long int", Some(Number::U64)),
            ("long unsigned", Some(Number::U64)),
            ("long", Some(Number::I64)),
            ("unsigned", Some(Number::U32)),
            ("char", Some(Number::Char)),
            ("signed char", Some(Number::I8)),
            ("unsigned char", Some(Number::U8)),
            ("unsigned short", Some(Number::U16)),
            ("std : : size_t", Some(Number::U64)),
            ("uintptr_t", Some(Number::Address)),
            ("__nv_fp8_e4m3", Some(Number::F8E4M3)),
            ("__nv_fp8_storage_t", Some(Number::U8)),
            ("int float", None),
            ("float4", None),
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(number(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn integers_of_a_size_are_alike() {
        assert!(Number::U32.is_like(Number::I32) && Number::Bool.is_like(Number::Char));
        assert!(!Number::U32.is_like(Number::F32) && !Number::F16.is_like(Number::BF16));
    }
}
