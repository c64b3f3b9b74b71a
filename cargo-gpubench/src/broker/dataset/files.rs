//! The files of a data set: what they say, and where they are.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::DatasetError;
use gpubench_diagnostic::read_at_most;
use gpubench_trace::{Definition, ListedWorkload, WrongDocument};

/// Reads a file of at most `most` bytes.
pub(super) fn document<T>(
    path: &Utf8Path,
    what: &'static str,
    most: usize,
    parse: impl Fn(&str) -> Result<T, WrongDocument>,
) -> Result<T, DatasetError> {
    let unreadable = |source| DatasetError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let bytes = read_at_most(path, most as u64).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(std::io::ErrorKind::InvalidData.into()))?;
    parse(&text).map_err(|source| DatasetError::Document {
        path: path.to_owned(),
        what,
        source,
    })
}

/// Refuses workloads of another definition, and two of one name.
pub(super) fn refuse_others(
    path: &Utf8Path,
    definition: &Definition,
    listed: &[ListedWorkload],
) -> Result<(), DatasetError> {
    let path = || path.to_owned();
    if listed.is_empty() {
        return Err(DatasetError::NoWorkloads { path: path() });
    }
    let mut lines = HashMap::new();
    for ListedWorkload {
        line,
        definition: of,
        workload,
    } in listed
    {
        if let Some(of) = of.as_ref().filter(|of| **of != definition.name) {
            return Err(DatasetError::OtherDefinition {
                path: path(),
                line: *line,
                of: of.clone(),
                definition: definition.name.clone(),
            });
        }
        if let Some(first) = lines.insert(&workload.uuid, *line) {
            return Err(DatasetError::SameWorkload {
                path: path(),
                uuid: workload.uuid.clone(),
                first,
                second: *line,
            });
        }
    }
    Ok(())
}

/// Returns the root of the data set: the folder with `definitions`, if the definition is below
/// that, or else the definition's own folder.
pub(super) fn root_of(definition: &Utf8Path) -> Utf8PathBuf {
    let absolute = absolute(definition);
    let of_set = absolute
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name() == Some("definitions"));
    of_set
        .unwrap_or(&absolute)
        .parent()
        .unwrap_or(Utf8Path::new("/"))
        .to_owned()
}

/// Returns a path that does not depend on the current folder.
pub(super) fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    camino::absolute_utf8(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_data_set_has_its_definitions() {
        for (definition, root) in [
            ("/data/definitions/gemm/a.json", "/data"),
            ("/data/definitions/a.json", "/data"),
            ("/data/a.json", "/data"),
        ] {
            assert_eq!(root_of(Utf8Path::new(definition)), root);
        }
    }
}
