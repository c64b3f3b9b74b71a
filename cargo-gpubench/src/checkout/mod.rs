//! Another revision of the sources, checked out beside them in a worktree of its own.
//!
//! [`Checkout::make`] resolves a revision, locks its folder below the target directory against
//! other runs and has git put the files there; [`Checkout::build_options`] are those of a build in
//! it that selects what the candidate's build selects. Round the checkout lie links to what its
//! manifests name by relative paths that lead out of the repository.

mod error;
mod outside;
mod revision;
mod surroundings;
mod worktree;

pub use error::CheckoutError;
pub use worktree::Checkout;
