//! The cache keys of compiled libraries.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};

use super::*;

fn compiler() -> HostCompiler {
    HostCompiler {
        program: PathBuf::from("c++"),
        identity: "c++ 1".to_owned(),
        processors: Processors::Here,
        optimization: Optimization::Full,
        options: vec!["-fa", "-fb"],
        readable: Readable::default(),
    }
}

fn source() -> Source {
    let file = |path: &str, contents: &str| SourceFile {
        path: path.to_owned(),
        contents: contents.into(),
    };
    Source {
        name: "a.cu".to_owned(),
        form: SourceForm::Cuda,
        files: vec![file("a.cu", "first"), file("b.cuh", "second")],
        options: vec!["-DA".to_owned(), "-DB".to_owned()],
    }
}

fn key(compiler: &HostCompiler, source: &Source, names: &[&str], here: &str) -> String {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let wanted = Wanted {
        source,
        names: &names,
        cache: Path::new("/nowhere"),
        interrupt: &AtomicBool::new(false),
        most: None,
    };
    compiler.key(wanted, here)
}

#[test]
fn everything_that_a_library_depends_on_is_in_its_key() {
    const NAMES: [&str; 2] = ["one", "two"];
    const HERE: &str = "a processor";
    let of = |compiler: HostCompiler| key(&compiler, &source(), &NAMES, HERE);
    let of_source = |change: &dyn Fn(&mut Source)| {
        let mut changed = source();
        change(&mut changed);
        key(&compiler(), &changed, &NAMES, HERE)
    };
    let keys = [
        ("the same inputs", of(compiler())),
        (
            "another processor",
            key(&compiler(), &source(), &NAMES, "another processor"),
        ),
        ("any processor", of(compiler().for_processors(Processors::Portable))),
        ("for a debugger", of(compiler().optimizing(Optimization::ForDebugger))),
        (
            "another compiler",
            of(HostCompiler {
                identity: "c++ 2".to_owned(),
                ..compiler()
            }),
        ),
        (
            "fewer options",
            of(HostCompiler {
                options: vec!["-fa"],
                ..compiler()
            }),
        ),
        (
            "options in one",
            of(HostCompiler {
                options: vec!["-fa-fb"],
                ..compiler()
            }),
        ),
        ("fewer kernels", key(&compiler(), &source(), &NAMES[..1], HERE)),
        ("kernels in one", key(&compiler(), &source(), &["onetwo"], HERE)),
        ("other kernels", key(&compiler(), &source(), &["one", "three"], HERE)),
        ("fewer source options", of_source(&|source| drop(source.options.pop()))),
        ("another text", of_source(&|source| source.files[0].contents[0] = b'F')),
        (
            "another text of a header",
            of_source(&|source| source.files[1].contents[0] = b'S'),
        ),
        (
            "another name of a file",
            of_source(&|source| source.files[1].path.push('x')),
        ),
        ("fewer files", of_source(&|source| drop(source.files.pop()))),
    ];
    let mut known = BTreeMap::new();
    for (what, key) in keys {
        assert_eq!(key.len(), 64, "{what}");
        let other = known.insert(key, what);
        assert_eq!(other, None, "{what} has the same key");
    }
    assert_eq!(
        key(
            &compiler().for_processors(Processors::Portable),
            &source(),
            &NAMES,
            HERE
        ),
        key(
            &compiler().for_processors(Processors::Portable),
            &source(),
            &NAMES,
            "another"
        ),
        "portable code does not depend on this processor"
    );
}

#[test]
fn a_processor_is_identified_by_name_and_features() {
    let text = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let here = processor();
    for key in ["model name", "flags"] {
        let line = text.lines().find(|line| line.starts_with(key));
        assert!(line.is_none_or(|line| here.contains(line)), "{key}");
    }
}
