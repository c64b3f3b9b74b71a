//! A `#[gpubench]` function as the attribute registers it.

use super::{ProblemDefinition, path};
use crate::catalog::{Axis, Benchmark, DeviceKind, Params, Requirement, Selection};
use crate::error::Result;
use crate::host::Host;
use crate::plan::launcher::Launcher;

/// A benchmark: its own part, and the problem it solves.
#[doc(hidden)]
pub struct BenchmarkEntry {
    /// `module_path!` of the function.
    pub module: &'static str,
    /// From which folder it was built; see `origin.rs`.
    pub origin: &'static str,
    /// The function's name, or the one given to the attribute.
    pub name: &'static str,
    /// Where the attribute is.
    pub file: &'static str,
    /// Where the attribute is.
    pub line: u32,
    pub selection: Selection,
    pub requirements: &'static [Requirement],
    /// Fails where the axes are not what this implementation requires beyond the problem.
    pub condition: fn(&Params) -> Result<()>,
    /// Axes of this implementation in addition to the problem's.
    pub axes: fn() -> Vec<Axis>,
    /// Axes that replace the problem's on a kind of device.
    pub device_axes: fn() -> Vec<(DeviceKind, Vec<Axis>)>,
    pub problem: &'static ProblemDefinition,
    pub body: Body,
}

/// Calls the function with its parameters taken from the case and the tensors.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Body {
    /// In the author's process, where it describes its launches.
    Sealed(fn(&Params, &mut Launcher) -> Result<()>),
    /// In the worker's process, where it launches by itself.
    Hosted(fn(&Params, &mut Host) -> Result<()>),
}

impl BenchmarkEntry {
    /// The library it is declared in.
    pub(super) fn library(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }

    /// Its path in the library.
    pub(crate) fn path(&self) -> String {
        path(self.module, self.name)
    }

    /// Its axes: the problem's, then its own.
    pub(super) fn all_axes(&self) -> Vec<Axis> {
        let mut axes = (self.problem.axes)();
        axes.extend((self.axes)());
        axes
    }

    pub(super) fn describe(&self) -> Benchmark {
        let mut requirements = self.problem.requirements.to_vec();
        requirements.extend(
            self.requirements
                .iter()
                .filter(|own| !self.problem.requirements.contains(own))
                .cloned(),
        );
        Benchmark {
            library: self.library().to_owned(),
            path: self.path(),
            problem: self.problem.path(),
            file: self.file.to_owned(),
            line: self.line,
            selection: self.selection,
            requirements,
            axes: self.all_axes(),
            device_axes: merge((self.problem.device_axes)(), (self.device_axes)()),
        }
    }
}

/// The problem's replacements, with the benchmark's own in place of those for the same device and
/// axis.
fn merge(mut merged: Vec<(DeviceKind, Vec<Axis>)>, own: Vec<(DeviceKind, Vec<Axis>)>) -> Vec<(DeviceKind, Vec<Axis>)> {
    for (kind, axes) in own {
        match merged.iter_mut().find(|(known, _)| *known == kind) {
            None => merged.push((kind, axes)),
            Some((_, known)) => {
                known.retain(|axis| axes.iter().all(|own| own.name != axis.name));
                known.extend(axes);
            }
        }
    }
    merged
}
