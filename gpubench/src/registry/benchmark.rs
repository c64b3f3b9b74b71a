//! The registration of a `#[gpubench]` function.

use super::{ProblemDefinition, ProblemStatement, path};
use crate::abi::guard;
use crate::axis::PartOfGroup;
use crate::catalog::{
    ALLOWED, Axis, AxisValue, Benchmark, DeviceKind, Execution, Params, Requirement, Selection, StatedProblem,
};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::library::Library;
use crate::plan::launcher::Launcher;

/// A benchmark and the problem that it solves.
#[doc(hidden)]
pub struct BenchmarkEntry {
    /// `module_path!` of the function.
    pub module: &'static str,
    /// Folder that it was built from; see `origin.rs`.
    pub origin: &'static str,
    /// Whether its crate is built as a harness of `cargo test` or `cargo bench`.
    pub in_test_harness: bool,
    /// The function's name, or the `name` option.
    pub name: &'static str,
    /// File of the attribute.
    pub file: &'static str,
    /// Line of the attribute.
    pub line: u32,
    pub selection: Selection,
    pub requirements: &'static [Requirement],
    /// Fails if the axes do not meet this benchmark's own `requires(if = ..)`.
    pub condition: fn(&Params) -> Result<()>,
    /// Names of the axes that this benchmark adds to the problem's.
    pub axis_names: &'static [&'static str],
    /// Axes that this benchmark adds to the problem's.
    pub axes: fn() -> Vec<Axis>,
    /// Axes that replace the problem's on one kind of device.
    pub device_axes: fn() -> Vec<(DeviceKind, Vec<Axis>)>,
    /// The types of every type parameter that it is made for, by name.
    pub types: &'static [(&'static str, &'static [&'static str])],
    /// Settings of its cases: keys and values.
    pub settings: &'static [(&'static str, &'static str)],
    pub problem: &'static ProblemDefinition,
    pub body: Body,
}

/// Calls the function, with arguments from the case's axes and tensors.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Body {
    /// In the author process, where it records launches.
    Sealed(fn(&Params, &mut Launcher) -> Result<()>),
    /// In the worker, where it launches kernels itself.
    Hosted(fn(&Params, &mut Host) -> Result<()>),
    /// As `Hosted`, with calls that may wait for the device.
    HostedSync(fn(&Params, &mut Host) -> Result<()>),
    /// In the author process, where it declares the call of a function in the library at `path`.
    Library {
        path: &'static str,
        execution: Execution,
        declare: fn(&Params, &mut Library) -> Result<()>,
    },
    /// None: the entry is a problem, and submissions bring the kernels.
    Submission {
        /// What its author says of the problem.
        statement: &'static ProblemStatement,
    },
}

/// Axes that replace those of the same names on one kind of device.
type DeviceAxes = Vec<(DeviceKind, Vec<Axis>)>;

/// All axes, the names of the benchmark's own, and the axes of devices.
type ListedAxes = (Vec<Axis>, Vec<String>, DeviceAxes);

impl BenchmarkEntry {
    /// Returns the library that declares it.
    pub(super) fn library(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }

    /// Returns whether it is a problem without code.
    pub(super) const fn is_problem(&self) -> bool {
        matches!(self.body, Body::Submission { .. })
    }

    /// Returns its path in the library.
    pub(crate) fn path(&self) -> String {
        path(self.module, self.name)
    }

    /// Returns whether the problem or the benchmark has an axis of this name.
    pub(super) fn has_axis(&self, name: &str) -> bool {
        let own = self.axis_names.iter();
        self.problem.axis_names.iter().chain(own).any(|known| *known == name)
    }

