//! Valid archives, and every way in which an archive can be invalid.

use std::io::{self, Read, Write};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{EntryType, Header};

use super::manifest::{LONGEST_MANIFEST, MANIFEST};
use super::needed::needed_from;
use super::*;
use crate::cdylibs::{Built, BuiltLibrary, Coverage, LibraryForm};
use crate::config::CaseSettings;
use crate::test_folder::TestFolder;
use gpubench_diagnostic::{Expected, Explanation};

const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-gnu"
} else {
    "x86_64-unknown-linux-gnu"
};

/// No interrupt.
fn unpack(archive: &Utf8Path, to: &ExtractTo) -> Result<Unpacked, ArchiveError> {
    super::unpack(archive, to, &AtomicBool::new(false))
}

impl TestFolder {
    fn file(&self, name: &str, contents: &[u8]) -> Utf8PathBuf {
        let path = self.path.join(name);
        fs_err::write(&path, contents).expect("written");
        path
    }

    fn archive(&self) -> Utf8PathBuf {
        self.path.join("a.tar.gz")
    }
}

fn manifest(files: &[(&str, &[u8])]) -> Manifest {
    let library = |&(path, contents): &(&str, &[u8])| ArchivedLibrary {
        package: "tidy".to_owned(),
        version: "0.1.0".to_owned(),
        example: None,
        crate_name: "tidy".to_owned(),
        file: ArchivedFile {
            path: path.to_owned(),
            size: contents.len() as u64,
            sha256: Digest::from_bytes(contents),
        },
        needs: Vec::new(),
        own_libraries: Vec::new(),
        settings: CaseSettings::default(),
    };
    Manifest {
        format: FORMAT,
        tool_version: "0.1.0".to_owned(),
        runtime_version: "0.1.0".to_owned(),
        target: TARGET.to_owned(),
        created_at: "2026-01-02T03:04:05Z".to_owned(),
        revision: None,
        libraries: files.iter().map(library).collect(),
        kernels: Vec::new(),
    }
}

type Entry<'a> = (&'a str, EntryType, &'a [u8]);

fn plain<'a>(path: &'a str, contents: &'a [u8]) -> Entry<'a> {
    (path, EntryType::Regular, contents)
}

/// Returns a `.tar.gz` of any entries, including paths that the tool never writes.
fn packed(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, kind, contents) in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        if *kind == EntryType::Symlink {
            header.set_link_name("/etc/passwd").expect("a name");
        }
        header.set_cksum();
        tar.append(&header, *contents).expect("memory takes it");
    }
    tar.into_inner().and_then(GzEncoder::finish).expect("memory takes it")
}

fn with_manifest(manifest: &Manifest, entries: &[Entry<'_>]) -> Vec<u8> {
    let text = serde_json::to_vec(manifest).expect("it can be written");
    let mut all = vec![plain(MANIFEST, &text)];
    all.extend_from_slice(entries);
    packed(&all)
}

fn refusal(archive: &[u8]) -> ArchiveError {
    let place = TestFolder::new();
    unpack(&place.file("a.tar.gz", archive), &ExtractTo::Temporary).expect_err("it is refused")
}

#[test]
fn an_archive_larger_than_the_disk_is_refused_before_anything_is_written() {
    let mut manifest = manifest(&[(FILE, CONTENTS)]);
    manifest.libraries[0].file.size = u64::MAX / 2;
    let place = TestFolder::new();
    let folder = place.path.join("unpacked");
    let to = ExtractTo::Kept {
        folder: folder.clone(),
        overwrite: false,
    };
    let archive = place.file("a.tar.gz", &with_manifest(&manifest, &[plain(FILE, CONTENTS)]));
    let error = unpack(&archive, &to).expect_err("no disk is so large");
    assert!(matches!(error, ArchiveError::NoRoom { .. }), "{error}");
    assert_eq!(fs_err::read_dir(&folder).expect("it was made").count(), 0);
}

/// Formats an error without the archive's own folder.
fn shown(error: &ArchiveError, place: &Utf8Path) -> String {
    anstream::adapter::strip_str(&Explanation(error).to_string())
        .to_string()
        .replace(&format!("{place}/"), "")
}

fn shown_refusal(archive: &[u8]) -> String {
    let place = TestFolder::new();
    let error = unpack(&place.file("a.tar.gz", archive), &ExtractTo::Temporary).expect_err("it is refused");
    assert_eq!(error.exit_code().number(), 103);
    shown(&error, &place.path)
}

const FILE: &str = "libraries/tidy/libtidy.so";
const CONTENTS: &[u8] = b"the library, as far as these tests care";

#[test]
fn packed_files_are_unpacked() {
    let place = TestFolder::new();
    let archive = place.file(
        "a.tar.gz",
        &with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]),
    );
    let unpacked = unpack(&archive, &ExtractTo::Temporary).expect("a good archive");
    let built = unpacked.built().expect("as it was unpacked");
    let library = &built.libraries[0];
    assert_eq!(fs_err::read(&library.library).expect("it is there"), CONTENTS);
    assert_eq!((&*library.package, &*library.crate_name), ("tidy", "tidy"));
    assert_eq!(built.target_directory, unpacked.folder.path());
    let folder = unpacked.folder.path().to_owned();
    drop(unpacked);
    assert!(!folder.exists(), "a temporary folder goes with the run");
}

