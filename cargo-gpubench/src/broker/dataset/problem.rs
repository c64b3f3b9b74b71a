//! A definition with its workloads, as a problem.

use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use gpubench::catalog::Axis;

use super::error::DatasetError;
use super::files::{absolute, document, refuse_others, root_of};
use super::labels::axes_of;
use super::stored::Stored;
use super::tvm_ffi::TvmFfi;
use crate::broker::options::DatasetOptions;
use gpubench_device::FrozenFile;
use gpubench_diagnostic::{Expected as _, Purpose, TemporaryFolder, chain};
use gpubench_measure::measurement::CaseFailure;
use gpubench_trace::{
    Case, Definition, Dialect, ListedWorkload, MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, Workload, read_workloads,
};

/// A definition with its workloads.
#[derive(Debug)]
pub(crate) struct DatasetProblem {
    pub(super) options: DatasetOptions,
    pub(super) definition: Definition,
    pub(super) dialect: Dialect,
    pub(super) workloads: Vec<Workload>,
    /// The axes of the cases: a row of values for each workload.
    pub(super) axes: Axis,
    /// Where the stored tensors of each workload begin in their copy, or why it is no case.
    pub(super) starts: Vec<Result<Vec<u64>, String>>,
    pub(super) stored: FrozenFile,
    /// The programs of the references, and compiled code.
    pub(super) folder: TemporaryFolder,
    /// Once a solution needs it.
    tvm_ffi: OnceLock<Result<TvmFfi, CaseFailure>>,
}

impl DatasetProblem {
    /// Reads the files. A workload that cannot be measured fails alone, in its cases.
    ///
    /// # Errors
    /// A file cannot be read or used, or no workload can be measured.
    pub(crate) fn read(options: &DatasetOptions) -> Result<Arc<DatasetProblem>, DatasetError> {
        let DatasetOptions {
            definition: path,
            workloads,
            ..
        } = options;
        let definition = document(path, "definitions", MOST_DOCUMENT_BYTES, Definition::parse)?;
        let listed = document(workloads, "workloads", MOST_FILE_BYTES, read_workloads)?;
        refuse_others(workloads, &definition, &listed)?;
        let dialect = Dialect::of_definition(&definition);
        let mut stored = Stored::below(&root_of(path));
        let (mut starts, mut first) = (Vec::new(), None);
        for ListedWorkload { line, workload, .. } in &listed {
            starts.push(match Case::new(dialect, &definition, workload, None) {
                Ok(case) => stored.add(&case),
                Err(error) => {
                    let hint = error.hint().map(|hint| format!(" (hint: {hint})"));
                    let why = format!("{}{}", chain(&error), hint.unwrap_or_default());
                    let text = format!("{workloads}:{line}: its workload cannot be measured: {why}");
                    first.get_or_insert((*line, workload.uuid.clone(), Box::new(error)));
                    Err(text)
                }
            });
        }
        if let (Some((line, uuid, source)), true) = (first, starts.iter().all(Result::is_err)) {
            let path = workloads.clone();
            return Err(DatasetError::NoCase {
                path,
                line,
                uuid,
                source,
            });
        }
        let listed: Vec<Workload> = listed.into_iter().map(|listed| listed.workload).collect();
        if let Some(file) = options.written.iter().find(|file| stored.is_in(file)) {
            return Err(DatasetError::OutputIsInput { file: file.clone() });
        }
        // It runs in another folder. A name without a slash is looked up on the `PATH`.
        let python = match options.python.contains('/') {
            true => absolute(Utf8Path::new(&options.python)).into_string(),
            false => options.python.clone(),
        };
        let folder = TemporaryFolder::new(Purpose::Definition).map_err(DatasetError::Temporary)?;
        Ok(Arc::new(DatasetProblem {
            options: DatasetOptions {
                python,
                ..options.clone()
            },
            axes: axes_of(&definition, &listed.iter().collect::<Vec<_>>()),
            definition,
            dialect,
            workloads: listed,
            starts,
            stored: stored.frozen().map_err(DatasetError::Temporary)?,
            folder,
            tvm_ffi: OnceLock::new(),
        }))
    }

    /// Returns where TVM-FFI is. Asks the Python of the reference once.
    ///
    /// # Errors
    /// That does not have it.
    pub(super) fn tvm_ffi(&self) -> Result<&TvmFfi, CaseFailure> {
        let found = self
            .tvm_ffi
            .get_or_init(|| TvmFfi::of(&self.options.python, self.folder.path()));
        found.as_ref().map_err(Clone::clone)
    }

    /// Returns what its files say.
    pub(crate) fn stated(&self) -> (&Definition, &[Workload]) {
        (&self.definition, &self.workloads)
    }

    /// Whether a message begins with a line of the file of workloads.
    pub(crate) fn is_placed(&self, message: &str) -> bool {
        let rest = message.strip_prefix(self.options.workloads.as_str());
        rest.is_some_and(|rest| rest.starts_with(':'))
    }

    /// Returns the name of the definition.
    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }
}
