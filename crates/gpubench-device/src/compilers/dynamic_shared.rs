//! Memory for `extern __shared__` arrays.
//!
//! The shim makes such an array an undefined thread-local symbol. All of a library's are defined
//! here at one address, as CUDA defines them, whatever names, types and namespaces the source gives
//! them: the names are read from the compiled object.
//!
//! Where the code asks a TLS descriptor for the array's place, it is given a descriptor of the
//! library's own, which answers with the place that the executor says. Elsewhere the arrays get
//! thread-local memory, whose place is fixed and which no guard can follow closely.

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

/// The start of a module's thread-local memory, undefined in every object that computes addresses
/// from it.
const DEFINED_BY_THE_LINKER: &[u8] = b"_TLS_MODULE_BASE_";

/// What a library gets along with an object that has arrays: the function by which the executor
/// places them on the calling thread, and the descriptor's function, which like every one of them
/// keeps all registers but rax. Part of what a cached library depends on.
pub(super) const PLACED: &str = include_str!("dynamic_shared.s");

/// The undefined thread-local symbols of an object, and where it speaks of them.
struct Arrays {
    names: Vec<String>,
    /// Their indices in the symbol table.
    indices: Vec<u32>,
    symbols: Range<usize>,
    relocations: Vec<Range<usize>>,
}

/// Defines an object's arrays: changes it where the executor is to place them, and returns the
/// assembler source to link it with. Nothing if it has no arrays.
pub(super) fn define_arrays(object: &mut [u8]) -> Option<String> {
    let arrays = Arrays::of(object)?;
    Some(match arrays.redirect(object) {
        Some(()) => arrays.descriptors(),
        None => arrays.thread_locals(),
    })
}

impl Arrays {
    /// Of a 64-bit little-endian ELF object; nothing if it is none or has none.
    fn of(object: &[u8]) -> Option<Arrays> {
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

    /// Makes the object ask a descriptor that is data under an array's name, in place of the one
    /// that the linker would make of a thread-local array; nothing, and the object as it was, if it
    /// asks in another way anywhere.
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

    /// An assembler source that defines the arrays by one descriptor.
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

    /// An assembler source that defines them in thread-local memory.
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

/// What a relocation of the code that asks a descriptor becomes when the descriptor is data of the
/// library.
fn redirected(kind: RelocationType) -> Option<RelocationType> {
    match kind {
        R_X86_64_GOTPC32_TLSDESC => Some(R_X86_64_PC32),
        R_X86_64_TLSDESC_CALL => Some(R_X86_64_NONE),
        _ => None,
    }
}

/// Where a section lies in its file.
pub(super) fn bytes_of(section: &<Header as object::read::elf::FileHeader>::SectionHeader) -> Option<Range<usize>> {
    let (start, len) = section.file_range(LittleEndian)?;
    let start = usize::try_from(start).ok()?;
    Some(start..start.checked_add(usize::try_from(len).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_has_no_arrays() {
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
