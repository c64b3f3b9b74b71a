//! Gaps around static `__shared__` variables.
//!
//! These are thread-local variables of the compiled object. Each one is moved so that it has
//! [`GAP`] bytes on each side. A kernel that overruns one thus reaches neither another variable nor
//! the state that the shim keeps for the running thread. The executor gets the list of the
//! variables and checks the bytes next to them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use object::elf::{
    EM_X86_64, FileHeader64, SHF_TLS, SHT_NOBITS, SHT_SYMTAB, STT_TLS, SectionHeader64, Sym64, SymbolSection,
};
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};
use object::{LittleEndian, U64, pod};

use super::dynamic_shared::bytes_of;

type Header = FileHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;
type Symbol = Sym64<LittleEndian>;

/// Bytes between two variables: a whole page, so that their cache sets do not change.
const GAP: u64 = 4096;
const _: () = assert!(GAP >= 2 * crate::cpu::executor::MARGIN_BYTES as u64);

/// Endings of the shim's variables: the state of the running thread, and the origin of the offsets.
const STATE: &str = "gb_now";
const ORIGIN: &str = "gb_shared_origin";

/// The beginning of the list of variables, in assembler. Each line has an offset from the origin, a
/// size in bytes and a name. It is part of the cache key.
pub(super) const LISTED: &str = "\t.section .note.GNU-stack,\"\",@progbits\n\t.section .rodata\n\
    \t.globl gb_static_shared_v1\n\t.type gb_static_shared_v1, @object\ngb_static_shared_v1:\n";

/// The section and offset of a variable.
type Place = (u16, u64);

/// The most static shared memory of a kernel in bytes, on every GPU. It is part of the cache key.
pub(super) const MOST_BYTES: u64 = 48 << 10;

/// A thread-local variable of an object.
struct Variable {
    symbol: usize,
    name: String,
    place: Place,
    size: u64,
}

impl Variable {
    /// Whether it is the shim's, for the state of the running thread or as the origin.
    fn is_of_the_shim(&self) -> bool {
        self.name.ends_with(STATE) || self.name.ends_with(ORIGIN)
    }

    /// Returns the symbol without the variable's name: the same for all variables of a function.
    fn function(&self) -> &str {
        let name = written(&self.name);
        let before = self.name.rfind(name).map_or("", |at| &self.name[..at]);
        // The length of the name.
        before.trim_end_matches(|last: char| last.is_ascii_digit())
    }
}

/// Returns what is wrong if variables of one function have more memory than a GPU has. `ptxas`
/// refuses such a kernel. Returns `None` for an object of another format, too.
pub(super) fn beyond_a_gpu(object: &[u8]) -> Option<String> {
    let (variables, _) = variables(object)?;
    let mut sizes = BTreeMap::<&str, (u64, Vec<String>)>::new();
    for variable in variables.iter().filter(|variable| !variable.is_of_the_shim()) {
        // Symbols of the file and of namespaces have no function.
        let key = match variable.function() {
            function if function.starts_with("_ZZ") => function,
            _ => &variable.name,
        };
        let (size, names) = sizes.entry(key).or_default();
        *size = size.saturating_add(variable.size);
        names.push(format!("`{}`", written(&variable.name)));
    }
    let (size, names) = sizes.into_values().find(|(size, _)| *size > MOST_BYTES)?;
    let (verb, names) = (if names.len() == 1 { "has" } else { "have" }, names.join(", "));
    Some(format!(
        "{names} {verb} {size} bytes of static shared memory in a kernel, and a GPU has at most {MOST_BYTES} for them (hint: \
         `extern __shared__` memory can be larger)"
    ))
}

/// Returns the zero-initialized thread-local variables of an x86-64 object, as all shared ones are,
/// and their largest alignment.
fn variables(object: &[u8]) -> Option<(Vec<Variable>, u64)> {
    let header = Header::parse(object).ok()?;
    let endian = header.endian().ok()?;
    // Assemblers for other processors may refer to a variable by its section.
    if header.e_machine(endian) != EM_X86_64 {
        return None;
    }
    let sections = header.sections(endian, object).ok()?;
    let symbols = sections.symbols(endian, object, SHT_SYMTAB).ok()?;
    let (mut variables, mut alignment) = (Vec::new(), 64);
    for (index, symbol) in symbols.enumerate().filter(|(_, symbol)| symbol.st_type() == STT_TLS) {
        let Ok(Some(of)) = symbols.symbol_section(endian, symbol, index) else {
            continue;
        };
        let section = sections.section(of).ok()?;
        if is_zeros(section) {
            alignment = alignment.max(section.sh_addralign(endian));
            variables.push(Variable {
                symbol: index.0,
                name: String::from_utf8(symbols.symbol_name(endian, symbol).ok()?.to_vec()).ok()?,
                place: (symbol.st_shndx(endian).0, symbol.st_value(endian)),
                size: symbol.st_size(endian),
            });
        }
    }
    Some((variables, alignment))
}

