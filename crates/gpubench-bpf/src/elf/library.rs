//! Exported functions of an ELF file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _};
use object::{Endianness, ReadCache, ReadRef as _};

use super::stub::{self, LOOKED_AT, Stub};
use super::{Function, Shape, Site, site};
use crate::BpfError;

type Header = elf::FileHeader64<Endianness>;

/// A library, read as far as needed.
#[derive(Debug)]
pub struct Library {
    /// Its exported functions, in the order of their names. Two names for one function are two.
    pub functions: Vec<Function>,
}

/// An exported function and its code.
struct Export<'data> {
    name: String,
    address: u64,
    offset: u64,
    code: &'data [u8],
}

impl Library {
    /// Reads the exported functions that `wanted` accepts by their names.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not an ELF file of 64 bits.
    pub fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Library, BpfError> {
        let file = open(path).map_err(|source| BpfError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        functions(&ReadCache::new(file), wanted)
            .map(|functions| Library { functions })
            .map_err(|source| BpfError::NotElf {
                path: path.to_owned(),
                source,
            })
    }
}

/// The largest library that is read. Observed processes choose the files.
const MOST_BYTES: u64 = 1 << 29;

/// Functions of a library that are looked at.
const MOST_FUNCTIONS: usize = 1 << 14;

/// Opens a file, without waiting for the other side of a pipe.
fn open(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() && metadata.len() <= MOST_BYTES {
        true => Ok(file),
        false => Err(io::Error::other("it is no file, or larger than a library")),
    }
}

fn functions(data: &ReadCache<File>, wanted: impl Fn(&str) -> bool) -> object::Result<Vec<Function>> {
    let header = Header::parse(data)?;
    let endian = header.endian()?;
    let segments = Segments::read(header, endian, data)?;
    let exports = exports(header, endian, data, &segments, wanted)?;
    let stubs: Vec<Option<Stub>> = match header.e_machine(endian) {
        elf::EM_X86_64 => exports.iter().map(|export| stub::read(export.code)).collect(),
        _ => exports.iter().map(|_| None).collect(),
    };
    let slots = exports.iter().zip(&stubs);
    let slots = slots
        .filter_map(|(export, stub)| Some(slot(export, stub.as_ref()?)))
        .collect();
    let filled = filled_slots(header, endian, data, &slots)?;
    let implementation = |export: &Export<'_>, stub: &Option<Stub>| {
        let address = *filled.get(&slot(export, stub.as_ref()?))?;
        segments.offset_of_code(address)
    };
    let implementations: Vec<Option<u64>> = exports.iter().zip(&stubs).map(|(e, s)| implementation(e, s)).collect();
    let shared = shared(&implementations);
    let is_x86 = header.e_machine(endian) == elf::EM_X86_64;
    let found = exports.into_iter().zip(stubs).zip(implementations);
    Ok(found
        .map(|((export, stub), implementation)| {
            // Code that several stubs lead to is no function of its own, so the bytes misled.
            let implementation = implementation.filter(|offset| !shared.contains(offset));
            let stub = stub.filter(|_| implementation.is_some());
            let at = implementation.unwrap_or(export.offset);
            let (skipped, is_emulated) = match is_x86 {
                true => site::choose(data.read_bytes_at(at, 32).unwrap_or_default()),
                false => (0, false),
            };
            Function {
                name: export.name,
                symbol: export.offset,
                shape: stub.map_or(Shape::Plain, |stub| stub.shape),
                site: Site {
                    offset: at + skipped,
                    is_emulated,
                },
                failure: stub.and_then(|stub| stub.failure).map(|after| export.offset + after),
            }
        })
        .collect())
}

fn slot(export: &Export<'_>, stub: &Stub) -> u64 {
    export.address.wrapping_add_signed(stub.slot)
}

fn shared(implementations: &[Option<u64>]) -> BTreeSet<u64> {
    let mut seen = BTreeSet::new();
    let again = implementations.iter().flatten().filter(|offset| !seen.insert(**offset));
    again.copied().collect()
}

/// Returns the wanted functions of the table of dynamic symbols, in the order of their names.
fn exports<'data>(
    header: &Header,
    endian: Endianness,
    data: &'data ReadCache<File>,
    segments: &Segments,
    wanted: impl Fn(&str) -> bool,
) -> object::Result<Vec<Export<'data>>> {
    let sections = header.sections(endian, data)?;
    let symbols = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
    let mut found = BTreeMap::new();
    for symbol in symbols.iter() {
        if symbol.st_type() != elf::STT_FUNC || symbol.st_shndx(endian) == elf::SHN_UNDEF {
            continue;
        }
        let Ok(name) = std::str::from_utf8(symbol.name(endian, symbols.strings())?) else {
            continue;
        };
        let address = symbol.st_value(endian);
        let Some(offset) = segments.offset_of_code(address).filter(|_| wanted(name)) else {
            continue;
        };
        let length = match symbol.st_size(endian) {
            0 => LOOKED_AT as u64,
            size => size.min(LOOKED_AT as u64),
        };
        let code = data.read_bytes_at(offset, length).unwrap_or_default();
        let export = Export {
            name: name.to_owned(),
            address,
            offset,
            code,
        };
        found.insert(name.to_owned(), export);
        if found.len() == MOST_FUNCTIONS {
            break;
        }
    }
    Ok(found.into_values().collect())
}

/// Returns what relative relocations put into the given slots.
fn filled_slots(
    header: &Header,
    endian: Endianness,
    data: &ReadCache<File>,
    slots: &BTreeSet<u64>,
) -> object::Result<BTreeMap<u64, u64>> {
    let mut filled = BTreeMap::new();
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return Ok(filled);
    };
    for section in header.sections(endian, data)?.iter() {
        let Some((relocations, _)) = section.rela(endian, data)? else {
            continue;
        };
        for relocation in relocations {
            let place = relocation.r_offset(endian);
            if place < *first || place > *last || !slots.contains(&place) {
                continue;
            }
            if relocation.r_type(endian, false) == elf::R_X86_64_RELATIVE {
                filled.insert(place, relocation.r_addend(endian).cast_unsigned());
            }
        }
    }
    Ok(filled)
}

/// The segments with code.
struct Segments(Vec<(u64, u64, u64)>);

impl Segments {
    fn read(header: &Header, endian: Endianness, data: &ReadCache<File>) -> object::Result<Segments> {
        let segments = header.program_headers(endian, data)?.iter();
        let code = segments
            .filter(|segment| segment.p_type(endian) == elf::PT_LOAD && segment.p_flags(endian).contains(elf::PF_X));
        Ok(Segments(
            code.map(|segment| {
                (
                    segment.p_vaddr(endian),
                    segment.p_filesz(endian),
                    segment.p_offset(endian),
                )
            })
            .collect(),
        ))
    }

    /// Returns where the code of an address is in the file.
    fn offset_of_code(&self, address: u64) -> Option<u64> {
        let inside = |(start, length, _): &&(u64, u64, u64)| address >= *start && address - start < *length;
        let (start, _, offset) = self.0.iter().find(inside)?;
        Some(address - start + offset)
    }
}
