//! Tasks and results on the disk, so that a killed server loses none and does none twice.
//!
//! ```text
//! lock              locked by the server that uses the folder
//! tasks/ID.json     a task, from before its acknowledgement until its result is there
//! attempts/ID.json  how many times it was begun, from before the tool starts
//! results/ID.json   the answer, until it is dropped
//! work/ID/          files of an attempt
//! ```
//!
//! A file gets its name when its contents are on the disk, and a name is on the disk when it is
//! told to anybody. So a result is complete, and a task with a result is done.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use gpubench_diagnostic::{AtMost, create_regular, open_regular_link_refused, print_warning};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ServeError;
use crate::task::{Answer, Status, Task, TaskId};

/// Most bytes of a file.
const MOST_BYTES: u64 = 64 << 20;

/// Most places in the order of all tasks or results. No server comes near it.
const MOST_PLACES: u64 = 1 << 62;

const TASKS: &str = "tasks";
const ATTEMPTS: &str = "attempts";
const RESULTS: &str = "results";
const WORK: &str = "work";

/// The folder of one server.
#[derive(Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    next_number: Cell<u64>,
    next_result: Cell<u64>,
    _lock: File,
}

/// What an earlier server left.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Tasks without a result, in their order.
    pub(crate) tasks: Vec<(TaskId, Answer)>,
    /// Results, the oldest first.
    pub(crate) results: Vec<TaskId>,
}

