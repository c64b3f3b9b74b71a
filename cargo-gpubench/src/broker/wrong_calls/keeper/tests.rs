//! What is kept of a call whose contents the test makes.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::symlink;

use gpubench::catalog::{DType, Fill, Role, Tolerance};
use gpubench_protocol::wire::MOST_CONTENTS;
use proptest::prelude::*;

use super::*;

fn tensor(name: &str, role: Role, dtype: DType, shape: &[u64]) -> Tensor {
    Tensor {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        role,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    }
}

/// Each byte tells its tensor, contents and place.
fn byte(position: usize, contents: Contents, place: u64) -> u8 {
    (100 * position as u64 + 10 * contents as u64 + place) as u8
}

fn right_bytes(position: usize, contents: Contents, range: Range<u64>) -> Result<Vec<u8>, RoleFailure> {
    Ok(range.map(|place| byte(position, contents, place)).collect())
}

struct Kept {
    folder: tempfile::TempDir,
    text: Result<String, RoleFailure>,
}

impl Kept {
    /// Keeps the tensors of call 3 of `case`, after `before` has used the folder.
    fn of(
        case: &str,
        tensors: &[Tensor],
        before: impl FnOnce(&Utf8Path),
        mut read: impl FnMut(usize, Contents, Range<u64>) -> Result<Vec<u8>, RoleFailure>,
    ) -> Kept {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8Path::from_path(folder.path()).expect("text");
        before(path);
        let keeper = NpyKeeper::new(path, case.to_owned());
        let text = keeper.keep(&mut WrongCall {
            number: 3,
            tensors,
            read: &mut read,
        });
        Kept { folder, text }
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).expect("text")
    }

    /// Returns the message, in which `DIR` stands for the folder.
    fn text(&self) -> String {
        let text = self.text.as_ref().expect("the referee goes on");
        text.replace(self.path().as_str(), "DIR")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }
}

#[test]
fn each_tensor_has_its_files_and_the_message_names_them() {
    let tensors = [
        tensor("x", Role::Input, DType::F16, &[3]),
        tensor("w", Role::InOut, DType::BF16, &[2, 2]),
        tensor("t", Role::Scratch, DType::F32, &[8]),
        tensor("y", Role::Output, DType::F64, &[]),
        tensor("k", Role::Constant, DType::I8, &[5]),
    ];
    let kept = Kept::of("7.a", &tensors, |_| (), right_bytes);
    assert_eq!(
        kept.text(),
        "the tensors of call 3, the first wrong one, for `numpy.load`:\n  \
           DIR/7.a.w.expected.npy (the bits of bf16, as uint16)\n  \
           DIR/7.a.w.got.npy (the bits of bf16, as uint16)\n  \
           DIR/7.a.y.expected.npy\n  \
           DIR/7.a.y.got.npy\n  \
           DIR/7.a.x.input.npy\n  \
           DIR/7.a.w.input.npy (the bits of bf16, as uint16)\n  \
           DIR/7.a.k.input.npy"
    );
    assert_eq!(kept.names().len(), 7);
    for (position, contents) in wanted(&tensors) {
        let Tensor { name, dtype, shape, .. } = &tensors[position];
        let file = kept.path().join(format!("7.a.{name}.{}.npy", word(contents)));
        let elements = right_bytes(position, contents, 0..tensors[position].bytes()).expect("bytes");
        let whole = [npy::header(*dtype, shape), elements].concat();
        assert_eq!(fs::read(&file).expect("it was written"), whole, "{file}");
    }
}

#[test]
fn only_the_first_wrong_call_of_a_case_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let keeper = NpyKeeper::new(Utf8Path::from_path(folder.path()).expect("text"), "0.a".to_owned());
    let tensors = [tensor("x", Role::Input, DType::U8, &[1])];
    let keep = |number: u32| {
        let mut read = |_, _, _| Ok(vec![number as u8]);
        keeper.keep(&mut WrongCall {
            number,
            tensors: &tensors,
            read: &mut read,
        })
    };
    let [first, second] = [6, 9].map(|number| keep(number).expect("the referee goes on"));
    assert!(
        first.starts_with("the tensors of call 6, the first wrong one"),
        "{first}"
    );
    assert_eq!(first, second);
    let written = fs::read(folder.path().join("0.a.x.input.npy")).expect("it was written");
    assert_eq!(written.last(), Some(&6));
}

