//! The processors that CPU-device kernels are compiled for.

/// The processors that CPU-device kernels are compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processors {
    /// This machine's processor, with all its features.
    #[default]
    Here,
    /// Every processor of the level [`PORTABLE`].
    Portable,
}

/// The processor level for kernels that run on other machines. Servers and desktops have had it for
/// a decade.
pub const PORTABLE: &str = if cfg!(target_arch = "aarch64") {
    "armv8-a"
} else {
    "x86-64-v3"
};

impl Processors {
    /// Returns the compiler's option.
    pub(super) fn option(self) -> String {
        format!("-march={}", self.name())
    }

    /// Returns the compilers' name for the processors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Processors::Here => "native",
            Processors::Portable => PORTABLE,
        }
    }

    /// Returns whether this machine can run such code.
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