impl Spool {
    /// Takes a folder, which is made if it is missing, and finds what is in it. Warns of what is
    /// not the server's, and leaves it there.
    ///
    /// # Errors
    /// The folder is a link, another user can change it, or another server uses it.
    pub(crate) fn open(path: &Path) -> Result<(Spool, Found), ServeError> {
        let failed = |source| ServeError::Spool {
            folder: path.to_owned(),
            source,
        };
        let unfit = |why| {
            Err(ServeError::UnfitSpool {
                folder: path.to_owned(),
                why,
            })
        };
        make_folder(path).map_err(failed)?;
        let there = fs::symlink_metadata(path).map_err(failed)?;
        if !there.is_dir() {
            return unfit("it is a link or no folder");
        }
        if there.uid() != rustix::process::geteuid().as_raw() {
            return unfit("it is another user's");
        }
        if there.mode() & 0o077 != 0 {
            return unfit("other users can look into it");
        }
        let folder = path.canonicalize().map_err(failed)?;
        let lock = create_regular(folder.join("lock"), 0o600).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ServeError::SpoolInUse {
                    folder: path.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        for name in [TASKS, ATTEMPTS, RESULTS, WORK] {
            let below = folder.join(name);
            make_folder(&below).map_err(failed)?;
            if !fs::symlink_metadata(&below).map_err(failed)?.is_dir() {
                return unfit("a folder in it is a link or no folder");
            }
        }
        let spool = Spool {
            folder,
            next_number: Cell::new(0),
            next_result: Cell::new(0),
            _lock: lock,
        };
        let found = spool.find().map_err(failed)?;
        Ok((spool, found))
    }

    fn find(&self) -> io::Result<Found> {
        for entry in fs::read_dir(self.folder.join(WORK))? {
            remove_whatever(&entry?.path())?;
        }
        let mut results: Vec<(u64, TaskId)> = Vec::new();
        for id in self.ids(RESULTS)? {
            let answer: io::Result<Answer> = self.read(RESULTS, id);
            let is_over = |answer: &Answer| matches!(answer.status, Status::Completed | Status::Failed);
            match answer {
                Ok(answer) if is_over(&answer) && answer.task_id == id.to_string() => {
                    match answer.gpubench.result.unwrap_or_default() {
                        number @ 0..MOST_PLACES => results.push((number, id)),
                        _ => self.warn_of_foreign(RESULTS, &format!("{id}.json"), "its place is too high"),
                    }
                }
                Ok(_) => self.warn_of_foreign(RESULTS, &format!("{id}.json"), "it is the result of no task"),
                Err(error) => self.warn_of_foreign(RESULTS, &format!("{id}.json"), &error.to_string()),
            }
        }
        results.sort_unstable();
        self.next_result.set(results.last().map_or(0, |(number, _)| number + 1));
        let done: HashSet<TaskId> = results.iter().map(|(_, id)| *id).collect();
        let mut tasks: Vec<(u64, TaskId, Answer)> = Vec::new();
        for id in self.ids(TASKS)? {
            if done.contains(&id) {
                self.forget_task(id)?;
                continue;
            }
            match self.read::<Task>(TASKS, id) {
                Ok(task) if task.number >= MOST_PLACES => {
                    self.warn_of_foreign(TASKS, &format!("{id}.json"), "its place is too high");
                }
                Ok(task) => {
                    let attempts = self.read(ATTEMPTS, id).unwrap_or_default();
                    tasks.push((task.number, id, Answer::pending(id, &task, attempts)));
                }
                Err(error) => self.warn_of_foreign(TASKS, &format!("{id}.json"), &error.to_string()),
            }
        }
        tasks.sort_unstable_by_key(|(number, id, _)| (*number, *id));
        self.next_number.set(tasks.last().map_or(0, |(number, ..)| number + 1));
        Ok(Found {
            tasks: tasks.into_iter().map(|(_, id, answer)| (id, answer)).collect(),
            results: results.into_iter().map(|(_, id)| id).collect(),
        })
    }

    /// Returns the names in a folder, without what a killed server had not finished writing.
    fn ids(&self, kind: &str) -> io::Result<Vec<TaskId>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(self.folder.join(kind))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let of_task = |suffix: &str| name.strip_suffix(suffix).and_then(|id| id.parse::<TaskId>().ok());
            if let Some(id) = of_task(".json") {
                ids.push(id);
            } else if of_task(".new").is_some() {
                remove_whatever(&entry.path())?;
            } else {
                self.warn_of_foreign(kind, &name, "it is not the server's");
            }
        }
        Ok(ids)
    }

    fn warn_of_foreign(&self, kind: &str, name: &str, why: &str) {
        let path = self.folder.join(kind).join(name);
        print_warning(&format!("`{}` is left alone: {why}", path.display()));
    }

    /// Returns the place of the next task in the order of all.
    pub(crate) fn number(&self) -> u64 {
        self.next_number.replace(self.next_number.get() + 1)
    }

    /// Keeps a new task. It is on the disk when this returns.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn keep_task(&self, id: TaskId, task: &Task) -> io::Result<()> {
        self.write(TASKS, id, task)
    }

    /// # Errors
    /// It cannot be read.
    pub(crate) fn task(&self, id: TaskId) -> io::Result<Task> {
        self.read(TASKS, id)
    }

    /// Notes how many times a task was begun, before it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn begin(&self, id: TaskId, attempts: u32) -> io::Result<()> {
        self.write(ATTEMPTS, id, &attempts)
    }

    /// Keeps the result of a task, which is over from then on.
    ///
    /// # Errors
    /// It cannot be written. The task is as it was.
    pub(crate) fn finish(&self, id: TaskId, answer: &mut Answer) -> io::Result<()> {
        let number = self.next_result.replace(self.next_result.get() + 1);
        answer.gpubench.result = Some(number);
        self.write(RESULTS, id, answer)?;
        // The next server does it otherwise.
        let _ = self.forget_task(id);
        Ok(())
    }

    fn forget_task(&self, id: TaskId) -> io::Result<()> {
        fs::remove_file(self.path(TASKS, id))?;
        match fs::remove_file(self.path(ATTEMPTS, id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the text of an answer.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn result(&self, id: TaskId) -> io::Result<String> {
        read_text(&self.path(RESULTS, id))
    }

    pub(crate) fn drop_result(&self, id: TaskId) {
        if let Err(error) = fs::remove_file(self.path(RESULTS, id)) {
            print_warning(&format!("cannot remove the result of task {id}: {error}"));
        }
    }

    /// Makes an empty folder for an attempt.
    ///
    /// # Errors
    /// The operating system refuses.
    pub(crate) fn work(&self, id: TaskId) -> io::Result<PathBuf> {
        let folder = self.folder.join(WORK).join(id.to_string());
        remove_whatever(&folder)?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    fn path(&self, kind: &str, id: TaskId) -> PathBuf {
        self.folder.join(kind).join(format!("{id}.json"))
    }

    fn write(&self, kind: &str, id: TaskId, value: &impl Serialize) -> io::Result<()> {
        let new = self.folder.join(kind).join(format!("{id}.new"));
        remove_whatever(&new)?;
        let written = (|| {
            let mut file = File::create_new(&new)?;
            file.write_all(&serde_json::to_vec(value)?)?;
            file.sync_all()?;
            fs::rename(&new, self.path(kind, id))?;
            sync_folder(&self.folder.join(kind))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }

    fn read<T: DeserializeOwned>(&self, kind: &str, id: TaskId) -> io::Result<T> {
        Ok(serde_json::from_str(&read_text(&self.path(kind, id))?)?)
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    AtMost::new(open_regular_link_refused(path)?, MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn make_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder(
            path.parent()
                .filter(|parent| *parent != Path::new(""))
                .unwrap_or(Path::new(".")),
        ),
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Removes a file, a link or a folder. Follows no link.
pub(crate) fn remove_whatever(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
