//! Another revision of the sources, in a separate git worktree.
//!
//! [`Checkout::make`] resolves a revision, locks its folder in the target directory against other
//! runs and lets git check out the files. [`Checkout::build_options`] returns the options to build
//! it with the candidate's selection of packages. Links around the checkout lead to packages that
//! its manifests name by relative paths outside the repository.

mod error;
mod outside;
mod revision;
mod submodules;
mod surroundings;
mod worktree;

pub use error::CheckoutError;
pub use worktree::Checkout;
