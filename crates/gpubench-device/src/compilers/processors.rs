//! Which processors host kernels are compiled for.

/// Processors that kernels for the CPU device are compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processors {
    /// This machine's own, with all that it can do.
    #[default]
    Here,
    /// Every one of the [`PORTABLE`].
    Portable,
}

/// The level of processors that kernels compiled for other machines need: what servers and desktops
/// have had for a decade.
pub const PORTABLE: &str = if cfg!(target_arch = "aarch64") {
    "armv8-a"
} else {
    "x86-64-v3"
};

impl Processors {
    /// The compiler's option.
    pub(super) fn option(self) -> String {
        format!("-march={}", self.name())
    }

    /// What compilers call them.
    pub(super) fn name(self) -> &'static str {
        match self {
            Processors::Here => "native",
            Processors::Portable => PORTABLE,
        }
    }

    /// Whether code compiled for them here runs here.
    pub fn include_this_one(self) -> bool {
        match self {
            Processors::Here => true,
            Processors::Portable => is_baseline(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn is_baseline() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("f16c") && has!("fma") && has!("lzcnt") && has!("movbe")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_baseline() -> bool {
    cfg!(target_arch = "aarch64")
}
