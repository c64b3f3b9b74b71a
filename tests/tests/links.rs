//! Links of another user in a folder where everybody can create files, such as `/tmp`. Whoever
//! follows one writes where somebody else wants. Only root can make links for others.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

use camino::Utf8PathBuf;
use gpubench_tests::{Fixture, Run, RunFolder};

/// A user that this process is not.
const BOB: u32 = 4_242;
const CASE: &str = "sums::one_thread_a_row::rows=33,cols=100";
const BEFORE: &str = "as it was";

/// A folder of everybody with bob's links, and one of the victim with a file.
struct Place {
    folder: RunFolder,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            folder: RunFolder::new(),
        };
        fs::create_dir(place.shared("")).expect("a folder");
        fs::create_dir(place.victim("")).expect("a folder");
        fs::set_permissions(place.shared(""), fs::Permissions::from_mode(0o1777)).expect("a sticky folder");
        place
    }

    fn shared(&self, name: &str) -> Utf8PathBuf {
        self.folder.path("shared").join(name)
    }

    fn victim(&self, name: &str) -> Utf8PathBuf {
        self.folder.path("victim").join(name)
    }

    /// Makes a link of bob's to a file of the victim. Returns whether this user can.
    fn bob_links(&self, name: &str) -> bool {
        let _ = fs::remove_file(self.shared(name));
        fs::write(self.victim("file"), BEFORE).expect("a file");
        symlink(self.victim("file"), self.shared(name)).expect("a link");
        lchown(self.shared(name), Some(BOB), None).is_ok()
    }

    #[track_caller]
    fn assert_unchanged(&self, what: &str) {
        let text = fs::read_to_string(self.victim("file")).expect("it is there");
        assert_eq!(text, BEFORE, "{what}");
        let names = fs::read_dir(self.victim("")).expect("a folder").count();
        assert_eq!(names, 1, "{what}: the victim's folder has more files");
    }
}

#[test]
fn no_output_of_a_run_follows_a_link_of_another_user() {
    let (place, fixture) = (Place::new(), Fixture::new("tidy"));
    let honest = place.folder.path("honest.jsonl");
    let run = Run::on(&fixture)
        .briefly()
        .args(["--exact", CASE, "--export-json", honest.as_str()]);
    let _ = run.finish().expect_code(0);
    let at = place.shared("output.prom").into_string();
    let page = format!("html={at}");
    let loaded = ["--load-baseline", honest.as_str()];
    let outputs: [(&str, Vec<&str>); 10] = [
        ("", [&loaded[..], &["--report", &page]].concat()),
        ("", [&loaded[..], &["--export-json", &at]].concat()),
        ("", [&loaded[..], &["--export-csv", &at]].concat()),
        ("", [&loaded[..], &["--export-markdown", &at]].concat()),
        ("", [&loaded[..], &["--export-junit", &at]].concat()),
        ("report", vec![honest.as_str(), "--output", &at]),
        (
            "compare",
            vec![honest.as_str(), honest.as_str(), "--export-markdown", &at],
        ),
        ("man", vec!["--output-dir", &at]),
        ("archive", vec!["--archive-file", &at, "--offline"]),
        ("probe", vec!["--metrics-file", &at, "--duration", "1s", "--", "true"]),
    ];
    for (verb, arguments) in &outputs {
        // A link to the file, a dangling one, and one to a folder on the way.
        for target in ["file", "missing", ""] {
            if !place.bob_links("output.prom") {
                return;
            }
            fs::remove_file(place.shared("output.prom")).expect("a link");
            symlink(place.victim(target), place.shared("output.prom")).expect("a link");
            lchown(place.shared("output.prom"), Some(BOB), None).expect("root can");
            let below = |text: &&str| match target {
                "" => text.replace(&at, &format!("{at}/new.prom")),
                _ => (*text).to_owned(),
            };
            let arguments: Vec<String> = arguments.iter().map(below).collect();
            let run = match *verb {
                "" => Run::on(&fixture),
                verb => Run::on_verb(verb, &fixture),
            };
            let finished = run.args(arguments.iter().map(String::as_str)).finish();
            place.assert_unchanged(&format!("{verb} {arguments:?} to `{target}`: {}", finished.stderr));
            // `man` finds a file in the place of its folder.
            let says_why = finished.stderr.contains("link of another user");
            assert!(says_why, "{verb} {arguments:?} to `{target}`: {}", finished.stderr);
        }
    }
}

#[test]
fn links_of_this_user_and_pipes_are_written_to() {
    let (place, fixture) = (Place::new(), Fixture::new("tidy"));
    let honest = place.folder.path("honest.jsonl");
    let run = Run::on(&fixture)
        .briefly()
        .args(["--exact", CASE, "--export-json", honest.as_str()]);
    let _ = run.finish().expect_code(0);
    fs::write(place.victim("file"), BEFORE).expect("a file");
    symlink(place.victim("file"), place.shared("own")).expect("a link");
    let own = place.shared("own").into_string();
    for export in ["--export-json", "--export-csv"] {
        fs::write(place.victim("file"), BEFORE).expect("a file");
        let run = Run::on(&fixture).args(["--load-baseline", honest.as_str(), export, &own]);
        let _ = run.finish().expect_code(0);
        assert_ne!(fs::read_to_string(place.victim("file")).expect("it is there"), BEFORE);
    }
    let line = format!(
        "\"$0\" gpubench --load-baseline {honest} --export-csv /dev/stdout | grep -c {CASE}; \
         mkfifo p; cat p > copy & \"$0\" gpubench --load-baseline {honest} --export-csv p >/dev/null; wait; grep -c {CASE} copy"
    );
    let finished = Run::of_shell(&line, &place.shared("")).finish().expect_code(0);
    assert!(finished.stdout.lines().all(|count| count != "0"), "{}", finished.stdout);
}
