//! Required by `links` in the manifest, which keeps two runtime versions out of one build.
fn main() {}
