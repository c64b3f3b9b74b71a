//! How far kernels of the CPU device are optimised.

/// How far kernels of the CPU device are optimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optimization {
    /// As far as the compiler can. The library names the line of each instruction, which does not
    /// change the code.
    #[default]
    Full,
    /// Not at all, with what a debugger needs: each line of a kernel can be stopped at, and each
    /// variable has its value.
    ForDebugger,
}

impl Optimization {
    /// Returns the compiler's options.
    pub(super) fn options(self) -> &'static [&'static str] {
        match self {
            Optimization::Full => &["-O3", "-g1"],
            Optimization::ForDebugger => &["-O0", "-g"],
        }
    }
}