#[test]
fn a_library_that_changes_after_its_check_is_refused() {
    let place = TestFolder::new();
    let archive = place.file(
        "a.tar.gz",
        &with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]),
    );
    let unpacked = unpack(&archive, &ExtractTo::Temporary).expect("a good archive");
    let library = unpacked.folder.path().join(FILE);
    fs_err::write(&library, "another library").expect("written");
    let refused = unpacked.built().expect_err("it is another");
    assert!(
        matches!(&refused, ArchiveError::Exchanged { path } if *path == library),
        "{refused}"
    );
}

#[test]
fn a_later_change_of_a_library_does_not_reach_the_loaded_copy() {
    let place = TestFolder::new();
    let archive = place.file(
        "a.tar.gz",
        &with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]),
    );
    let unpacked = unpack(&archive, &ExtractTo::Temporary).expect("a good archive");
    let built = unpacked.built().expect("as it was unpacked");
    fs_err::write(unpacked.folder.path().join(FILE), "another library").expect("written");
    let [code] = &built.libraries[0].code[..] else {
        panic!("it needs no other: {:?}", built.libraries[0].code);
    };
    assert_eq!(fs_err::read(code.path()).expect("readable"), CONTENTS);
}

#[test]
fn a_flipped_bit_never_changes_the_unpacked_files() {
    let good = with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]);
    let place = TestFolder::new();
    // The time and the system in the gzip header have no effect.
    let harmless = 4..10;
    let mut refused = 0;
    for position in (0..good.len()).filter(|position| !harmless.contains(position)) {
        let mut flipped = good.clone();
        flipped[position] ^= 1 << (position % 8);
        match unpack(&place.file("a.tar.gz", &flipped), &ExtractTo::Temporary) {
            Err(ArchiveError::Damaged { .. } | ArchiveError::NotAnArchive { .. }) => refused += 1,
            Err(error) => panic!("byte {position}: {error}"),
            // The last bits before the checksum may be padding.
            Ok(unpacked) => assert_eq!(
                fs_err::read(unpacked.folder.path().join(FILE)).expect("it is there"),
                CONTENTS,
                "byte {position}"
            ),
        }
    }
    assert!(
        refused >= good.len() - harmless.len() - 2,
        "{refused} of {}",
        good.len()
    );
}

#[test]
fn a_truncated_archive_is_refused_wherever_it_ends() {
    let good = with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]);
    for length in 2..good.len() {
        let error = refusal(&good[..length]);
        let damage = match error {
            ArchiveError::Damaged { damage, .. } => damage,
            error => panic!("{length} bytes: {error}"),
        };
        assert_eq!(damage, Damage::Truncated, "{length} bytes");
    }
}

