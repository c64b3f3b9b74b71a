//! The lines of a kernel's source that places in its code belong to.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, Error, LittleEndian};
use object::elf::FileHeader64;
use object::read::elf::{FileHeader as _, SectionHeader as _};

use super::code_place::CodePlace;
use super::kernel::Kernel;

/// The deepest nesting of entries that is read. `addr2line` recurses into inlined functions, so
/// malformed entries could overflow the stack.
const DEEPEST: isize = 256;

/// The file that the compiler of kernels reads. The user does not know it.
pub const GENERATED_FILE: &str = "gpubench_unit.cpp";

impl CodePlace {
    /// Describes the line of the kernel's source; `None` if the place is not in the kernel's
    /// library. In an inlined function, it is the line of that function and of the kernel.
    pub fn source_line(self, kernel: &Kernel) -> Option<String> {
        // The tool's own kernels have no source that the user could look at.
        let library = LoadedObject::with((!kernel.is_own).then_some(kernel.address())?)?;
        // The instruction after a call may belong to the next line.
        let places = [self.instruction, self.top_of_stack.saturating_sub(1)];
        let is_inside = |place: &usize| LoadedObject::with(*place).is_some_and(|object| object.base == library.base);
        let place = places.into_iter().find(is_inside)?;
        let code = fs_err::read(library.path).ok()?;
        line_at(&code, (place - library.base) as u64)
    }
}

/// An object that the dynamic linker has loaded.
struct LoadedObject {
    base: usize,
    path: PathBuf,
}

impl LoadedObject {
    /// Returns the object that contains an address.
    fn with(address: usize) -> Option<LoadedObject> {
        let mut place = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: the linker only compares the address with those of its objects, and fills the
        // local variable if it returns something other than zero.
        let place = unsafe {
            let found = libc::dladdr(address as *const c_void, place.as_mut_ptr());
            (found != 0).then(|| place.assume_init())?
        };
        // SAFETY: the linker's name of an object is a string that lives as long as the object.
        let name = unsafe { CStr::from_ptr(place.dli_fname) };
        Some(LoadedObject {
            base: place.dli_fbase as usize,
            path: Path::new(OsStr::from_bytes(name.to_bytes())).to_owned(),
        })
    }
}

/// Describes the line at an offset of a library. A compiler may join a load with the instruction of
/// an inlined function that uses it, so the caller's line is there, too. `None` if the debug
/// information is malformed: a kernel can contain any bytes.
pub fn line_at(library: &[u8], offset: u64) -> Option<String> {
    let tables = line_tables(library)?;
    if !is_shallow(&tables)? {
        return None;
    }
    let lines = Context::from_dwarf(tables).ok()?;
    let mut frames = lines.find_frames(offset).skip_all_loads().ok()?;
    let mut users = Vec::new();
    while let Some(frame) = frames.next().ok()? {
        let place = frame.location;
        users.extend(place.and_then(|place| Some((users_file(place.file?)?, place.line?))));
    }
    let shown = |(file, line): &(&str, u32)| format!("`{file}:{line}`");
    match &users[..] {
        [] => None,
        [only] => Some(shown(only)),
        [innermost, .., kernel] => Some(format!("{}, called from {}", shown(innermost), shown(kernel))),
    }
}

/// Returns a file's path in the crate; `None` for the generated file and those with absolute paths,
/// which are the tool's or the compiler's.
fn users_file(path: &str) -> Option<&str> {
    let path = path.trim_start_matches("./");
    (!path.starts_with('/') && path != GENERATED_FILE).then_some(path)
}

type Tables<'l> = Dwarf<EndianSlice<'l, LittleEndian>>;

/// Whether no entry is nested too deeply. `None` if an entry cannot be read.
fn is_shallow(tables: &Tables<'_>) -> Option<bool> {
    let mut units = tables.units();
    while let Some(header) = units.next().ok()? {
        let unit = tables.unit(header).ok()?;
        let mut entries = unit.entries_raw(None).ok()?;
        while !entries.is_empty() {
            if entries.next_depth() > DEEPEST {
                return Some(false);
            }
            if let Some(abbreviation) = entries.read_abbreviation().ok()? {
                entries.skip_attributes(abbreviation.attributes()).ok()?;
            }
        }
    }
    Some(true)
}

