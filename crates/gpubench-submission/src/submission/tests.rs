//! Submissions of all kinds, and what hostile ones are refused for.

use std::io::Write;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::GzEncoder;
use gpubench_diagnostic::{Expected, chain};
use tar::{EntryType, Header};
use tempfile::TempDir;

use super::*;

const KERNEL: &str = "/* gpubench\ngrid = 1\nblock = 32\n*/\n__global__ void k() {}\n";
const BARE: &str = "__global__ void k() {}\n";
const DESCRIBED: &str = "grid = 1\nblock = 32\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("room for a file");
    }
    folder
}

fn read(path: impl AsRef<Path>) -> Result<Submission, ReadError> {
    Submission::read(path.as_ref(), &Limits::default())
}

/// Returns the error with its causes and its hint, without the folder.
fn refused(path: impl AsRef<Path>) -> String {
    let folder = path.as_ref().parent().expect("a folder").display();
    shown(read(&path), &format!("{folder}/"))
}

fn shown(read: Result<Submission, ReadError>, folder: &str) -> String {
    let error = read.expect_err("it is refused");
    assert_eq!(error.exit_code(), gpubench_diagnostic::ExitCode::Usage);
    let hint = error.hint().map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
    format!("{}{hint}", chain(&error)).replace(folder, "")
}

fn paths(submission: &Submission) -> Vec<&str> {
    let source = submission.source().expect("kernels");
    source.files.iter().map(|file| &*file.path).collect()
}

