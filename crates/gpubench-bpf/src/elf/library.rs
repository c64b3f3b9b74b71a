//! Exported functions of an ELF file of 64 bits, in the byte order of the machines that are
//! supported.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use super::file::damaged;
use super::stub::{self, LOOKED_AT, Stub};
use super::{Function, LibraryFile, Shape, Site, site};
use crate::BpfError;

/// A library, read as far as needed.
#[derive(Debug)]
pub struct Library {
    /// Its exported functions, in the order of their names. Two names for one function are two.
    pub functions: Vec<Function>,
}

impl Library {
    /// Reads the exported functions of a file that `wanted` accepts by their names.
    ///
    /// # Errors
    ///
    /// As [`LibraryFile::open`] and [`LibraryFile::library`].
    pub fn read(path: &Path, wanted: impl Fn(&str) -> bool) -> Result<Library, BpfError> {
        LibraryFile::open(path)?.library(wanted)
    }
}

/// An exported function and its code.
struct Export {
    name: String,
    address: u64,
    offset: u64,
    code: Vec<u8>,
}

/// Symbols of a library. A driver has some hundred.
const MOST_SYMBOLS: u64 = 1 << 16;
/// Functions that are looked at.
const MOST_FUNCTIONS: usize = 1 << 11;
/// Bytes of the names of all symbols.
const MOST_NAME_BYTES: u64 = 1 << 22;
/// Bytes of a name, with its zero.
const LONGEST_NAME: usize = 128;
/// Bytes of relocations that are read at once.
const CHUNK: u64 = RELOCATION * (1 << 12);

/// The sizes of entries.
const SECTION: u64 = 64;
const SEGMENT: u64 = 56;
const SYMBOL: u64 = 24;
const RELOCATION: u64 = 24;

const IS_X86: bool = cfg!(target_arch = "x86_64");

