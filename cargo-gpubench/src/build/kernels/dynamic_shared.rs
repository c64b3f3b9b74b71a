//! Memory for `extern __shared__` arrays.
//!
//! The shim makes such an array an undefined thread-local symbol. All of a library's are defined here at one address, as CUDA defines them,
//! whatever names, types and namespaces the source gives them: the names are read from the compiled object.

use std::fmt::Write as _;

use crate::device::cpu::executor::MAX_DYNAMIC_SHARED as DYNAMIC_SHARED_BYTES;

const SECTION_HEADER_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const SECTION_SYMBOLS: u32 = 2;
const SYMBOL_TLS: u8 = 6;
/// The start of a module's thread-local memory, undefined in every object that computes addresses from it.
const DEFINED_BY_THE_LINKER: &str = "_TLS_MODULE_BASE_";

/// The undefined thread-local symbols of a 64-bit little-endian ELF object; nothing if it is none.
pub(super) fn undefined_thread_locals(object: &[u8]) -> Option<Vec<String>> {
    object.starts_with(b"\x7fELF\x02\x01").then_some(())?;
    let table = usize::try_from(u64_at(object, 0x28)?).ok()?;
    let count = usize::from(u16::from_le_bytes(bytes_at(object, 0x3c)?));
    let sections = object.get(table..)?;
    let mut names = Vec::new();
    for header in sections.chunks_exact(SECTION_HEADER_BYTES).take(count) {
        if u32_at(header, 4)? != SECTION_SYMBOLS {
            continue;
        }
        let strings_header = sections
            .chunks_exact(SECTION_HEADER_BYTES)
            .nth(u32_at(header, 0x28)? as usize)?;
        let strings = contents(object, strings_header)?;
        for symbol in contents(object, header)?.chunks_exact(SYMBOL_BYTES) {
            let (kind, section) = (symbol[4] & 0xf, u16::from_le_bytes(bytes_at(symbol, 6)?));
            if kind == SYMBOL_TLS && section == 0 {
                let name = strings.get(u32_at(symbol, 0)? as usize..)?;
                let name = name.split(|&byte| byte == 0).next()?;
                let name = std::str::from_utf8(name).ok()?;
                if name != DEFINED_BY_THE_LINKER {
                    names.push(name.to_owned());
                }
            }
        }
    }
    Some(names)
}

/// An assembler source that defines the symbols.
pub(super) fn definitions(names: &[String]) -> String {
    let mut text = String::from(".section .tbss,\"awT\",@nobits\n.balign 128\n");
    for name in names {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            ".globl {name}\n.hidden {name}\n.type {name}, @object\n.size {name}, {DYNAMIC_SHARED_BYTES}\n{name}:"
        );
    }
    let _ = writeln!(
        text,
        ".zero {DYNAMIC_SHARED_BYTES}\n.section .note.GNU-stack,\"\",@progbits"
    );
    text
}

fn contents<'a>(object: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    let start = usize::try_from(u64_at(header, 0x18)?).ok()?;
    let len = usize::try_from(u64_at(header, 0x20)?).ok()?;
    object.get(start..start.checked_add(len)?)
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_has_no_symbols() {
        assert_eq!(undefined_thread_locals(b""), None);
        assert_eq!(undefined_thread_locals(b"\x7fELF\x02\x01"), None);
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_object_is_no_panic(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 64..400)) {
            bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
            undefined_thread_locals(&bytes);
        }
    }
}
