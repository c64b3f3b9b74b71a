//! Archives: builds that run on another machine without cargo, sources and network.
//!
//! An archive is a `.tar.gz`. Its first entry is a [`Manifest`], which lists every other entry with
//! its size and digest. [`write()`] makes an archive from a build. [`unpack`] unpacks it into a
//! folder and returns the same [`Built`](crate::cdylibs::Built), so that a run treats both alike.

mod ahead;
mod digest;
mod entry_path;
mod error;
mod folder;
mod manifest;
mod needed;
mod read;
#[cfg(test)]
mod tests;
mod typical;
mod unpack;
mod write;

pub use ahead::{AheadCompiler, NoCompiler, fitting, source_digest};
pub use digest::{Digest, Digester};
pub use error::{ArchiveError, Damage};
pub use folder::{ExtractTo, ExtractionFolder};
pub use manifest::{ArchivedFile, ArchivedKernels, ArchivedLibrary, ArchivedOwnLibrary, FORMAT, Manifest};
pub use typical::typical_device;
pub use unpack::{Unpacked, unpack};
pub use write::{Contents, write};
