//! Records that came after their lease had ended. They do not count, and a person can look at them.

use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;

use gpubench_contract::{BenchmarkComplete, Record};
use gpubench_diagnostic::{create_regular, print_warning, printable_line};

/// The most records that are kept, and the most bytes.
const MOST: u64 = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// The late records of a run, one a line in a file.
#[derive(Debug)]
pub(super) struct LateRecords {
    path: Utf8PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    number: u64,
    bytes: usize,
    file: Option<File>,
}

impl LateRecords {
    /// Keeps them in this file, which is made for the first one.
    pub(super) fn kept_in(path: Utf8PathBuf) -> LateRecords {
        LateRecords {
            path,
            state: Mutex::default(),
        }
    }

    /// Keeps a record of an agent.
    pub(super) fn keep(&self, agent: &str, result: BenchmarkComplete) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.number += 1;
        if state.number > MOST {
            return;
        }
        let case = printable_line(&result.label()).to_string();
        let kept = serde_json::to_string(&Record::BenchmarkComplete(Box::new(result)))
            .map_err(std::io::Error::from)
            .and_then(|line| {
                state.bytes += line.len();
                if state.bytes > MOST_BYTES {
                    return Err(std::io::ErrorKind::FileTooLarge.into());
                }
                let file = match &mut state.file {
                    Some(file) => file,
                    none => {
                        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_str().is_empty()) {
                            fs_err::create_dir_all(folder)?;
                        }
                        none.insert(create_regular(&self.path, 0o666)?)
                    }
                };
                writeln!(file, "{line}")
            });
        if state.number > 1 {
            return;
        }
        let path = &self.path;
        let place = match kept {
            Ok(()) => format!("`{path}` has it"),
            Err(error) => format!("it cannot be kept in `{path}`: {error}"),
        };
        print_warning(&format_args!(
            "{agent} sent a result of `{case}` when nobody waited for it, so it does not count; {place}"
        ));
    }

    /// Says how many there were, if there were several.
    pub(super) fn sum_up(&self) {
        let number = self.state.lock().unwrap_or_else(PoisonError::into_inner).number;
        if number > 1 {
            let path = &self.path;
            print_warning(&format_args!(
                "{number} results came too late and do not count; `{path}` has them, up to {MOST} or {} MiB",
                MOST_BYTES >> 20
            ));
        }
    }
}
