//! Probes the functions of a file. It works in any thread.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gpubench_bpf::elf::{Function, LibraryFile};
use gpubench_bpf::{BpfError, Link, Within};

use super::Attachment;
use super::libraries::{self, Inode};
use crate::cuda::{Coverage, Functions, Plan, Programs, Recognised, Traps, is_observed};
use crate::system;

/// Probes files, each of them once.
#[derive(Debug)]
pub(super) struct Prober {
    programs: Programs,
    attachment: Attachment,
    within: Within,
    functions: Mutex<Functions>,
    /// Files that were looked at, also while they are.
    claimed: Mutex<BTreeSet<Inode>>,
}

/// A file that was looked at.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) inode: Inode,
    /// `None` if it was looked at before, or another thread does it now.
    pub(super) new: Option<Probed>,
}

/// A file that is named like the driver.
#[derive(Debug)]
pub(super) struct Probed {
    pub(super) path: PathBuf,
    pub(super) outcome: Result<Attached, BpfError>,
}

/// Probes that stay as long as this does.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) recognised: Recognised,
    pub(super) traps: Traps,
    pub(super) within: Within,
    pub(super) links: Vec<Link>,
}

impl Prober {
    pub(super) fn new(programs: Programs, attachment: Attachment, within: Within) -> Prober {
        Prober {
            programs,
            attachment,
            within,
            functions: Mutex::default(),
            claimed: Mutex::default(),
        }
    }

    /// Returns the functions of all files. Nothing that takes time happens while others have them.
    pub(super) fn functions(&self) -> MutexGuard<'_, Functions> {
        locked(&self.functions)
    }

    /// Probes a file that was not looked at yet, unless there is none.
    pub(super) fn look_at(&self, path: &Path) -> Option<Looked> {
        let opened = LibraryFile::open(path);
        let inode = match &opened {
            Ok(file) => file.inode().ok()?,
            Err(_) => libraries::inode(path)?,
        };
        if !locked(&self.claimed).insert(inode) {
            return Some(Looked { inode, new: None });
        }
        let outcome = opened.and_then(|file| {
            let library = file.library(is_observed)?;
            self.attach(&file.lasting_path(), &library.functions)
        });
        let path = path.to_owned();
        Some(Looked {
            inode,
            new: Some(Probed { path, outcome }),
        })
    }

    /// Lets a file be looked at again.
    pub(super) fn forget(&self, inode: Inode) {
        locked(&self.claimed).remove(&inode);
    }

    fn attach(&self, path: &Path, library: &[Function]) -> Result<Attached, BpfError> {
        let coverage = match self.attachment {
            Attachment::AtOnce => Coverage::All,
            Attachment::OneByOne => Coverage::Roles,
        };
        let within = match self.within {
            Within::Process(pid) if system::first_thread_has_ended(pid) => Within::AllProcesses,
            within => within,
        };
        let places = Plan::new(library, &mut self.functions(), coverage).places();
        let traps = Traps::new(&places, library);
        let mut links = Vec::new();
        for (place, points) in places {
            let program = self.programs.at(place);
            match self.attachment {
                Attachment::AtOnce => {
                    links.push(Link::uprobe_multi(program, path, &points, place.moment(), within)?);
                }
                Attachment::OneByOne => {
                    for point in points {
                        links.push(Link::uprobe(program, path, point, place.moment())?);
                    }
                }
            }
        }
        Ok(Attached {
            recognised: Recognised::new(library),
            traps,
            within,
            links,
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
