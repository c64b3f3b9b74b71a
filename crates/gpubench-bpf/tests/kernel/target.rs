//! Libraries and programs to observe, compiled by the host's C compiler.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpubench_bpf::{Abilities, Ability};

/// Functions with calls to count. `counted_push` begins with an instruction that the kernel
/// emulates, `counted_sub` with one that it does not.
const LIBRARY: &str = r#"
__attribute__((noinline)) long counted(long a, long b) { __asm__ volatile(""); return a + b; }
__asm__(".globl counted_push\n.type counted_push,@function\ncounted_push:\n push %rbp\n mov %rdi,%rax\n pop %rbp\n ret\n.size counted_push,.-counted_push");
__asm__(".globl counted_sub\n.type counted_sub,@function\ncounted_sub:\n sub $8,%rsp\n lea 1(%rdi),%rax\n add $8,%rsp\n ret\n.size counted_sub,.-counted_sub");
"#;

/// Calls `counted` as often as the first argument says, in each of as many threads as the second.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
long counted(long, long); long counted_push(long); long counted_sub(long);
static long calls;
static void *work(void *unused) {
  for (long i = 0; i < calls; i++) {
    if (counted(i, 1) != i + 1 || counted_push(i) != i || counted_sub(i) != i + 1) abort();
  }
  return unused;
}
int main(int count, char **words) {
  calls = atol(words[1]);
  long threads = count > 2 ? atol(words[2]) : 1;
  pthread_t started[64];
  for (long i = 0; i < threads; i++) pthread_create(&started[i], 0, work, 0);
  for (long i = 0; i < threads; i++) pthread_join(started[i], 0);
  puts("done");
}
"#;

/// A folder with a library and a program that uses it.
pub(crate) struct Target {
    folder: tempfile::TempDir,
}

impl Target {
    pub(crate) fn build() -> Target {
        let folder = tempfile::tempdir().expect("a folder");
        let target = Target { folder };
        target.compile("libcounted.so", LIBRARY, &["-shared", "-fPIC"]);
        let library = target.library();
        let library = library.to_str().expect("it is text");
        target.compile("program", PROGRAM, &["-pthread", library, "-Wl,-rpath,$ORIGIN"]);
        target
    }

    /// Compiles a source to a file of the folder.
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let file = self.folder.path().join(name);
        let from = file.with_extension("c");
        std::fs::write(&from, source).expect("it can be written");
        let mut command = Command::new("cc");
        command.args(["-O1", "-o"]).arg(&file).arg(&from).args(options);
        assert!(command.status().expect("there is a C compiler").success(), "{name}");
        file
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.folder.path().join("libcounted.so")
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether the kernel lets this process probe. If not, prints why, with the test's name.
pub(crate) fn may_probe(test: &str) -> bool {
    let abilities = Abilities::here();
    let may = abilities.ability == Ability::Probes;
    if let Some(missing) = abilities.missing.filter(|_| !may) {
        // Not a macro: those are silent in tests that pass.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: {missing}");
    }
    may
}