#[test]
fn a_large_tensor_is_written_piece_by_piece_and_a_too_large_one_is_left_out() {
    let tensors = [
        tensor("large", Role::Input, DType::U8, &[MOST_CONTENTS + 3]),
        tensor("too_large", Role::Input, DType::F32, &[1 << 28, 2]),
    ];
    let mut pieces = Vec::new();
    let kept = Kept::of(
        "0.a",
        &tensors,
        |_| (),
        |position, contents, range| {
            pieces.push((position, range.end - range.start));
            right_bytes(position, contents, range)
        },
    );
    assert_eq!(
        kept.text(),
        "the tensors of call 3, the first wrong one, for `numpy.load`:\n  DIR/0.a.large.input.npy\n\
         `too_large` (input) is left out: it has 2 GiB, and the files of a case have at most 1 GiB"
    );
    assert_eq!(pieces, [(0, MOST_CONTENTS), (0, 3)]);
    let written = fs::read(kept.path().join("0.a.large.input.npy")).expect("it was written");
    assert_eq!(written.len() as u64, 128 + MOST_CONTENTS + 3);
    assert_eq!(written.last(), Some(&byte(0, Contents::Input, MOST_CONTENTS + 2)));
}

#[test]
fn an_earlier_file_is_replaced_and_a_link_is_not_followed() {
    let tensors = [tensor("x", Role::Input, DType::U8, &[1])];
    let elsewhere = tempfile::NamedTempFile::new().expect("a file");
    let target = elsewhere.path().to_owned();
    for is_link in [false, true] {
        let before = |folder: &Utf8Path| {
            let path = folder.join("0.a.x.input.npy");
            if is_link {
                symlink(&target, path).expect("a link");
            } else {
                fs::write(path, [9; 1_000]).expect("written");
            }
        };
        let kept = Kept::of("0.a", &tensors, before, right_bytes);
        let file = kept.path().join("0.a.x.input.npy");
        assert!(fs::symlink_metadata(&file).expect("it is there").is_file());
        assert_eq!(fs::read(file).expect("written").len(), 129);
        assert_eq!(fs::read(&target).expect("readable"), b"");
    }
}

#[test]
fn what_cannot_be_written_is_in_the_message_and_no_half_a_file_stays() {
    let tensors = ["x", "y", "z"].map(|name| tensor(name, Role::Input, DType::U8, &[4]));
    let in_the_way = |folder: &Utf8Path| fs::create_dir(folder.join("0.a.y.input.npy")).expect("made");
    let kept = Kept::of("0.a", &tensors, in_the_way, right_bytes);
    let text = kept.text();
    let failed = "DIR/0.a.x.input.npy\nfurther tensors are not kept: cannot write `DIR/0.a.y.input.npy`: ";
    assert!(text.contains(failed), "{text}");

    let refused = |position, contents, range| match position {
        1 => Err(RoleFailure::OutOfMemory {
            role: gpubench_measure::clients::RoleName::Referee,
            text: "no memory is left".to_owned(),
        }),
        _ => right_bytes(position, contents, range),
    };
    let kept = Kept::of("0.a", &tensors, |_| (), refused);
    assert!(kept.text().ends_with("further tensors are not kept: no memory is left"));
    assert_eq!(kept.names(), ["0.a.x.input.npy"]);

    let lost = |_, _, _| Err(RoleFailure::Interrupted);
    let kept = Kept::of("0.a", &tensors, |_| (), lost);
    assert!(matches!(kept.text, Err(RoleFailure::Interrupted)));
    assert_eq!(kept.names(), [""; 0]);
}

#[test]
fn a_full_disk_is_told_as_such() {
    let full = |kind: io::ErrorKind| {
        words(&KeepError::Unwritten {
            path: "wrong/0.a.y.got.npy".into(),
            source: kind.into(),
        })
    };
    assert_eq!(
        full(io::ErrorKind::StorageFull),
        "cannot write `wrong/0.a.y.got.npy`: no storage space (hint: the disk is full: free some space, or name a \
         folder on another disk)"
    );
    assert!(!full(io::ErrorKind::PermissionDenied).contains("hint"));
}

proptest! {
    #[test]
    fn no_name_of_a_tensor_leads_out_of_the_folder_or_to_the_file_of_another(
        names in prop::collection::vec("(\\PC|[/.\0])*", 1..4)
    ) {
        let tensors: Vec<Tensor> = names
            .iter()
            .map(|name| tensor(name, Role::Input, DType::U8, &[1]))
            .collect();
        let outer = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(outer.path().join("folder")).expect("text");
        let keeper = NpyKeeper::new(&path, "0.a".to_owned());
        let text = keeper.keep(&mut WrongCall { number: 1, tensors: &tensors, read: &mut right_bytes });
        let text = text.expect("the referee goes on");
        prop_assert_eq!(text.lines().count(), 1 + names.len(), "{}", text);
        prop_assert_eq!(fs::read_dir(&path).expect("a folder").count(), names.len());
        prop_assert_eq!(fs::read_dir(outer.path()).expect("a folder").count(), 1);
    }
}
