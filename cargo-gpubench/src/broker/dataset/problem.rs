//! A definition with its workloads, as a problem.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::{
    Axis, Benchmark, Catalog, DType, Execution, HiddenCases, Params, Recording, Reference, ReferenceKind, Score,
    Selection, StatedProblem, SubmissionLimits, Work,
};
use gpubench::plan::{LibraryArgument, LibraryCall, Plan};

use super::error::DatasetError;
use super::labels::axes_of;
use super::stored::Stored;
use super::tvm_ffi::TvmFfi;
use crate::broker::options::DatasetOptions;
use crate::cdylibs::{Built, BuiltLibrary, CargoTarget, Coverage, LibraryForm, OwnLibraries};
use crate::config::CaseSettings;
use gpubench_contract::{Cause, ParamValue};
use gpubench_device::FrozenFile;
use gpubench_diagnostic::{Expected as _, Purpose, TemporaryFolder, chain, read_at_most};
use gpubench_measure::measurement::CaseFailure;
use gpubench_trace::{
    Argument, Case, Definition, Dialect, ListedWorkload, MOST_DOCUMENT_BYTES, MOST_FILE_BYTES, ScalarValue, Workload,
    WrongDocument, read_workloads,
};

/// What the catalog calls the library of a definition.
const LIBRARY: &str = "definition";

/// A definition with its workloads.
#[derive(Debug)]
pub(crate) struct DatasetProblem {
    options: DatasetOptions,
    definition: Definition,
    pub(super) dialect: Dialect,
    workloads: Vec<Workload>,
    /// The axes of the cases: a row of values for each workload.
    axes: Axis,
    /// Where the stored tensors of each workload begin in their copy, or why it is no case.
    starts: Vec<Result<Vec<u64>, String>>,
    stored: FrozenFile,
    /// The programs of the references, and compiled code.
    folder: TemporaryFolder,
    /// Once a solution needs it.
    tvm_ffi: OnceLock<Result<TvmFfi, CaseFailure>>,
}

/// A case as its problem describes it.
#[derive(Debug)]
pub(crate) struct Described {
    /// The recording, without launches.
    pub(crate) recording: Recording,
    /// What the author must know of it: for a definition, where its stored tensors begin.
    pub(crate) request: Vec<u8>,
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

    /// Returns the problem as a library that no cargo has built.
    pub(crate) fn built(&self) -> Built {
        let folder = Utf8Path::from_path(self.folder.path()).unwrap_or(Utf8Path::new("/"));
        let library = BuiltLibrary {
            package: self.definition.name.clone(),
            target: CargoTarget::Library,
            crate_name: LIBRARY.to_owned(),
            version: String::new(),
            root: folder.to_owned(),
            library: self.options.definition.clone(),
            form: LibraryForm::StoredTensors,
            code: vec![self.stored.clone()],
            library_path: Vec::new(),
            own_libraries: OwnLibraries::OnDisk,
            settings: CaseSettings::default(),
        };
        Built {
            libraries: vec![library],
            coverage: Coverage::Part,
            target_directory: folder.to_owned(),
            target: String::new(),
            runtime_version: env!("CARGO_PKG_VERSION").to_owned(),
            notices: Vec::new(),
        }
    }

    /// Returns the catalog of that library.
    pub(crate) fn catalog(&self) -> Catalog {
        let outline = Benchmark {
            library: LIBRARY.to_owned(),
            path: self.definition.name.clone(),
            problem: self.definition.name.clone(),
            file: self.options.definition.to_string(),
            line: 1,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes: vec![self.axes.clone()],
            own_axes: Vec::new(),
            counters: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        };
        let problem = StatedProblem {
            outline,
            statement: self.definition.description.clone().unwrap_or_default(),
            signature: Vec::new(),
            work: Vec::new(),
            hidden: HiddenCases::default(),
            score: Score::default(),
            limits: SubmissionLimits::default(),
            reference: ReferenceKind::Command,
            device_references: Vec::new(),
        };
        Catalog {
            problems: vec![problem],
            ..Catalog::default()
        }
    }

