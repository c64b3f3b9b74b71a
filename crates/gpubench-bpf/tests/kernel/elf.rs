//! Functions of libraries that a compiler made.

use gpubench_bpf::elf::{Library, Shape, Site};

use crate::target::Target;

/// Stubs with the two shapes of `libcuda`, their implementations, and a plain function.
const STUBS: &str = r#"
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN int dead;
int gone(void) { return dead; }
HIDDEN int real_jump(int a) { return a + 1; }
HIDDEN int real_call(int a) { return a; }
HIDDEN int (*volatile slots[2])(int) = {real_jump, real_call};
__asm__(".globl cuJump\n.type cuJump,@function\ncuJump:\n cmpl $0x321cba00,dead(%rip)\n je 1f\n jmp *slots(%rip)\n1: mov $4,%eax\n ret\n.size cuJump,.-cuJump");
__asm__(".globl cuCall\n.type cuCall,@function\ncuCall:\n push %rbp\n mov %rsp,%rbp\n push %r12\n sub $8,%rsp\n"
  " cmpl $0x321cba00,dead(%rip)\n je 1f\n call *slots+8(%rip)\n mov %eax,%r12d\n test %eax,%eax\n je 2f\n cmp $0x258,%eax\n je 2f\n"
  " lea -3(%rax),%eax\n cmp $1,%eax\n ja 3f\n2: mov %r12d,%eax\n mov -8(%rbp),%r12\n leave\n ret\n"
  "3: mov $100,%ecx\n jmp 2b\n1: mov $4,%r12d\n jmp 2b\n.size cuCall,.-cuCall");
int cuPlain(int a) { return a * 3; }
"#;

#[test]
#[cfg(target_arch = "x86_64")]
fn probes_go_to_the_implementations_behind_stubs() {
    let target = Target::build();
    let file = target.compile("libstubs.so", STUBS, &["-shared", "-fPIC", "-Wl,-Bsymbolic"]);
    let functions = Library::read(&file, |name| name.starts_with("cu"))
        .expect("a library")
        .functions;
    let [call, jump, plain] = &functions[..] else {
        panic!("{functions:#?}");
    };
    assert_eq!(
        (call.shape, jump.shape, plain.shape),
        (Shape::Call, Shape::Jump, Shape::Plain)
    );
    assert!(call.failure.is_some_and(|failure| failure > call.symbol));
    assert_eq!((jump.failure, plain.failure), (None, None));
    for stub in [call, jump] {
        assert!(
            stub.site.offset < stub.symbol || stub.site.offset > stub.symbol + 64,
            "{stub:?}"
        );
    }
    assert_eq!(plain.site.offset, plain.symbol);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn odd_functions_are_probed_where_arguments_and_stack_are_the_callers() {
    const ODD: &str = r#"
#define BEGIN(name) ".globl " #name "\n.type " #name ",@function\n" #name ":\n"
__asm__(BEGIN(cuLoop) "1: test %rdi,%rdi\n je 2f\n dec %rdi\n jmp 1b\n2: ret\n.size cuLoop,.-cuLoop");
__asm__(BEGIN(cuMoved) " mov %rsp,%rax\n push %rbx\n pop %rbx\n ret\n.size cuMoved,.-cuMoved");
__asm__(BEGIN(cuOuter) " endbr64\n" BEGIN(cuOuterInner) " push %rbx\n pop %rbx\n ret\n.size cuOuter,.-cuOuter");
__asm__(BEGIN(cuShort) " ret\n.size cuShort,.-cuShort");
__asm__(BEGIN(cuSub) " sub $8,%rsp\n push %rbx\n pop %rbx\n add $8,%rsp\n ret\n.size cuSub,.-cuSub");
"#;
    let target = Target::build();
    for options in [&["-shared", "-fPIC"][..], &["-shared", "-fPIC", "-s"]] {
        let file = target.compile("libodd.so", ODD, options);
        let library = Library::read(&file, |name| name.starts_with("cu")).expect("a library");
        let sites = library.functions.iter().map(|function| {
            let Site { offset, is_emulated } = function.site;
            (function.name.as_str(), offset - function.symbol, is_emulated)
        });
        let expected = [
            ("cuLoop", 0, false),
            ("cuMoved", 3, true),
            // One place for both, so a call is one trap.
            ("cuOuter", 4, true),
            ("cuOuterInner", 0, true),
            ("cuShort", 0, false),
            ("cuSub", 0, false),
        ];
        assert_eq!(sites.collect::<Vec<_>>(), expected, "{options:?}");
    }
}

#[test]
fn a_pipe_or_a_huge_file_in_place_of_a_library_is_an_error_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let [pipe, huge] = ["pipe", "huge"].map(|name| folder.path().join(name));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is `mkfifo`").success());
    let file = std::fs::File::create(&huge).expect("a file");
    file.set_len(1 << 40).expect("a sparse file");
    for path in [pipe, huge] {
        let error = Library::read(&path, |_| true).expect_err("it is no library");
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}

/// A section: its kind, where it is, its bytes, and the section with its names.
type Section = (u32, u64, u64, u32);

/// A library of this machine with these sections, and one segment of code over all of its bytes.
fn library(sections: &[Section], content: &[u8]) -> Vec<u8> {
    let machine: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    let count = u16::try_from(sections.len()).expect("few sections");
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend([3, 0]);
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(
        [0_u64, 64, CONTENT + content.len() as u64]
            .map(u64::to_le_bytes)
            .concat(),
    );
    bytes.extend([0; 4]);
    bytes.extend([64, 56, 1, 64, count, 0].map(u16::to_le_bytes).concat());
    bytes.extend([1_u32, 5].map(u32::to_le_bytes).concat());
    bytes.extend(
        [0, 0, 0, u64::MAX >> 1, u64::MAX >> 1, 1]
            .map(u64::to_le_bytes)
            .concat(),
    );
    bytes.extend(content);
    for (kind, offset, length, names) in sections {
        bytes.extend([0, *kind].map(u32::to_le_bytes).concat());
        bytes.extend([0, 0, *offset, *length].map(u64::to_le_bytes).concat());
        bytes.extend([*names, 0].map(u32::to_le_bytes).concat());
        bytes.extend([8_u64, 24].map(u64::to_le_bytes).concat());
    }
    bytes
}

/// Where the content of such a library begins.
const CONTENT: u64 = 64 + 56;
const SYMBOLS: u32 = 11;
const NAMES: u32 = 3;
const RELOCATIONS: u32 = 4;

/// A symbol of a function whose name and code are at these places.
fn symbol(name: u32, code: u64) -> Vec<u8> {
    [&name.to_le_bytes()[..], &[0x12, 0, 1, 0], &code.to_le_bytes(), &[0; 8]].concat()
}

/// Reads a file of these bytes, made as large as told.
fn read(bytes: &[u8], size: u64) -> Result<Vec<String>, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("it can be written");
    file.as_file()
        .set_len(size.max(bytes.len() as u64))
        .expect("a sparse file");
    let read = Library::read(file.path(), |name| name.starts_with("cu"));
    let names = |library: Library| library.functions.into_iter().map(|function| function.name).collect();
    read.map(names).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        source.unwrap_or_default()
    })
}

