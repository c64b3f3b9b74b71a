//! Archives: what was built on one machine, to be run on another that has no cargo, no sources and
//! no network.
//!
//! An archive is a `.tar.gz`. Its first entry is a [`Manifest`], which lists every other entry with
//! its size and its digest. [`write()`] makes one from what a build yields; [`unpack`] puts one
//! into a folder and gives back the same [`Built`](crate::build::Built), so that a run cannot tell
//! the two apart.

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
pub use digest::Digest;
pub use error::{ArchiveError, Damage};
pub use folder::{ExtractTo, ExtractionFolder};
pub use manifest::{ArchivedFile, ArchivedKernels, ArchivedLibrary, FORMAT, Manifest};
pub use typical::typical_device;
pub use unpack::{Unpacked, unpack};
pub use write::{Contents, write};