/// An entry of a tarball, with any bytes as its name.
fn entry(kind: EntryType, name: &[u8], contents: &[u8]) -> (Header, Vec<u8>) {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(contents.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    (header, contents.to_vec())
}

fn file(name: &str, contents: &str) -> (Header, Vec<u8>) {
    entry(EntryType::Regular, name.as_bytes(), contents.as_bytes())
}

fn tar(entries: impl IntoIterator<Item = (Header, Vec<u8>)>) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (header, contents) in entries {
        tar.append(&header, &*contents).expect("memory takes it");
    }
    tar.into_inner().expect("memory takes it")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn of_bytes(bytes: Vec<u8>) -> Result<Submission, ReadError> {
    Submission::from_bytes(bytes, &Limits::default())
}

/// Refuses a tarball of these entries.
fn refused_tar(entries: impl IntoIterator<Item = (Header, Vec<u8>)>) -> String {
    shown(of_bytes(gzip(&tar(entries))), "/tmp/none")
}

#[test]
fn a_file_has_its_description_in_a_comment_or_next_to_it() {
    let folder = folder(&[
        ("a.cu", KERNEL),
        ("b.cu", BARE),
        ("b.toml", DESCRIBED),
        ("c.ptx", ".entry k() {}"),
        ("c.toml", DESCRIBED),
    ]);
    let named = |file: &str| read(folder.path().join(file)).unwrap();
    let a = named("a.cu");
    assert_eq!((a.name.as_str(), paths(&a)), ("a", vec!["a.cu"]));
    assert_eq!(a.source().unwrap().form, SourceForm::Cuda);
    assert_eq!(named("b.cu").name.as_str(), "b");
    assert_eq!(named("c.ptx").source().unwrap().form, SourceForm::Ptx);
}

#[test]
fn a_name_and_options_come_from_the_description() {
    let text = KERNEL.replace(
        "grid",
        "name = \"one block a row\"\ncompiler = \"nvcc\"\noptions = [\"-DN=4\"]\ngrid",
    );
    let submission = of_bytes(text.into_bytes()).unwrap();
    assert_eq!(submission.name.as_str(), "one block a row");
    let source = submission.source().unwrap();
    assert_eq!(
        (source.form, &*source.options),
        (SourceForm::CudaForNvcc, &["-DN=4".to_owned()][..])
    );
}

#[test]
fn a_folder_has_one_main_file_and_its_headers() {
    let including = format!("{KERNEL}#include \"inc/tile.cuh\"\n");
    let one = folder(&[
        ("sum.cu", &including),
        ("inc/tile.cuh", "#include \"../deep.h\""),
        ("deep.h", ""),
        ("unused.h", ""),
        ("tests/other.cu", BARE),
        (".git/config", ""),
    ]);
    let submission = read(one.path()).unwrap();
    assert_eq!(paths(&submission), ["sum.cu", "inc/tile.cuh", "deep.h"]);
    let several = folder(&[
        ("a.cu", BARE),
        ("src/b.cu", BARE),
        ("submission.toml", "file = \"src/b.cu\"\ngrid = 1\nblock = 1"),
    ]);
    assert_eq!(paths(&read(several.path()).unwrap()), ["src/b.cu"]);
    let deep = folder(&[("src/k.cu", KERNEL)]);
    assert_eq!(paths(&read(deep.path()).unwrap()), ["k.cu"]);
}

#[test]
fn a_tarball_is_read_like_its_folder() {
    let entries = || {
        [
            entry(EntryType::Directory, b"sum/", b""),
            file("./sum/._sum.cu", "hidden"),
            file("sum/sum.cu", &format!("{KERNEL}#include \"tile.cuh\"\n")),
            file("sum/tile.cuh", ""),
        ]
    };
    let plain = tar(entries());
    for bytes in [plain.clone(), gzip(&plain)] {
        let submission = of_bytes(bytes).unwrap();
        assert_eq!(
            (submission.name.as_str(), paths(&submission)),
            ("submission", vec!["sum.cu", "tile.cuh"])
        );
    }
    let folder = folder(&[]);
    for name in ["sum.tar.gz", "sum.tgz", "sum.tar"] {
        let path = folder.path().join(name);
        fs::write(&path, if name == "sum.tar" { plain.clone() } else { gzip(&plain) }).unwrap();
        assert_eq!(read(&path).unwrap().name.as_str(), "sum");
    }
}

/// `git archive` and Python write entries that describe others.
#[test]
fn extended_headers_name_files() {
    let long = format!("{}/{}.cu", "d".repeat(120), "f".repeat(120));
    let mut tar = tar::Builder::new(Vec::new());
    let comment = entry(
        EntryType::XGlobalHeader,
        b"pax_global_header",
        b"52 comment=0123456789012345678901234567890123456789\n",
    );
    tar.append(&comment.0, &*comment.1).unwrap();
    let (mut header, contents) = file("x", KERNEL);
    tar.append_data(&mut header, &long, &*contents).unwrap();
    let submission = of_bytes(tar.into_inner().unwrap()).unwrap();
    assert_eq!(paths(&submission), [format!("{}.cu", "f".repeat(120))]);
    let record = "27 path=named/by-extension.cu\n";
    let record = format!("{}{}", record.len(), &record[2..]);
    let extended = [
        entry(EntryType::XHeader, b"x", record.as_bytes()),
        file("ignored.cu", KERNEL),
    ];
    assert_eq!(paths(&of_bytes(self::tar(extended)).unwrap()), ["by-extension.cu"]);
}

#[test]
fn a_library_needs_no_description() {
    let folder = folder(&[("sum.so", "\u{7f}ELF")]);
    let submission = read(folder.path().join("sum.so")).unwrap();
    assert!(matches!(&submission.code, Code::Library { contents, .. } if contents == b"\x7fELF"));
    assert_eq!((submission.source(), submission.name.as_str()), (None, "sum"));
}

#[test]
fn what_is_no_submission_is_refused_with_a_hint() {
    let folder = folder(&[
        ("sum.py", "print()"),
        ("no/readme.md", "x"),
        ("two/a.cu", KERNEL),
        ("two/b.ptx", ""),
        ("bare.cu", BARE),
        ("twice.cu", KERNEL),
        ("twice.toml", DESCRIBED),
        ("comments/k.cu", &format!("{KERNEL}{KERNEL}")),
        ("both/k.cu", BARE),
        ("both/k.toml", DESCRIBED),
        ("both/submission.toml", DESCRIBED),
        ("missing/k.cu", BARE),
        ("missing/submission.toml", "file = \"j.cu\""),
        ("outside/submission.toml", "file = \"../k.cu\""),
        ("text.cubin", "text"),
        ("text.so", "text"),
        ("text.tar", "text"),
        ("latin.cu", ""),
        (&format!("{}.cu", "x".repeat(65)), KERNEL),
        ("header.cu", &format!("{KERNEL}#include \"bare.cu\"")),
        (".cu", KERNEL),
    ]);
    fs::write(folder.path().join("latin.cu"), b"// \xe9t\xe9").unwrap();
    let errors: Vec<String> = [
        "absent.cu",
        "sum.py",
        "no",
        "two",
        "bare.cu",
        "twice.cu",
        "comments",
        "both",
        "missing",
        "outside",
        "text.cubin",
        "text.so",
        "text.tar",
        "latin.cu",
        &format!("{}.cu", "x".repeat(65)),
        "header.cu",
        ".cu",
    ]
    .into_iter()
    .map(|name| refused(folder.path().join(name)))
    .collect();
    insta::assert_snapshot!(errors.join("\n"));
    for bytes in [
        &b""[..],
        b"\x7fELF",
        b"hello",
        b"\x50\xed\x55\xba",
        b"\x1f\x8b",
        b"\xff\xfe",
    ] {
        of_bytes(bytes.to_vec()).expect_err("it is no submission");
    }
}

#[test]
fn links_and_devices_of_a_folder_are_refused() {
    let links = folder(&[("k.cu", KERNEL)]);
    symlink("/etc/passwd", links.path().join("secret.h")).unwrap();
    let to_folder = folder(&[("k.cu", KERNEL)]);
    symlink("/etc", to_folder.path().join("etc")).unwrap();
    let pipe = folder(&[("k.cu", KERNEL)]);
    let made = std::process::Command::new("mkfifo")
        .arg(pipe.path().join("p.cu"))
        .status();
    assert!(made.unwrap().success());
    let socket = folder(&[("k.cu", KERNEL)]);
    let _bound = std::os::unix::net::UnixListener::bind(socket.path().join("s")).unwrap();
    let unprintable = folder(&[("k.cu", KERNEL), ("a\x1b[2Jb\n", "")]);
    let errors = [links, to_folder, pipe, socket, unprintable].map(|folder| {
        let name = folder.path().file_name().unwrap().to_string_lossy().into_owned();
        refused(folder.path()).replace(&name, "FOLDER")
    });
    insta::assert_snapshot!(errors.join("\n"));
}

/// A judge keeps the files of many people in one folder.
#[test]
fn a_description_next_to_a_file_is_no_link() {
    let folder = folder(&[("k.cu", BARE), ("other.txt", DESCRIBED)]);
    symlink(folder.path().join("other.txt"), folder.path().join("k.toml")).unwrap();
    assert!(matches!(read(folder.path().join("k.cu")), Err(ReadError::Io { .. })));
    let pipe = folder.path().join("p.cu");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    assert!(matches!(read(&pipe), Err(ReadError::Io { .. })));
}

/// The name stays, the file is another one when it is opened.
#[test]
fn a_file_that_becomes_a_link_is_not_followed() {
    let folder = folder(&[("k.cu", KERNEL), ("inc/a.h", "")]);
    let limits = Limits::default();
    let mut tree = folder::read(folder.path(), "x", &limits).unwrap();
    fs::remove_file(folder.path().join("k.cu")).unwrap();
    symlink("/etc/passwd", folder.path().join("k.cu")).unwrap();
    fs::rename(folder.path().join("inc"), folder.path().join("moved")).unwrap();
    symlink(folder.path().join("moved"), folder.path().join("inc")).unwrap();
    for path in ["k.cu", "inc/a.h"] {
        let error = tree.take(path, "a text", 100).expect_err("it is a link");
        assert!(matches!(error, ReadError::Io { .. }), "{error}");
    }
}

#[test]
fn entries_of_a_tarball_that_leave_it_are_refused() {
    let kernel = || file("k.cu", KERNEL);
    let errors = [
        refused_tar([kernel(), file("../k.h", "")]),
        refused_tar([kernel(), file("a/../../k.h", "")]),
        refused_tar([kernel(), file("/etc/cron.d/k", "")]),
        refused_tar([kernel(), file("a\\b", "")]),
        refused_tar([kernel(), file("a\x1b[2J\n", "")]),
        refused_tar([kernel(), file("a\u{202e}b", "")]),
        refused_tar([kernel(), entry(EntryType::Regular, b"a\xffb", b"")]),
        refused_tar([kernel(), file(&format!("{}x", "a/".repeat(40)), "")]),
        refused_tar([kernel(), kernel()]),
        refused_tar([kernel(), file("k.cu/x", "")]),
        refused_tar([kernel(), file("a/x", ""), file("a", "")]),
        refused_tar([kernel(), entry(EntryType::Symlink, b"link", b"")]),
        refused_tar([kernel(), entry(EntryType::Link, b"hard", b"")]),
        refused_tar([kernel(), entry(EntryType::Char, b"null", b"")]),
        refused_tar([kernel(), entry(EntryType::Block, b"sda", b"")]),
        refused_tar([kernel(), entry(EntryType::Fifo, b"pipe", b"")]),
        refused_tar([kernel(), entry(EntryType::new(b'V'), b"label", b"")]),
        refused_tar([entry(EntryType::Symlink, b".hidden", b""), kernel()]),
        refused_tar([entry(EntryType::Directory, b"../up", b""), kernel()]),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_long_name_cannot_leave_the_tarball_either() {
    let mut tar = tar::Builder::new(Vec::new());
    let name = format!("{}/../../../x.h\0", "d".repeat(150));
    for (header, contents) in [
        entry(EntryType::GNULongName, b"././@LongLink", name.as_bytes()),
        file("short.h", ""),
    ] {
        tar.append(&header, &*contents).unwrap();
    }
    let error = of_bytes(tar.into_inner().unwrap()).expect_err("it leaves");
    assert!(matches!(error, ReadError::BadPath { .. }), "{error}");
}

#[test]
fn sizes_and_numbers_have_limits() {
    let limits = Limits {
        text: 1000,
        total: 20_000,
        entries: 10,
        depth: 3,
        description: 200,
    };
    let of = |bytes: Vec<u8>| shown(Submission::from_bytes(bytes, &limits), "/tmp/none");
    let long = "x".repeat(1001);
    let many: Vec<_> = (0..11).map(|number| file(&format!("{number}.h"), "")).collect();
    let errors = [
        of(format!("{KERNEL}//{long}").into_bytes()),
        of(tar([file("k.cu", &format!("{KERNEL}//{long}"))])),
        of(gzip(&vec![0; 1 << 20])),
        of(gzip(&tar([file("k.cu", &"x".repeat(30_000))]))),
        of(tar(many)),
        of(tar([file("k.cu", KERNEL), file("a/b/c/d/e.h", "")])),
        of(tar([file(
            "k.cu",
            &KERNEL.replace("grid", &format!("#{}\ngrid", "y".repeat(250))),
        )])),
        of(tar([
            file("k.cu", &format!("{KERNEL}#include \"k.h\"")),
            file("k.h", &"x".repeat(999)),
        ])),
        shown(Submission::from_reader(std::io::repeat(b'x'), &limits), "/tmp/none"),
    ];
    insta::assert_snapshot!(errors.join("\n"));
    let folder = folder(&[("k.cu", KERNEL), ("a/b/c/d/e.h", "")]);
    let deep = Submission::read(folder.path(), &limits).expect_err("it is deep");
    assert!(matches!(deep, ReadError::Deep { .. }), "{deep}");
    let files: Vec<String> = (0..11).map(|number| format!("{number}.h")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (&**name, "")).collect();
    let many = self::folder(&files);
    let many = Submission::read(many.path(), &limits).expect_err("they are many");
    assert!(matches!(many, ReadError::ManyEntries { .. }), "{many}");
}

/// A gibibyte of zeros is a megabyte of gzip. Nothing of it is kept.
#[test]
fn a_bomb_ends_at_the_limit() {
    let mut header = Header::new_gnu();
    header.set_path("k.cu").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..40 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let limits = Limits {
        total: 1 << 20,
        ..Limits::default()
    };
    let error = Submission::from_bytes(bomb, &limits).expect_err("it is a bomb");
    assert!(matches!(error, ReadError::Large { .. }), "{error}");
}

#[test]
fn a_damaged_tarball_is_refused() {
    let whole = gzip(&tar([file("k.cu", KERNEL)]));
    let mut flipped = whole.clone();
    let at = flipped.len() - 6;
    flipped[at] ^= 1;
    let mut header = tar([file("k.cu", KERNEL)]);
    header[150] ^= 1;
    for bytes in [
        whole[..whole.len() / 2].to_vec(),
        flipped,
        header,
        tar([file("k.cu", KERNEL)])[..600].to_vec(),
    ] {
        let error = of_bytes(bytes).expect_err("it is damaged");
        assert!(matches!(error, ReadError::Damaged { .. }), "{error:?}");
    }
}

/// Each would take minutes or hours if something were searched again and again.
#[test]
fn hostile_texts_take_time_in_proportion_to_their_length() {
    let times = |text: &str| text.repeat((1 << 20) / text.len());
    let of = |text: String| of_bytes(text.into_bytes()).map(drop);
    let steps: String = (0..MOST_KERNELS)
        .map(|number| format!("[[step]]\nkernel = \"k<{number}>\"\ngrid = 1\nblock = 1\n"))
        .collect();
    let overloads = times("template <int N> __global__ void k(int a);\n");
    of(format!("/* gpubench\n{steps}*/\n{overloads}")).unwrap();
    of(times("/* gpubench\n*/ __global__ ")).unwrap_err();
    let one_line = |list: &str| format!("/* gpubench\n{DESCRIBED}arguments = [{list}]\n*/\n{BARE}");
    of(one_line(&"1,".repeat(30_000))).unwrap();
    of(one_line(&"[".repeat(60_000))).unwrap_err();
    of(format!("/* gpubench\n{DESCRIBED}*/ .entry k {}", times(".entry j("))).unwrap();
    of(format!("{KERNEL}{}", times("\"R\"( /* '"))).unwrap();
    let of_files = |files: Vec<_>| of_bytes(tar(files)).map(drop);
    let repeated = format!("{KERNEL}{}", times("#include \"x.h\"\n"));
    of_files(vec![file("k.cu", &repeated), file("x.h", "")]).unwrap();
    let all: String = (0..200).map(|number| format!("#include \"{number}.h\"\n")).collect();
    let headers = (0..200).map(|number| file(&format!("{number}.h"), &all));
    of_files(headers.chain([file("k.cu", &format!("{KERNEL}{all}"))]).collect()).unwrap();
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..600)) {
        let _ = of_bytes(bytes.clone());
        let _ = of_bytes(gzip(&bytes));
    }

    #[test]
    fn any_description_is_read_without_a_panic(text in "[ -~\nµ]{0,120}") {
        let _ = of_bytes(format!("/* gpubench\n{text}\n*/ __global__ void k(float *x, int n) {{}}").into_bytes());
        let _ = of_bytes(format!("/* gpubench\ngrid = \"{text}\"\nblock = [{text}]\n*/ __global__ void k() {{}}").into_bytes());
    }
}