#[test]
fn every_error_has_a_cause_and_a_hint() {
    let good = manifest(&[(FILE, CONTENTS)]);
    let newer = {
        let mut manifest = serde_json::to_value(&good).expect("it can be written");
        manifest["format"] = (FORMAT + 1).into();
        manifest["tool_version"] = "9.0.0".into();
        manifest.as_object_mut().expect("an object").remove("libraries");
        packed(&[plain(MANIFEST, manifest.to_string().as_bytes())])
    };
    let elsewhere = Manifest {
        target: "riscv64gc-unknown-linux-gnu".to_owned(),
        ..good.clone()
    };
    let other_libc = Manifest {
        target: TARGET.replace("gnu", "musl"),
        ..good.clone()
    };
    let mut truncated = with_manifest(&good, &[plain(FILE, CONTENTS)]);
    truncated.truncate(100);
    let mut corrupt = with_manifest(&good, &[plain(FILE, CONTENTS)]);
    let middle = corrupt.len() / 2;
    corrupt[middle] ^= 0xff;
    let other = b"another library of exactly these 39 byt".as_slice();
    assert_eq!(other.len(), CONTENTS.len());
    let cases: [(&str, Vec<u8>); 19] = [
        ("empty", Vec::new()),
        ("text", b"hello, world".to_vec()),
        ("an archive of something else", packed(&[plain("readme.txt", b"hello")])),
        ("no entries", packed(&[])),
        ("truncated", truncated),
        ("corrupt", corrupt),
        ("a broken manifest", packed(&[plain(MANIFEST, b"{\"format\": 1,")])),
        (
            "a manifest with too little",
            packed(&[plain(MANIFEST, b"{\"format\": 1, \"tool_version\": \"0.1.0\"}")]),
        ),
        ("newer", newer),
        ("another processor", with_manifest(&elsewhere, &[plain(FILE, CONTENTS)])),
        (
            "another C library",
            with_manifest(&other_libc, &[plain(FILE, CONTENTS)]),
        ),
        ("another file", with_manifest(&good, &[plain(FILE, other)])),
        (
            "a longer file",
            with_manifest(&good, &[plain(FILE, &[CONTENTS, b"more"].concat())]),
        ),
        ("a file too few", with_manifest(&good, &[])),
        (
            "a file too many",
            with_manifest(&good, &[plain(FILE, CONTENTS), plain("extra", b"")]),
        ),
        (
            "a file twice",
            with_manifest(&good, &[plain(FILE, CONTENTS), plain(FILE, CONTENTS)]),
        ),
        (
            "a long name",
            with_manifest(
                &good,
                &[
                    ("././@LongLink", EntryType::GNULongName, FILE.as_bytes()),
                    plain(FILE, CONTENTS),
                ],
            ),
        ),
        (
            "more than is listed",
            with_manifest(&good, &[plain(FILE, CONTENTS), plain("extra", &vec![0; 32 << 20])]),
        ),
        (
            "terminal commands",
            with_manifest(&good, &[plain("\u{1b}[2J/../x", b"")]),
        ),
    ];
    let texts: Vec<String> = cases
        .into_iter()
        .map(|(case, archive)| {
            let text = shown_refusal(&archive).replace(TARGET, "[here]");
            format!(
                "{case}:\n{}",
                text.replace(&TARGET.replace("gnu", "musl"), "[here, musl]")
            )
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_missing_archive_is_refused() {
    let place = TestFolder::new();
    let error = unpack(&place.archive(), &ExtractTo::Temporary).expect_err("it is not there");
    insta::assert_snapshot!(shown(&error, &place.path));
}

#[test]
fn a_pipe_is_refused_without_waiting() {
    let place = TestFolder::new();
    let made = std::process::Command::new("mkfifo").arg(place.archive()).status();
    assert!(made.expect("mkfifo").success());
    let error = unpack(&place.archive(), &ExtractTo::Temporary).expect_err("it is no file");
    assert!(shown(&error, &place.path).contains("is a pipe, a socket or a device, not a file"));
}

#[test]
fn an_interrupted_archive_leaves_nothing() {
    let place = TestFolder::new();
    let good = with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]);
    let folder = place.path.join("unpacked");
    let to = ExtractTo::Kept {
        folder: folder.clone(),
        overwrite: false,
    };
    let interrupted = AtomicBool::new(true);
    let error = super::unpack(&place.file("a.tar.gz", &good), &to, &interrupted).expect_err("it is interrupted");
    assert!(matches!(error, ArchiveError::Interrupted), "{error}");
    assert_eq!(error.exit_code().number(), 130);
    assert!(!folder.exists());
}

#[test]
fn an_archive_with_too_many_files_is_neither_made_nor_unpacked() {
    let names: Vec<String> = (0..=16_384).map(|number| format!("kernels/{number}")).collect();
    let empty: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b""[..])).collect();
    let entries: Vec<Entry<'_>> = names.iter().map(|name| plain(name, b"")).collect();
    let message = "has 16385 files; the limit is 16384";
    let shown = shown_refusal(&with_manifest(&manifest(&empty), &entries));
    assert!(shown.contains(message) && shown.contains("--package"), "{shown}");
    let error = manifest(&empty)
        .refuse_many_files("a.tar.gz".into())
        .expect_err("too many");
    assert!(error.to_string().contains(message), "{error}");
    assert!(manifest(&empty[1..]).refuse_many_files("a.tar.gz".into()).is_ok());
}

