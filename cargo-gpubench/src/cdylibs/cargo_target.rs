//! What of a package is built: its library, or an example that is a cdylib.

use std::fmt;

use gpubench_diagnostic::printable_line;

/// A target of a package, in cargo's sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CargoTarget {
    /// The library, which is built as a cdylib whatever its type.
    Library,
    /// An example with `crate-type = ["cdylib"]`. It alone may use dev-dependencies.
    Example {
        /// Its name in the manifest.
        name: String,
    },
}

/// A target and its package, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetName {
    /// The package.
    pub package: String,
    /// The target.
    pub target: CargoTarget,
}

impl fmt::Display for TargetName {
    /// ``package `kernels` `` or ``example `gpu` of package `kernels` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let CargoTarget::Example { name } = &self.target {
            write!(f, "example `{}` of ", printable_line(name))?;
        }
        write!(f, "package `{}`", printable_line(&self.package))
    }
}
