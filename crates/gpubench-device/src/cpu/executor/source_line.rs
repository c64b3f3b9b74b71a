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
/// an inlined function that uses it, so the caller's line is there, too.
fn line_at(library: &[u8], offset: u64) -> Option<String> {
    let lines = Context::from_dwarf(line_tables(library)?).ok()?;
    let mut frames = lines.find_frames(offset).skip_all_loads().ok()?;
    let mut users = Vec::new();
    while let Some(frame) = frames.next().ok()? {
        let place = frame
            .location
            .and_then(|place| Some((users_file(place.file?)?, place.line?)));
        users.extend(place.filter(|&(_, line)| line > 0));
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

fn line_tables(library: &[u8]) -> Option<Dwarf<EndianSlice<'_, LittleEndian>>> {
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
