//! Functions of libraries that a compiler made.

use gpubench_bpf::elf::{Library, Shape};

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