pub(super) fn functions(file: &LibraryFile, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Function>> {
    let header = Header::read(file)?;
    let segments = Segments::read(file, &header)?;
    let sections = header.sections(file)?;
    let exports = exports(file, &sections, &segments, wanted)?;
    let stubs: Vec<Option<Stub>> = if IS_X86 {
        exports.iter().map(|export| stub::read(&export.code)).collect()
    } else {
        exports.iter().map(|_| None).collect()
    };
    let slots = exports.iter().zip(&stubs);
    let slots = slots
        .filter_map(|(export, stub)| Some(slot(export, stub.as_ref()?)))
        .collect();
    let filled = filled_slots(file, &sections, &slots)?;
    let implementation = |export: &Export, stub: &Option<Stub>| {
        let address = *filled.get(&slot(export, stub.as_ref()?))?;
        segments.offset_of_code(address)
    };
    let implementations: Vec<Option<u64>> = exports.iter().zip(&stubs).map(|(e, s)| implementation(e, s)).collect();
    let shared = shared(&implementations);
    let found = exports.into_iter().zip(stubs).zip(implementations);
    Ok(found
        .map(|((export, stub), implementation)| {
            // Code that several stubs lead to is no function of its own, so the bytes misled.
            let implementation = implementation.filter(|offset| !shared.contains(offset));
            let stub = stub.filter(|_| implementation.is_some());
            let at = implementation.unwrap_or(export.offset);
            let (skipped, is_emulated) = if IS_X86 {
                site::choose(&file.read_some(at, 32))
            } else {
                (0, false)
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

fn slot(export: &Export, stub: &Stub) -> u64 {
    export.address.wrapping_add_signed(stub.slot)
}

fn shared(implementations: &[Option<u64>]) -> BTreeSet<u64> {
    let mut seen = BTreeSet::new();
    let again = implementations.iter().flatten().filter(|offset| !seen.insert(**offset));
    again.copied().collect()
}

/// Where the tables of a file are.
struct Header {
    segments: (u64, u16),
    sections: (u64, u16),
}

impl Header {
    fn read(file: &LibraryFile) -> io::Result<Header> {
        const MACHINE: u16 = if IS_X86 { 62 } else { 183 };
        const OF_64_BITS: &[u8] = b"\x7fELF\x02\x01";
        let bytes = file.read(0, 64)?;
        if !bytes.starts_with(OF_64_BITS) || half(&bytes, 18) != MACHINE {
            return Err(damaged("its first bytes are of something else"));
        }
        let is_known = u64::from(half(&bytes, 54)) == SEGMENT && u64::from(half(&bytes, 58)) == SECTION;
        if is_known {
            Ok(Header {
                segments: (double(&bytes, 32), half(&bytes, 56)),
                sections: (double(&bytes, 40), half(&bytes, 60)),
            })
        } else {
            Err(damaged("its tables have entries of another size"))
        }
    }

    fn sections(&self, file: &LibraryFile) -> io::Result<Vec<Section>> {
        let (offset, count) = self.sections;
        let bytes = file.read(offset, u64::from(count) * SECTION)?;
        Ok(bytes.chunks_exact(SECTION as usize).map(Section::from_bytes).collect())
    }
}

/// Where a table is, and what it has.
#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u32,
    offset: u64,
    bytes: u64,
    /// The number of the section with the names.
    names: u32,
}

impl Section {
    const RELOCATIONS: u32 = 4;
    const DYNAMIC_SYMBOLS: u32 = 11;

    fn from_bytes(bytes: &[u8]) -> Section {
        Section {
            kind: word(bytes, 4),
            offset: double(bytes, 24),
            bytes: double(bytes, 32),
            names: word(bytes, 40),
        }
    }
}

/// Returns the wanted functions of the table of dynamic symbols, in the order of their names.
fn exports(
    file: &LibraryFile,
    sections: &[Section],
    segments: &Segments,
    wanted: impl Fn(&str) -> bool,
) -> io::Result<Vec<Export>> {
    let table = sections.iter().find(|section| section.kind == Section::DYNAMIC_SYMBOLS);
    let table = table.ok_or_else(|| damaged("it exports nothing"))?;
    let names = sections
        .get(table.names as usize)
        .ok_or_else(|| damaged("its symbols have no names"))?;
    if table.bytes > MOST_SYMBOLS * SYMBOL || names.bytes > MOST_NAME_BYTES {
        return Err(damaged("it has more symbols than a driver"));
    }
    let symbols = file.read(table.offset, table.bytes)?;
    let names = file.read(names.offset, names.bytes)?;
    let mut found = BTreeMap::new();
    for symbol in symbols.chunks_exact(SYMBOL as usize) {
        const FUNCTION: u8 = 2;
        let (is_function, is_here) = (symbol[4] & 0xf == FUNCTION, half(symbol, 6) != 0);
        let Some(name) = name(&names, word(symbol, 0)).filter(|name| is_function && is_here && wanted(name)) else {
            continue;
        };
        let address = double(symbol, 8);
        let Some(offset) = segments.offset_of_code(address) else {
            continue;
        };
        let length = match double(symbol, 16) {
            0 => LOOKED_AT as u64,
            size => size.min(LOOKED_AT as u64),
        };
        let export = Export {
            name: name.to_owned(),
            address,
            offset,
            code: file.read_some(offset, length),
        };
        found.insert(name, export);
        if found.len() > MOST_FUNCTIONS {
            return Err(damaged("it has more functions than a driver"));
        }
    }
    Ok(found.into_values().collect())
}

/// Returns the name at a place in the names, if it is not longer than those of a driver.
fn name(names: &[u8], at: u32) -> Option<&str> {
    let rest = names.get(at as usize..)?;
    let rest = &rest[..rest.len().min(LONGEST_NAME)];
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Returns what relative relocations put into the given slots.
fn filled_slots(file: &LibraryFile, sections: &[Section], slots: &BTreeSet<u64>) -> io::Result<BTreeMap<u64, u64>> {
    const RELATIVE: u64 = 8;
    let mut filled = BTreeMap::new();
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return Ok(filled);
    };
    let tables = sections.iter().filter(|section| section.kind == Section::RELOCATIONS);
    for table in tables {
        for at in (0..table.bytes).step_by(CHUNK as usize) {
            let offset = table.offset.saturating_add(at);
            let relocations = file.read(offset, CHUNK.min(table.bytes - at))?;
            for relocation in relocations.chunks_exact(RELOCATION as usize) {
                let place = double(relocation, 0);
                if place < *first || place > *last || !slots.contains(&place) {
                    continue;
                }
                if double(relocation, 8) & 0xffff_ffff == RELATIVE {
                    filled.insert(place, double(relocation, 16));
                }
            }
        }
    }
    Ok(filled)
}

/// The segments with code: where each begins in memory, its length, and where it is in the file.
struct Segments(Vec<(u64, u64, u64)>);

impl Segments {
    fn read(file: &LibraryFile, header: &Header) -> io::Result<Segments> {
        const LOADED: u32 = 1;
        const EXECUTABLE: u32 = 1;
        let (offset, count) = header.segments;
        let bytes = file.read(offset, u64::from(count) * SEGMENT)?;
        let code = bytes
            .chunks_exact(SEGMENT as usize)
            .filter(|segment| word(segment, 0) == LOADED && word(segment, 4) & EXECUTABLE != 0)
            .map(|segment| (double(segment, 16), double(segment, 32), double(segment, 8)));
        Ok(Segments(code.collect()))
    }

    /// Returns where the code of an address is in the file.
    fn offset_of_code(&self, address: u64) -> Option<u64> {
        let inside = |(start, length, _): &&(u64, u64, u64)| address >= *start && address - start < *length;
        let (start, _, offset) = self.0.iter().find(inside)?;
        (address - start).checked_add(*offset)
    }
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(half(bytes, at)) | u32::from(half(bytes, at + 2)) << 16
}

fn double(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}