fn line_tables(library: &[u8]) -> Option<Tables<'_>> {
    let header = FileHeader64::<object::LittleEndian>::parse(library).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, library).ok()?;
    let contents = |name: &str| {
        let (_, section) = sections.section_by_name(endian, name.as_bytes())?;
        section.data(endian, library).ok()
    };
    let load = |id: addr2line::gimli::SectionId| {
        let contents = contents(id.name()).unwrap_or_default();
        Ok::<_, Error>(EndianSlice::new(contents, LittleEndian))
    };
    Dwarf::load(load).ok()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::tests::{kernel, launch, line, pool};
    use super::*;
    use object::elf::SectionHeader64;

    /// The library of a kernel that calls an inlined function, and the offset of the function's
    /// fault.
    fn faulty_library() -> (Vec<u8>, u64) {
        let text = "__device__ int first(const int *in) {\n  return in[0];\n}\n\
                    __global__ void faulty(const int *in, int *out) {\n  out[threadIdx.x] = first(in);\n}\n";
        let kernel = kernel(text, "faulty");
        let fault = launch(&pool(1), kernel, &line(1, 1), &[64, 64]).expect_err("the kernel faults");
        let place = fault.code.expect("the processor stopped it").instruction;
        let object = LoadedObject::with(place).expect("the kernel is in a library");
        let library = fs_err::read(&object.path).expect("it can be read");
        (library, (place - object.base) as u64)
    }

    /// Returns where a library has debug information, and the table of its sections.
    fn places_of_debug_information(library: &[u8]) -> Vec<Range<usize>> {
        let header = FileHeader64::<object::LittleEndian>::parse(library).expect("it is an object");
        let endian = header.endian().expect("its bytes have an order");
        let sections = header.sections(endian, library).expect("it has sections");
        let table = header.e_shoff.get(endian) as usize;
        let of_debugger = sections.iter().filter(|section| {
            let name = sections.section_name(endian, section).expect("it has a name");
            name.starts_with(b".debug_")
        });
        let places = of_debugger.map(|section| {
            let (start, bytes) = section.file_range(endian).expect("it is in the file");
            start as usize..(start + bytes) as usize
        });
        places.chain(std::iter::once(table..library.len())).collect()
    }

    /// Changes a few bytes in one of the places.
    fn damage(library: &mut [u8], places: &[Range<usize>], random: &mut fastrand::Rng) {
        let place = places[random.usize(..places.len())].clone();
        for _ in 0..random.usize(1..=8) {
            let at = random.usize(place.clone());
            match random.u8(..4) {
                0 => library[at] ^= 1 << random.u8(..8),
                1 => library[at] = random.u8(..),
                2 => library[at] = [0, 1, 0x7f, 0x80, 0xff][random.usize(..5)],
                _ => {
                    let end = place.end.min(at + 8);
                    library[at..end].fill([0, 0xff, 0x80][random.usize(..3)]);
                }
            }
        }
    }

    #[test]
    fn damaged_debug_information_is_read_to_its_end() {
        let (library, offset) = faulty_library();
        let line = "`kernels/test.cu:2`, called from `kernels/test.cu:5`";
        assert_eq!(line_at(&library, offset).as_deref(), Some(line));
        let places = places_of_debug_information(&library);
        assert!(places.len() > 4, "{places:?}");
        let mut random = fastrand::Rng::with_seed(7);
        let mut found = 0;
        for _ in 0..600 {
            let mut damaged = library.clone();
            damage(&mut damaged, &places, &mut random);
            found += usize::from(line_at(&damaged, offset).is_some());
            let _ = line_at(&damaged, random.u64(..));
        }
        assert!((1..600).contains(&found), "{found} of 600 have a line");
    }

    /// Replaces a section of a library.
    fn replace(library: &mut Vec<u8>, name: &str, contents: &[u8]) {
        let (table, position) = {
            let header = FileHeader64::<object::LittleEndian>::parse(&library[..]).expect("it is an object");
            let endian = header.endian().expect("its bytes have an order");
            let sections = header.sections(endian, &library[..]).expect("it has sections");
            let found = sections.section_by_name(endian, name.as_bytes());
            (
                header.e_shoff.get(endian) as usize,
                found.expect("it has the section").0.0,
            )
        };
        let entry = table + position * size_of::<SectionHeader64<object::LittleEndian>>();
        let place = [library.len().to_le_bytes(), contents.len().to_le_bytes()].concat();
        // The offset in the file, and the size.
        library[entry + 24..][..16].copy_from_slice(&place);
        library.extend_from_slice(contents);
    }

    /// Debug information with inlined functions in a function, each in the one before.
    fn nested(library: &[u8], depth: usize) -> Vec<u8> {
        let everywhere = [0_u64.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
        let in_unit = [
            &[4, 0, 0, 0, 0, 0, 8, 1][..],
            &everywhere,
            &[2],
            &everywhere,
            &vec![3; depth],
            &vec![0; depth + 2],
        ]
        .concat();
        let unit = [&(in_unit.len() as u32).to_le_bytes()[..], &in_unit].concat();
        // Forms of a unit, a function and an inlined function, with children.
        let range = [0x11, 0x01, 0x12, 0x07, 0, 0];
        let forms = [&[1, 0x11, 1][..], &range, &[2, 0x2e, 1], &range, &[3, 0x1d, 1, 0, 0, 0]].concat();
        let mut library = library.to_vec();
        replace(&mut library, ".debug_abbrev", &forms);
        replace(&mut library, ".debug_info", &unit);
        library
    }

    #[test]
    fn deeply_nested_debug_information_is_not_followed() {
        let (library, offset) = faulty_library();
        let is_shallow = |depth| is_shallow(&line_tables(&nested(&library, depth)).expect("it has debug information"));
        assert_eq!(is_shallow(100), Some(true));
        assert_eq!(is_shallow(1_000_000), Some(false));
        assert_eq!(line_at(&nested(&library, 1_000_000), offset), None);
    }

    #[test]
    fn a_library_that_is_cut_off_has_no_line() {
        let (library, offset) = faulty_library();
        let step = (library.len() / 200).max(1);
        for length in (0..library.len()).step_by(step) {
            assert_eq!(line_at(&library[..length], offset), None, "{length} bytes");
        }
    }
}