#[test]
fn nothing_is_written_outside_the_folder() {
    let good = manifest(&[(FILE, CONTENTS)]);
    for path in [
        "../escaped",
        "/tmp/gpubench-escaped",
        "libraries/../../escaped",
        "./escaped",
    ] {
        let listed = manifest(&[(path, CONTENTS)]);
        let place = TestFolder::new();
        let archive = place.file("a.tar.gz", &with_manifest(&listed, &[plain(path, CONTENTS)]));
        let folder = place.path.join("folder/below");
        let to = ExtractTo::Kept {
            folder: folder.clone(),
            overwrite: false,
        };
        let error = unpack(&archive, &to).expect_err("it leads out");
        assert!(
            matches!(&error, ArchiveError::Outside { entry, .. } if entry == path),
            "{error}"
        );
        for place in [&folder, &place.path.join("folder")] {
            assert!(!place.join("escaped").exists(), "{path}");
        }
    }
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Directory,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::GNUSparse,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::Continuous,
    ] {
        let error = refusal(&with_manifest(&good, &[(FILE, kind, b"")]));
        assert!(matches!(error, ArchiveError::NotPlain { .. }), "{kind:?}: {error}");
    }
}

/// Zeros that inflate an archive: far more than is read of an archive with such a manifest.
const BLOWN_UP: usize = 48 << 20;

#[test]
fn extension_entries_are_not_collected_in_memory() {
    let good = manifest(&[(FILE, CONTENTS)]);
    let zeros = vec![0; BLOWN_UP];
    for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
        let archive = with_manifest(&good, &[("long", kind, &zeros), plain(FILE, CONTENTS)]);
        let error = refusal(&archive);
        assert!(
            matches!(
                &error,
                ArchiveError::Damaged {
                    damage: Damage::TooLong,
                    ..
                }
            ),
            "{kind:?}: {error}"
        );
    }
}

#[test]
fn decompression_stops_at_the_size_in_the_manifest() {
    let good = manifest(&[(FILE, CONTENTS)]);
    let zeros = vec![0; BLOWN_UP];
    let too_long = |case: &str, archive: &[u8]| {
        let error = refusal(archive);
        assert!(
            matches!(
                &error,
                ArchiveError::Damaged {
                    damage: Damage::TooLong,
                    ..
                }
            ),
            "{case}: {error}"
        );
    };
    too_long(
        "a second entry",
        &with_manifest(&good, &[plain(FILE, CONTENTS), plain("extra", &zeros)]),
    );
    too_long("the listed entry", &with_manifest(&good, &[plain(FILE, &zeros)]));
    // After the two zero blocks that end an archive.
    let mut gzip = flate2::read::GzDecoder::new(io::Cursor::new(with_manifest(&good, &[plain(FILE, CONTENTS)])));
    let mut tar = Vec::new();
    gzip.read_to_end(&mut tar).expect("a good archive");
    tar.extend_from_slice(&zeros);
    let mut trailing = GzEncoder::new(Vec::new(), Compression::default());
    trailing.write_all(&tar).expect("memory takes it");
    too_long("after the end", &trailing.finish().expect("memory takes it"));
    let manifest = packed(&[plain(MANIFEST, &zeros)]);
    assert!(matches!(
        refusal(&manifest),
        ArchiveError::Damaged { damage: Damage::Manifest(reason), .. } if reason.contains("longer")
    ));
}

