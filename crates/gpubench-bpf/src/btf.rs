//! Where members of the kernel's structures are, from the description that the kernel has of
//! itself.

use std::io::Read as _;
use std::path::Path;

use crate::BpfError;

/// The types of the running kernel, in the format BTF.
#[derive(Debug)]
pub struct KernelTypes {
    bytes: Vec<u8>,
    /// Where each type is in `bytes`, by its number less 1.
    places: Vec<usize>,
    strings: usize,
}

const KERNEL: &str = "/sys/kernel/btf/vmlinux";
/// What a description begins with.
const MAGIC: u16 = 0xeb9f;
/// Name, kind with count, and size or type.
const TYPE_BYTES: usize = 12;
const MEMBER_BYTES: usize = 12;

const STRUCTURE: u32 = 4;
const UNION: u32 = 5;
/// `typedef`, `volatile`, `const`, `restrict`: the same bytes as the type they name.
const TRANSPARENT: [u32; 4] = [8, 9, 10, 11];

impl KernelTypes {
    /// Reads the types of the running kernel.
    ///
    /// # Errors
    ///
    /// If the kernel has no description of itself, or one that cannot be read.
    pub fn load() -> Result<KernelTypes, BpfError> {
        let bytes = std::fs::read(KERNEL).map_err(|source| BpfError::Unreadable {
            path: Path::new(KERNEL).to_owned(),
            source,
        })?;
        KernelTypes::parse(bytes).ok_or_else(|| BpfError::UnknownType("task_struct".to_owned()))
    }

    /// Whether the kernel has a description of itself.
    pub fn are_there() -> bool {
        is_description(Path::new(KERNEL))
    }

    fn parse(bytes: Vec<u8>) -> Option<KernelTypes> {
        let header = |at| word(&bytes, at).map(|word| word as usize);
        let (start, types, length) = (header(4)?, header(8)?, header(12)?);
        let strings = start + header(16)?;
        let mut at = start + types;
        let end = at + length;
        let mut places = Vec::new();
        while at + TYPE_BYTES <= end {
            places.push(at);
            let information = word(&bytes, at + 4)?;
            at += TYPE_BYTES + extra_bytes(kind(information), (information & 0xffff) as usize);
        }
        Some(KernelTypes { bytes, places, strings })
    }

    /// Returns the offset of a member in bytes. `path` is the members' names with dots between
    /// them, each in the structure that the one before it is.
    ///
    /// # Errors
    ///
    /// If this kernel has no such structure or member.
    pub fn offset(&self, structure: &str, path: &str) -> Result<i32, BpfError> {
        self.find(structure, path)
            .ok_or_else(|| BpfError::UnknownType(format!("{structure}.{path}")))
    }

    fn find(&self, structure: &str, path: &str) -> Option<i32> {
        let named = |place: &&usize| {
            let information = word(&self.bytes, **place + 4).unwrap_or(0);
            kind(information) == STRUCTURE && information & 0xffff > 0 && self.is_named(**place, structure)
        };
        let mut place = *self.places.iter().find(named)?;
        let mut offset = 0;
        for name in path.split('.') {
            let (inner, found) = self.member(place, name)?;
            offset += found;
            place = self.place(inner).unwrap_or(place);
        }
        i32::try_from(offset).ok()
    }

    /// Returns the type and the offset of a member, also of one in nameless structures.
    fn member(&self, place: usize, name: &str) -> Option<(u32, u32)> {
        let information = word(&self.bytes, place + 4)?;
        if !matches!(kind(information), STRUCTURE | UNION) {
            return None;
        }
        let has_bit_fields = information >> 31 == 1;
        (0..(information & 0xffff) as usize).find_map(|index| {
            let member = place + TYPE_BYTES + index * MEMBER_BYTES;
            let inner = word(&self.bytes, member + 4)?;
            let bits = word(&self.bytes, member + 8)?;
            let offset = if has_bit_fields { bits & 0x00ff_ffff } else { bits } / 8;
            if self.is_named(member, name) {
                return Some((inner, offset));
            }
            let nameless = self.is_named(member, "").then_some(inner)?;
            let (inner, within) = self.member(self.place(nameless)?, name)?;
            Some((inner, offset + within))
        })
    }

    /// Returns where a type is, past the names that change no bytes.
    fn place(&self, mut number: u32) -> Option<usize> {
        loop {
            let place = *self.places.get((number as usize).checked_sub(1)?)?;
            if !TRANSPARENT.contains(&kind(word(&self.bytes, place + 4)?)) {
                return Some(place);
            }
            number = word(&self.bytes, place + 8)?;
        }
    }

    /// Whether a type or a member has a name: its first word tells where that is.
    fn is_named(&self, place: usize, name: &str) -> bool {
        let at = word(&self.bytes, place).map_or(usize::MAX, |at| self.strings + at as usize);
        let found = self.bytes.get(at..).and_then(|rest| rest.get(..=name.len()));
        found.is_some_and(|found| found.starts_with(name.as_bytes()) && found.ends_with(&[0]))
    }
}

/// Whether a file can be read and begins as a description of types does.
fn is_description(path: &Path) -> bool {
    let mut beginning = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && u16::from_ne_bytes(beginning) == MAGIC
}

fn kind(information: u32) -> u32 {
    information >> 24 & 0x1f
}

/// Returns how many bytes follow a type, which depends on its kind and its count.
fn extra_bytes(kind: u32, count: usize) -> usize {
    match kind {
        1 | 14 | 17 => 4,
        3 => 12,
        4 | 5 | 15 | 19 => 12 * count,
        6 | 13 => 8 * count,
        _ => 0,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// `struct inner { int last at 4 }; struct outer { struct { const inner there at 8 } at 16 }`.
    fn example() -> KernelTypes {
        let strings = b"\0inner\0last\0outer\0there\0";
        let structure = |count: u32| STRUCTURE << 24 | count;
        let types = words(
            &[
                [0, 1 << 24, 4, 32].as_slice(),
                &[1, structure(1), 8, 7, 1, 32],
                &[0, 10 << 24, 2],
                &[0, structure(1), 16, 18, 3, 64],
                &[12, structure(1), 32, 0, 4, 128],
            ]
            .concat(),
        );
        let header = words(&[
            0x0001_eb9f,
            24,
            0,
            types.len() as u32,
            types.len() as u32,
            strings.len() as u32,
        ]);
        KernelTypes::parse([header, types, strings.to_vec()].concat()).expect("it is whole")
    }

    #[test]
    fn members_are_found_through_nameless_structures_and_constants() {
        let types = example();
        assert_eq!(types.offset("outer", "there").unwrap(), 24);
        assert_eq!(types.offset("outer", "there.last").unwrap(), 28);
    }

    #[test]
    fn a_file_is_a_description_only_if_it_begins_as_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("vmlinux");
        assert!(!is_description(&file));
        for (bytes, is_one) in [(&b""[..], false), (b"\x7fELF", false), (&MAGIC.to_ne_bytes(), true)] {
            std::fs::write(&file, bytes).expect("it is ours");
            assert_eq!(is_description(&file), is_one, "{bytes:?}");
        }
    }

    #[test]
    fn a_member_that_is_not_there_is_named() {
        let error = example().offset("inner", "first").expect_err("there is none");
        assert_eq!(error.to_string(), "this kernel does not describe `inner.first`");
    }
}
