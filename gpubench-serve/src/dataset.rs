//! The data set: definitions, and the workloads of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use gpubench_diagnostic::{print_warning, read_text_at_most};
use gpubench_trace::{Definition, MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, read_workloads};

use crate::error::ServeError;
use crate::excerpt::excerpt;

/// Most folders inside each other.
const MOST_DEPTH: usize = 8;

/// The definitions of a folder, with their workloads.
#[derive(Debug)]
pub(crate) struct Dataset {
    definitions: BTreeMap<String, Problem>,
}

/// A definition with its workloads.
#[derive(Debug)]
pub(crate) struct Problem {
    /// Absolute path of the definition. Paths of stored tensors begin at the data set's root, which
    /// the tool finds from there.
    pub(crate) path: PathBuf,
    pub(crate) workloads: Vec<ListedLine>,
}

/// A workload.
#[derive(Debug)]
pub(crate) struct ListedLine {
    pub(crate) uuid: String,
    /// The line of its file.
    pub(crate) line: String,
}

impl Dataset {
    /// Reads a folder. Warns of documents that cannot be read, and leaves them out.
    ///
    /// # Errors
    /// The folder cannot be read, has no definition, or has two of one name.
    pub(crate) fn read(folder: &Path) -> Result<Rc<Dataset>, ServeError> {
        let read = |source| ServeError::Read {
            path: folder.to_owned(),
            source,
        };
        let root = folder.canonicalize().map_err(read)?;
        let mut definitions = BTreeMap::new();
        for path in files(&root.join("definitions"), "json") {
            let text = read_text_at_most(&path, MOST_DOCUMENT_BYTES as u64);
            let parsed = text.map_err(|error| error.to_string()).and_then(|text| {
                let definition = Definition::parse(&text);
                definition.map_err(|error| error.to_string())
            });
            let Some(definition) = or_warn(&path, parsed) else {
                continue;
            };
            let problem = Problem {
                path,
                workloads: Vec::new(),
            };
            if definitions.insert(definition.name.clone(), problem).is_some() {
                return Err(ServeError::SameDefinition {
                    folder: root,
                    name: definition.name,
                });
            }
        }
        if definitions.is_empty() {
            return Err(ServeError::NoDefinitions { folder: root });
        }
        for path in files(&root.join("workloads"), "jsonl") {
            let text = read_text_at_most(&path, MOST_FILE_BYTES as u64).map_err(|error| error.to_string());
            let Some(found) = or_warn(&path, text.and_then(|text| listed(&text, &path))) else {
                continue;
            };
            for (definition, workload) in found {
                if let Some(problem) = definitions.get_mut(&definition) {
                    problem.workloads.push(workload);
                }
            }
        }
        for (definition, problem) in &definitions {
            let mut seen = BTreeSet::new();
            if let Some(twice) = problem.workloads.iter().find(|workload| !seen.insert(&workload.uuid)) {
                return Err(ServeError::SameWorkload {
                    definition: definition.clone(),
                    uuid: twice.uuid.clone(),
                });
            }
        }
        Ok(Rc::new(Dataset { definitions }))
    }

    pub(crate) fn problem(&self, definition: &str) -> Option<&Problem> {
        self.definitions.get(definition)
    }
}

impl Problem {
    /// Returns the workloads with these uuids, or all if there are none.
    ///
    /// # Errors
    /// The problem has none at all, or lacks the one that the text names.
    pub(crate) fn selected(&self, uuids: &[String]) -> Result<Vec<&ListedLine>, String> {
        if let Some(unknown) = uuids
            .iter()
            .find(|uuid| !self.workloads.iter().any(|workload| workload.uuid == **uuid))
        {
            return Err(format!(
                "No workloads found: the definition has none with the uuid `{}`",
                excerpt(unknown)
            ));
        }
        if self.workloads.is_empty() {
            return Err("No workloads found: the definition has none".to_owned());
        }
        let is_wanted = |workload: &&ListedLine| uuids.is_empty() || uuids.contains(&workload.uuid);
        Ok(self.workloads.iter().filter(is_wanted).collect())
    }
}

fn listed(text: &str, path: &Path) -> Result<Vec<(String, ListedLine)>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let of_file = path.file_stem().unwrap_or_default().to_string_lossy();
    let found = read_workloads(text).map_err(|error| error.to_string())?;
    let workloads = found.into_iter().map(|found| {
        let workload = ListedLine {
            uuid: found.workload.uuid,
            line: lines[found.line - 1].to_owned(),
        };
        (
            found.definition.unwrap_or_else(|| of_file.clone().into_owned()),
            workload,
        )
    });
    Ok(workloads.collect())
}

fn or_warn<T>(path: &Path, result: Result<T, String>) -> Option<T> {
    result
        .map_err(|why| print_warning(&format!("`{}` is left out: {why}", path.display())))
        .ok()
}

/// Returns the files below a folder whose names end so, in order. Links are followed, as caches of
/// data sets consist of them.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut open = vec![(folder.to_owned(), 0)];
    let mut found = Vec::new();
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() && depth < MOST_DEPTH {
                open.push((path, depth + 1));
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