#[test]
fn a_refused_archive_leaves_no_temporary_files() {
    // No other test unpacks this, so folders of other tests do not count.
    let contents = b"unpacked by one test alone".as_slice();
    let archive = with_manifest(
        &manifest(&[(FILE, contents)]),
        &[plain(FILE, contents), plain("extra", b"")],
    );
    let error = refusal(&archive);
    let unlisted = matches!(
        &error,
        ArchiveError::Damaged {
            damage: Damage::Unlisted(_),
            ..
        }
    );
    assert!(unlisted, "{error}");
    let folders = fs_err::read_dir(std::env::temp_dir()).expect("a folder").flatten();
    let left = folders.map(|folder| folder.path().join(FILE));
    let left: Vec<_> = left
        .filter(|file| fs_err::read(file).is_ok_and(|left| left == contents))
        .collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_kept_folder_must_be_new_or_empty_unless_overwriting_is_allowed() {
    let place = TestFolder::new();
    let archive = place.file(
        "a.tar.gz",
        &with_manifest(&manifest(&[(FILE, CONTENTS)]), &[plain(FILE, CONTENTS)]),
    );
    let folder = place.path.join("kept");
    let to = |overwrite| ExtractTo::Kept {
        folder: folder.clone(),
        overwrite,
    };
    drop(unpack(&archive, &to(false)).expect("it does not exist"));
    assert!(folder.join(FILE).exists(), "it is kept");
    let error = unpack(&archive, &to(false)).expect_err("it is in use");
    insta::assert_snapshot!(shown(&error, &place.path));
    // The replaced file may be a link, and must not be written through.
    let precious = place.file("precious", b"precious");
    fs_err::remove_file(folder.join(FILE)).expect("removed");
    fs_err::os::unix::fs::symlink(&precious, folder.join(FILE)).expect("linked");
    fs_err::write(folder.join("mine"), "mine").expect("written");
    drop(unpack(&archive, &to(true)).expect("it may be"));
    assert_eq!(fs_err::read(folder.join(FILE)).expect("there"), CONTENTS);
    assert_eq!(fs_err::read(&precious).expect("there"), b"precious");
    assert!(folder.join("mine").exists());
}

/// Compiles a shared library that needs others.
fn library(place: &TestFolder, name: &str, needs: &[&str]) -> Utf8PathBuf {
    let source = place.file(
        &format!("{name}.cpp"),
        format!("extern \"C\" int {name}() {{ return 1; }}\n").as_bytes(),
    );
    let library = place.path.join(format!("lib{name}.so"));
    let mut compiler = Command::new("c++");
    compiler
        .args([
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,--no-as-needed",
            &format!("-Wl,-soname,lib{name}.so"),
            "-o",
            library.as_str(),
            source.as_str(),
        ])
        .arg(format!("-L{}", place.path))
        .args(needs.iter().map(|needed| format!("-l{needed}")));
    assert!(compiler.status().expect("a C++ compiler").success());
    library
}

fn built(library: &Utf8Path, search: &Utf8Path) -> Built {
    Built {
        libraries: vec![BuiltLibrary {
            package: "outer".to_owned(),
            target: crate::cdylibs::CargoTarget::Library,
            crate_name: "outer".to_owned(),
            version: "1.0.0".to_owned(),
            root: search.to_owned(),
            library: library.to_owned(),
            form: LibraryForm::Cdylib,
            code: Vec::new(),
            library_path: vec![search.to_owned()],
            own_libraries: crate::cdylibs::OwnLibraries::OnDisk,
            settings: CaseSettings::default(),
        }],
        coverage: Coverage::Workspace,
        target_directory: search.to_owned(),
        target: TARGET.to_owned(),
        runtime_version: "0.1.0".to_owned(),
        notices: Vec::new(),
    }
}

#[test]
fn libraries_of_the_build_are_archived_and_system_libraries_are_not() {
    let place = TestFolder::new();
    library(&place, "innermost", &[]);
    library(&place, "inner", &["innermost"]);
    let outer = library(&place, "outer", &["inner", "c"]);
    let needed = needed_from(&outer, std::slice::from_ref(&place.path)).expect("readable libraries");
    let names: Vec<&str> = needed.keys().map(String::as_str).collect();
    assert_eq!(names, ["libinner.so", "libinnermost.so"]);
    let contents = Contents::new(&built(&outer, &place.path), None).expect("readable libraries");
    write(&contents, &place.archive()).expect("room");
    let unpacked = unpack(&place.archive(), &ExtractTo::Temporary).expect("a good archive");
    let unpacked = unpacked.built().expect("as it was unpacked");
    let [library] = &unpacked.libraries[..] else {
        panic!("one library");
    };
    assert_eq!(library.code.len(), 3, "it, and those that it needs");
    // The tool's own processes would find libraries of the archive there before any sandbox.
    assert_eq!(library.library_path, [""; 0]);
}

#[test]
fn a_needed_library_without_a_name_of_its_own_is_refused() {
    let place = TestFolder::new();
    let inner = library(&place, "inner", &[]);
    let outer = library(&place, "outer", &["inner"]);
    std::fs::rename(library(&place, "other", &[]), &inner).expect("renamed");
    let refused = Contents::new(&built(&outer, &place.path), None).expect_err("it has another name");
    assert!(
        matches!(&refused, ArchiveError::Nameless { library } if library == "libinner.so"),
        "{refused}"
    );
}

#[test]
fn names_that_do_not_fit_the_header_are_refused() {
    let place = TestFolder::new();
    let outer = library(&place, "outer", &[]);
    let named = |length| {
        let mut built = built(&outer, &place.path);
        built.libraries[0].package = "p".repeat(length);
        Contents::new(&built, None)
    };
    write(&named(140).expect("it fits"), &place.archive()).expect("room");
    let unpacked = unpack(&place.archive(), &ExtractTo::Temporary).expect("a good archive");
    assert_eq!(unpacked.manifest.libraries[0].package.len(), 140);
    let error = named(160).expect_err("no header has so much room");
    assert!(matches!(error, ArchiveError::LongName { .. }), "{error}");
}

#[test]
fn a_library_that_another_build_replaces_is_archived_as_it_was_read() {
    let place = TestFolder::new();
    let outer = library(&place, "outer", &[]);
    let before = fs_err::read(&outer).expect("a library");
    let contents = Contents::new(&built(&outer, &place.path), None).expect("a readable library");
    fs_err::write(&outer, "another build").expect("written");
    write(&contents, &place.archive()).expect("room");
    let unpacked = unpack(&place.archive(), &ExtractTo::Temporary).expect("a good archive");
    let unpacked = unpacked.built().expect("as it was unpacked");
    assert_eq!(fs_err::read(&unpacked.libraries[0].library).expect("a library"), before);
}

#[test]
fn an_archive_is_replaced_as_a_whole_or_not_at_all() {
    let place = TestFolder::new();
    let outer = library(&place, "outer", &[]);
    let mut built = built(&outer, &place.path);
    built.libraries[0].version = "1".repeat(LONGEST_MANIFEST as usize);
    let contents = Contents::new(&built, None).expect("a readable library");
    place.file("a.tar.gz", b"the last one");
    let error = write(&contents, &place.archive()).expect_err("a manifest has a limit");
    assert!(matches!(&error, ArchiveError::LongManifest { .. }), "{error}");
    assert_eq!(fs_err::read(place.archive()).expect("there"), b"the last one");
    let leftovers = fs_err::read_dir(&place.path).expect("a folder").flatten();
    let leftover = leftovers
        .map(|entry| entry.file_name())
        .find(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(leftover, None);
}

#[test]
fn a_missing_folder_is_named() {
    let place = TestFolder::new();
    let outer = library(&place, "outer", &[]);
    let contents = Contents::new(&built(&outer, &place.path), None).expect("a readable library");
    let error = write(&contents, &place.path.join("nowhere/a.tar.gz")).expect_err("no folder");
    assert!(error.to_string().ends_with("nowhere`"), "{error}");
    assert_eq!(error.exit_code().number(), 103);
}

#[test]
fn a_full_disk_has_a_hint() {
    let error = ArchiveError::Io {
        action: "write",
        path: "libraries/tidy/libtidy.so".into(),
        source: std::io::ErrorKind::StorageFull.into(),
    };
    insta::assert_snapshot!(shown(&error, Utf8Path::new("/nowhere")));
    let quota = ArchiveError::Io {
        action: "write",
        path: "libraries/tidy/libtidy.so".into(),
        source: std::io::ErrorKind::QuotaExceeded.into(),
    };
    assert_eq!(quota.hint(), error.hint());
}