    /// Returns all axes, then the names of those that the benchmark adds, then the axes of devices.
    ///
    /// # Errors
    /// An expression of an axis panics, or a device has values for a part of a group only.
    fn listed_axes(&self) -> Result<ListedAxes> {
        let list = || {
            let mut axes = (self.problem.axes)();
            axes.extend((self.axes)());
            let of_devices = merge((self.problem.device_axes)(), (self.device_axes)())?;
            for (_, others) in &of_devices {
                Axis::replaced(axes.clone(), others)?;
            }
            if let Body::Submission { statement } = self.body {
                statement.check(&axes)?;
            }
            let own = self.axis_names.iter().map(|name| (*name).to_owned()).collect();
            Ok((axes, own, of_devices))
        };
        let listed = guard(list).map_err(|panic| panic.to_string());
        let listed = listed.and_then(|listed| listed.map_err(|part: PartOfGroup| part.to_string()));
        let listed = listed.and_then(|listed| match self.foreign_type(&listed.0) {
            None => Ok(listed),
            Some((parameter, ty)) => Err(format!("the problem is not for `{parameter}={ty}`")),
        });
        listed.map_err(|reason| {
            Error::new(format!(
                "the axes of `{}` at {}:{} cannot be listed: {reason}",
                self.path(),
                self.file,
                self.line
            ))
        })
    }

    /// Returns a type parameter with a type that the problem's axis of that name does not have. Its
    /// instance would never run.
    fn foreign_type(&self, axes: &[Axis]) -> Option<(&'static str, &'static str)> {
        let parameters = self.types.iter();
        parameters
            .flat_map(|(parameter, types)| types.iter().map(move |ty| (*parameter, *ty)))
            .find(|(parameter, ty)| {
                let axis = axes.iter().find(|axis| axis.names == [*parameter]);
                let is_it = |value: &[AxisValue]| value == [AxisValue::Text((*ty).to_owned())];
                axis.is_some_and(|axis| !axis.values.iter().any(|value| is_it(value)))
            })
    }

    /// Checks that the axes of a case without arguments can be listed.
    ///
    /// # Errors
    /// An expression of an axis panics.
    pub(super) fn check_axes(&self, params: &Params) -> Result<()> {
        if params.is_empty() {
            self.listed_axes()?;
        }
        Ok(())
    }

    /// Describes the problem, if it is one.
    pub(super) fn describe_problem(&self) -> Option<StatedProblem> {
        match self.body {
            Body::Submission { statement } => Some(statement.describe(self.describe(), self.problem)),
            Body::Sealed(_) | Body::Hosted(_) | Body::HostedSync(_) | Body::Library { .. } => None,
        }
    }

    /// Describes the benchmark. One whose axes cannot be listed has none, and its only case fails.
    pub(super) fn describe(&self) -> Benchmark {
        let (axes, own_axes, device_axes) = self.listed_axes().unwrap_or_default();
        let mut requirements = self.problem.requirements.to_vec();
        requirements.extend(
            self.requirements
                .iter()
                .filter(|own| !self.problem.requirements.contains(own))
                .cloned(),
        );
        let settings = self.settings.iter();
        let settings = settings.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let allowed = self.problem.allowed.join(",");
        let allowed = (!allowed.is_empty()).then(|| (ALLOWED.to_owned(), allowed));
        Benchmark {
            library: self.library().to_owned(),
            path: self.path(),
            problem: self.problem.path(),
            file: self.file.to_owned(),
            line: self.line,
            selection: self.selection,
            requirements,
            axes,
            own_axes,
            counters: self.problem.counters.iter().map(|name| (*name).to_owned()).collect(),
            device_axes,
            settings: settings.chain(allowed).collect(),
            own_library: match self.body {
                Body::Library { path, .. } => Some(path.to_owned()),
                Body::Sealed(_) | Body::Hosted(_) | Body::HostedSync(_) | Body::Submission { .. } => None,
            },
        }
    }
}

/// Returns the device-specific axes. The benchmark's values override the problem's for the same
/// device and axis.
fn merge(mut merged: DeviceAxes, own: DeviceAxes) -> Result<DeviceAxes, PartOfGroup> {
    for (kind, axes) in own {
        match merged.iter_mut().find(|(known, _)| *known == kind) {
            None => merged.push((kind, axes)),
            Some((_, known)) => *known = Axis::replaced(std::mem::take(known), &axes)?,
        }
    }
    Ok(merged)
}