    /// Returns the workload of a result, by the values of its axes.
    pub(super) fn workload(&self, params: &gpubench_contract::Params) -> Option<&Workload> {
        let (_, ParamValue::Text(label)) = params.0.first()? else {
            return None;
        };
        let is_it =
            |row: &&Vec<_>| matches!(row.first(), Some(gpubench::catalog::AxisValue::Text(text)) if text == label);
        let row = self.axes.values.iter().position(|row| is_it(&row))?;
        self.workloads.get(row)
    }

    /// Returns the case with these values of its axes, and its position.
    fn case(&self, params: &Params) -> Result<(usize, Case), CaseFailure> {
        let values = || params.iter().map(|(_, value)| value);
        let row = self.axes.values.iter().position(|row| values().eq(row));
        let missing = || CaseFailure::error(Cause::Internal, "no workload has the axes of the case");
        let row = row.ok_or_else(missing)?;
        let unusable = |why: &str| CaseFailure::error(Cause::GeneratorFailed, why);
        if let Err(why) = &self.starts[row] {
            return Err(unusable(why));
        }
        let case = Case::new(self.dialect, &self.definition, &self.workloads[row], None);
        case.map(|case| (row, case)).map_err(|error| unusable(&chain(&error)))
    }

    /// Returns what the files say about a case.
    ///
    /// # Errors
    /// Its workload cannot be measured, or its reference cannot be written.
    pub(crate) fn record(&self, params: &Params) -> Result<Described, CaseFailure> {
        let (row, case) = self.case(params)?;
        let failed = |error: std::io::Error| {
            CaseFailure::error(
                Cause::ReferenceFailed,
                format!("its reference cannot be written: {error}"),
            )
        };
        let folder = self.folder.path().join("reference");
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let call = format!("call-{row}.json");
        case.reference.write(&folder, &call).map_err(failed)?;
        let provider = case
            .reference
            .provider(&self.options.python, &folder.to_string_lossy(), &call);
        let starts = self.starts[row].as_deref().unwrap_or_default();
        Ok(Described {
            recording: Recording {
                tensors: case.tensors,
                work: Work::default(),
                plan: Plan::default(),
                reference: Reference::Provider(Box::new(provider)),
                execution: Execution::Sealed,
                call: None,
            },
            request: starts.iter().flat_map(|start| start.to_le_bytes()).collect(),
        })
    }

    /// Returns all axes and scalars of a case, for submissions that name them.
    ///
    /// # Errors
    /// Its workload cannot be measured.
    pub(crate) fn params(&self, params: &Params) -> Result<Params, CaseFailure> {
        self.case(params).map(|(_, case)| case.params)
    }

    /// Returns the call of a solution's function: its inputs, then its outputs, in the order of the
    /// definition.
    ///
    /// # Errors
    /// Its workload cannot be measured.
    pub(crate) fn call(&self, params: &Params, function: &str, place: String) -> Result<LibraryCall, CaseFailure> {
        let (_, case) = self.case(params)?;
        let arguments = case.arguments.iter().map(|argument| match argument {
            Argument::Tensor(position) => LibraryArgument::Buffer {
                tensor: *position as u32,
                start: 0,
                elements: case.tensors[*position].elements(),
            },
            Argument::Scalar { value, .. } => number(*value),
        });
        Ok(LibraryCall {
            function: function.to_owned(),
            arguments: arguments.collect(),
            place,
        })
    }
}

/// Returns a scalar as TVM-FFI has numbers: an integer or a `double`.
fn number(value: ScalarValue) -> LibraryArgument {
    let (dtype, bits) = match value {
        ScalarValue::Bool(value) => (DType::U8, u64::from(value)),
        ScalarValue::Int(value) => (DType::I64, value as u64),
        ScalarValue::Float(value) => (DType::F64, value.to_bits()),
    };
    LibraryArgument::Number { dtype, bits }
}

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
fn refuse_others(path: &Utf8Path, definition: &Definition, listed: &[ListedWorkload]) -> Result<(), DatasetError> {
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
fn root_of(definition: &Utf8Path) -> Utf8PathBuf {
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

fn absolute(path: &Utf8Path) -> Utf8PathBuf {
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