/// Moves the `__shared__` variables of an x86-64 object apart, and returns the assembler source to
/// link with it. Returns `None` and leaves the object unchanged if it has no variables or another
/// format.
pub(super) fn set_apart(object: &mut [u8]) -> Option<String> {
    let (variables, alignment) = variables(object)?;
    let header = Header::parse(&*object).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &*object).ok()?;
    let symbols = sections.symbols(endian, &*object, SHT_SYMTAB).ok()?;
    let mut places: BTreeMap<Place, u64> = variables.iter().map(|one| (one.place, one.size)).collect();
    let mut end = 0_u64;
    for size_then_start in places.values_mut() {
        let start = end.checked_add(GAP)?.checked_next_multiple_of(alignment)?;
        end = start.checked_add(*size_then_start)?;
        *size_then_start = start;
    }
    let all = end.checked_add(GAP)?;
    let origin = variables.iter().find(|one| one.name.ends_with(ORIGIN))?.place;
    let mut text = LISTED.to_owned();
    for variable in variables.iter().filter(|variable| !variable.is_of_the_shim()) {
        let distance = places[&variable.place] as i64 - places[&origin] as i64;
        let (size, name) = (variable.size, written(&variable.name));
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\t.ascii \"{distance} {size} {name}\\n\"");
    }
    if text.len() == LISTED.len() {
        return None;
    }
    text.push_str("\t.byte 0\n");

    let headers = usize::try_from(header.e_shoff(endian)).ok()?;
    let table = bytes_of(sections.section(symbols.section()).ok()?)?;
    let count = sections.len();
    pod::slice_from_all_bytes::<Symbol>(object.get(table.clone())?).ok()?;
    let (headers, _) = pod::slice_from_bytes_mut::<Section>(object.get_mut(headers..)?, count).ok()?;
    for section in headers.iter_mut().filter(|section| is_zeros(section)) {
        section.sh_size = U64::new(endian, 0);
    }
    let home = headers.get_mut(usize::from(origin.0))?;
    (home.sh_size, home.sh_addralign) = (U64::new(endian, all), U64::new(endian, alignment));
    let symbols: &mut [Symbol] = pod::slice_from_all_bytes_mut(&mut object[table]).ok()?;
    for variable in &variables {
        symbols[variable.symbol].st_shndx.set(endian, SymbolSection(origin.0));
        symbols[variable.symbol].st_value.set(endian, places[&variable.place]);
    }
    Some(text)
}

/// Returns whether a section has zero-initialized thread-local variables.
fn is_zeros(section: &Section) -> bool {
    section.sh_type(LittleEndian) == SHT_NOBITS && section.sh_flags(LittleEndian).contains(SHF_TLS)
}

/// Returns the source name of a variable from its symbol, or the symbol itself if it does not end
/// with a name. A mangled symbol has each name after its length, sometimes followed by a number or
/// the end of a scope.
pub(super) fn written(symbol: &str) -> &str {
    let end = symbol
        .trim_end_matches(|last: char| last.is_ascii_digit())
        .strip_suffix('_');
    let ends = [Some(symbol), end, symbol.strip_suffix('E')];
    let name = |symbol: &'_ str| {
        symbol.char_indices().find_map(|(at, _)| {
            let rest = symbol[at..].trim_start_matches(|digit: char| digit.is_ascii_digit());
            let digits = &symbol[at..symbol.len() - rest.len()];
            (digits.parse() == Ok(rest.len()) && !rest.is_empty()).then_some(symbol.len() - rest.len())
        })
    };
    let found = ends.into_iter().flatten().find_map(|end| Some(&end[name(end)?..]));
    found.unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_its_source_name() {
        for (symbol, name) in [
            ("_ZZ1kPfE4tile", "tile"),
            ("_ZZ6reduceILi256EEvPfE4sums", "sums"),
            ("_ZZ1kPfE4tile_12", "tile"),
            ("_ZZ1kPfE6tile_1", "tile_1"),
            ("_ZZ1kPfE2t1", "t1"),
            ("_ZN2ns4tileE", "tile"),
            ("_ZL4tile", "tile"),
            ("file_scope", "file_scope"),
            ("_Z4tileILi3EE", "_Z4tileILi3EE"),
            ("_ZZ1kvE4tép", "tép"),
            ("", ""),
        ] {
            assert_eq!(written(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn bytes_that_are_not_an_object_have_no_variables() {
        assert_eq!(set_apart(&mut []), None);
        assert_eq!(set_apart(&mut b"\x7fELF\x02\x01".to_vec()), None);
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_object_is_no_panic(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 64..400)) {
            bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
            set_apart(&mut bytes);
        }
    }
}
