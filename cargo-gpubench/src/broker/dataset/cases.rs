//! The cases of a definition: what its files say of each.

use gpubench::catalog::{DType, Execution, Params, Recording, Reference, Work};
use gpubench::plan::{LibraryArgument, LibraryCall, Plan};

use super::problem::DatasetProblem;
use gpubench_contract::{Cause, ParamValue};
use gpubench_diagnostic::chain;
use gpubench_measure::measurement::CaseFailure;
use gpubench_trace::{Argument, Case, ScalarValue, Workload};

/// A case as its problem describes it.
#[derive(Debug)]
pub(crate) struct Described {
    /// The recording, without launches.
    pub(crate) recording: Recording,
    /// What the author must know of it: for a definition, where its stored tensors begin.
    pub(crate) request: Vec<u8>,
}

impl DatasetProblem {
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
