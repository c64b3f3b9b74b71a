//! Present because `links` in the manifest, which keeps two runtime versions out of one build,
//! needs it.
fn main() {}