#[test]
fn tables_that_are_larger_than_those_of_a_driver_are_refused_unread() {
    const HUGE: u64 = 500 << 20;
    // Millions of symbols in a sparse file, endless names, and more functions than a driver has.
    let symbols = library(&[(SYMBOLS, CONTENT, HUGE, 1), (NAMES, CONTENT, 64, 0)], b"");
    assert_eq!(
        read(&symbols, HUGE + 4096),
        Err("it has more symbols than a driver".to_owned())
    );
    let names = library(&[(SYMBOLS, CONTENT, 24, 1), (NAMES, CONTENT, HUGE, 0)], &symbol(1, 0));
    assert_eq!(
        read(&names, HUGE + 4096),
        Err("it has more symbols than a driver".to_owned())
    );
    let many: Vec<u8> = (0..3000_u32).flat_map(|index| symbol(7 * index, 0)).collect();
    let text: Vec<u8> = (0..3000_u32)
        .flat_map(|index| format!("cu{index:04x}\0").into_bytes())
        .collect();
    let at = CONTENT + many.len() as u64;
    let functions = library(
        &[
            (SYMBOLS, CONTENT, many.len() as u64, 1),
            (NAMES, at, text.len() as u64, 0),
        ],
        &[many, text].concat(),
    );
    assert_eq!(
        read(&functions, 0),
        Err("it has more functions than a driver".to_owned())
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn relocations_that_are_told_again_and_again_are_not_read_again_and_again() {
    // A stub whose slot is filled by a relocation, which is looked for in all of the tables.
    let code = [
        &[0x81, 0x3d, 0, 0, 0, 0, 0, 0, 0, 0, 0x74, 6, 0xff, 0x25, 0, 0, 0, 0][..],
        &[0xb8, 4, 0, 0, 0, 0xc3],
    ]
    .concat();
    let name = b"\0cuInit\0".to_vec();
    let content = [symbol(1, CONTENT + 32), name, code].concat();
    let mut sections = vec![(SYMBOLS, CONTENT, 24, 1), (NAMES, CONTENT + 24, 8, 0)];
    assert_eq!(read(&library(&sections, &content), 0), Ok(vec!["cuInit".to_owned()]));
    sections.extend([(RELOCATIONS, 0, 40 << 20, 0); 1000]);
    // They are 40 GiB together.
    assert!(read(&library(&sections, &content), 41 << 20).is_err());
}

#[test]
fn names_that_do_not_end_are_none() {
    let symbols = [symbol(0, 0), symbol(4, 0), symbol(9999, 0)].concat();
    let text = [b"cu1\0".to_vec(), b"cu".repeat(500)].concat();
    let at = CONTENT + symbols.len() as u64;
    let sections = [(SYMBOLS, CONTENT, 72, 1), (NAMES, at, text.len() as u64, 0)];
    assert_eq!(
        read(&library(&sections, &[symbols, text].concat()), 0),
        Ok(vec!["cu1".to_owned()])
    );
}

#[test]
fn damaged_libraries_end_nothing() {
    let target = Target::build();
    let file = target.compile("libstubs.so", STUBS, &["-shared", "-fPIC", "-Wl,-Bsymbolic"]);
    let whole = std::fs::read(file).expect("it can be read");
    let mut random: u64 = 88_172_645_463_325_252;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for _ in 0..300 {
        let mut bytes = whole[..whole.len() - next(whole.len() / 4)].to_vec();
        for _ in 0..8 {
            // The header, the segments and the sections, which have the numbers that are believed.
            let at = match next(2) {
                0 => next(1024),
                _ => bytes.len() - 1 - next(2048),
            };
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff][next(5)];
        }
        let _ = read(&bytes, 0);
    }
}

#[test]
fn a_file_that_is_no_library_is_an_error_with_its_path() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "not a library").expect("it can be written");
    let error = Library::read(file.path(), |_| true).expect_err("it is none");
    let expected = format!("`{}` is not a library of this machine", file.path().display());
    assert_eq!(error.to_string(), expected);
    let error = Library::read(std::path::Path::new("/nowhere/libcuda.so.1"), |_| true).expect_err("there is none");
    assert_eq!(error.to_string(), "`/nowhere/libcuda.so.1` cannot be read");
}
