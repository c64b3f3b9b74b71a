//! Memory for `extern __shared__` arrays.
//!
//! The shim declares such an array as an undefined thread-local symbol. This module defines all
//! arrays of a library at one address, as CUDA does, whatever their names, types and namespaces. It
//! reads their names from the compiled object.
//!
//! If the code reaches the arrays through TLS descriptors, the module provides a descriptor that
//! returns the address set by the executor. Otherwise the arrays are in thread-local memory. Its
//! place is fixed, and no guard page can follow closely.

use std::fmt::Write as _;
use std::ops::Range;

use object::elf::{
    EM_X86_64, FileHeader64, R_X86_64_GOTPC32_TLSDESC, R_X86_64_NONE, R_X86_64_PC32, R_X86_64_TLSDESC_CALL, Rela64,
    RelocationType, SHN_UNDEF, SHT_RELA, SHT_SYMTAB, STT_NOTYPE, STT_TLS, Sym64, SymbolInfo,
};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian, pod};

use crate::cpu::executor::MAX_DYNAMIC_SHARED as DYNAMIC_SHARED_BYTES;

type Header = FileHeader64<LittleEndian>;
type Symbol = Sym64<LittleEndian>;
type Relocation = Rela64<LittleEndian>;

/// The start of a module's thread-local memory. It is undefined in every object that computes
/// addresses from it.
const DEFINED_BY_THE_LINKER: &[u8] = b"_TLS_MODULE_BASE_";

/// Assembler code for a library with such arrays: the function with which the executor places them
/// for the calling thread, and the descriptor's resolver, which preserves all registers but rax. It
/// is part of the cache key.
pub(super) const PLACED: &str = include_str!("dynamic_shared.s");

/// The undefined thread-local symbols of an object and the sections that refer to them.
struct Arrays {
    names: Vec<String>,
    /// The symbols' indices in the symbol table.
    indices: Vec<u32>,
    symbols: Range<usize>,
    relocations: Vec<Range<usize>>,
}

/// Defines the arrays of an object. Changes the object if the executor can place them, and returns
/// the assembler source to link with it; `None` if it has no arrays.
pub(super) fn define_arrays(object: &mut [u8]) -> Option<String> {
    let arrays = Arrays::from_object(object)?;
    Some(match arrays.redirect(object) {
        Some(()) => arrays.descriptors(),
        None => arrays.thread_locals(),
    })
}

impl Arrays {
    /// Finds the arrays of a 64-bit little-endian ELF object; `None` if it is not one or has no
    /// arrays.
    fn from_object(object: &[u8]) -> Option<Arrays> {
        let header = Header::parse(object).ok()?;
        let endian = header.endian().ok()?;
        let sections = header.sections(endian, object).ok()?;
        let symbols = sections.symbols(endian, object, SHT_SYMTAB).ok()?;
        let (mut names, mut indices) = (Vec::new(), Vec::new());
        for (index, symbol) in symbols.enumerate() {
            if symbol.st_type() != STT_TLS || symbol.st_shndx(endian) != SHN_UNDEF {
                continue;
            }
            let name = symbols.symbol_name(endian, symbol).ok()?;
            if name != DEFINED_BY_THE_LINKER {
                names.push(String::from_utf8(name.to_vec()).ok()?);
                indices.push(u32::try_from(index.0).ok()?);
            }
        }
        if names.is_empty() {
            return None;
        }
        let table = symbols.section();
        let mut relocations = Vec::new();
        for section in sections.iter() {
            if section.sh_type(endian) == SHT_RELA && section.link(endian) == table {
                relocations.push(bytes_of(section)?);
            }
        }
        let symbols = bytes_of(sections.section(table).ok()?)?;
        Some(Arrays {
            names,
            indices,
            symbols,
            relocations,
        })
    }

    /// Redirects the object from the linker's TLS descriptors to a descriptor that is data under
    /// the array's name. Returns `None` and leaves the object unchanged if any access uses another
    /// TLS model.
    fn redirect(&self, object: &mut [u8]) -> Option<()> {
        if Header::parse(&*object).ok()?.e_machine(LittleEndian) != EM_X86_64 {
            return None;
        }
        for range in &self.relocations {
            let relocations: &[Relocation] = pod::slice_from_all_bytes(object.get(range.clone())?).ok()?;
            let mut mine = relocations.iter().filter(|relocation| self.concerns(relocation));
            mine.try_for_each(|relocation| redirected(relocation.r_type(LittleEndian, false)).map(|_| ()))?;
        }
        pod::slice_from_all_bytes::<Symbol>(object.get(self.symbols.clone())?).ok()?;
        for range in &self.relocations {
            let relocations: &mut [Relocation] = pod::slice_from_all_bytes_mut(&mut object[range.clone()]).ok()?;
            for relocation in relocations.iter_mut().filter(|relocation| self.concerns(relocation)) {
                let symbol = relocation.r_sym(LittleEndian, false);
                let kind = redirected(relocation.r_type(LittleEndian, false))?;
                relocation.r_info = Relocation::r_info(LittleEndian, false, symbol, kind);
            }
        }
        let symbols: &mut [Symbol] = pod::slice_from_all_bytes_mut(&mut object[self.symbols.clone()]).ok()?;
        for &index in &self.indices {
            let symbol = symbols.get_mut(index as usize)?;
            symbol.st_info = SymbolInfo::new(symbol.st_bind(), STT_NOTYPE);
        }
        Some(())
    }

    fn concerns(&self, relocation: &Relocation) -> bool {
        self.indices.contains(&relocation.r_sym(LittleEndian, false))
    }

    /// Returns assembler source that defines the arrays through one descriptor.
    fn descriptors(&self) -> String {
        let mut text = PLACED.to_owned();
        for name in &self.names {
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "\t.globl {name}\n\t.hidden {name}\n\t.type {name}, @object\n{name}:"
            );
        }
        text.push_str("\t.quad gb_dynamic_place\n\t.quad 0\n");
        text
    }

    /// Returns assembler source that defines the arrays in thread-local memory.
    fn thread_locals(&self) -> String {
        let mut text = String::from(".section .tbss,\"awT\",@nobits\n.balign 128\n");
        for name in &self.names {
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
}

/// Returns the relocation that replaces one of a TLS descriptor, when the descriptor is data of the
/// library.
fn redirected(kind: RelocationType) -> Option<RelocationType> {
    match kind {
        R_X86_64_GOTPC32_TLSDESC => Some(R_X86_64_PC32),
        R_X86_64_TLSDESC_CALL => Some(R_X86_64_NONE),
        _ => None,
    }
}

/// Returns the byte range of a section in its file.
pub(super) fn bytes_of(section: &<Header as object::read::elf::FileHeader>::SectionHeader) -> Option<Range<usize>> {
    let (start, len) = section.file_range(LittleEndian)?;
    let start = usize::try_from(start).ok()?;
    Some(start..start.checked_add(usize::try_from(len).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_an_object_have_no_arrays() {
        assert_eq!(define_arrays(&mut []), None);
        assert_eq!(define_arrays(&mut b"\x7fELF\x02\x01".to_vec()), None);
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_object_is_no_panic(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 64..400)) {
            bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
            define_arrays(&mut bytes);
        }
    }
}
