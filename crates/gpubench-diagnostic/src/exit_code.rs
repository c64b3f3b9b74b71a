//! Exit codes of the command. They are a stable interface, and use nextest's numbers where it has
//! the same case.

use std::process;

/// Defines the codes once, for the command and for the reference.
macro_rules! codes {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $( $(#[doc = $line:literal])+ $variant:ident = $number:literal, )+
        }
    ) => {
        $(#[$outer])*
        pub enum $name {
            $( $(#[doc = $line])+ $variant = $number, )+
        }

        impl $name {
            /// Every code, in ascending order.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the number that the process exits with.
            pub fn number(self) -> u8 {
                self as u8
            }

            /// Returns the meaning of the code: its doc comment.
            pub fn describe(self) -> &'static str {
                match self {
                    $( $name::$variant => concat!($($line),+).trim_start(), )+
                }
            }
        }
    };
}

codes! {
    /// How the command ends, as scripts see it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum ExitCode {
        /// Every selected case passed or was skipped.
        Success = 0,
        /// The tool itself failed. Please report it.
        Internal = 1,
        /// The command line, the environment or the configuration is invalid, or a baseline cannot
        /// be used.
        Usage = 2,
        /// A result is worse than its baseline, and nothing failed.
        Regression = 3,
        /// No case was selected, or `cargo gpubench lint` could judge none of the selected ones.
        NothingSelected = 4,
        /// `--fail-on-inconclusive` was set, and too few cases could be judged. Nothing failed or
        /// regressed.
        Inconclusive = 6,
        /// `cargo gpubench lint` found a problem that accepts wrong answers, or rejects right ones.
        ProblemFlawed = 7,
        /// The configuration needs a newer version of the tool.
        RequiredVersion = 92,
        /// A device, a compiler or a sandbox is missing, or every failed case failed only because
        /// no compiler was found.
        SetupMissing = 96,
        /// A case failed, and the reason was not a missing compiler (96) or a kernel that does not
        /// compile (101); or it failed in alternation, or the baseline did that it alternated with;
        /// or it was skipped, with `--fail-on-skip`.
        BenchmarkFailed = 100,
        /// A crate does not compile, or every failed case failed only because a kernel does not
        /// compile.
        BuildFailed = 101,
        /// `cargo metadata` failed, or its output cannot be used.
        MetadataFailed = 102,
        /// An archive could not be made, or cannot be used on this machine.
        ArchiveFailed = 103,
        /// A built crate could not list its benchmarks.
        ListingFailed = 104,
        /// A result could not be written, or a disk was full while kernels were compiled.
        OutputFailed = 110,
        /// A signal interrupted the run.
        Interrupted = 130,
    }
}

impl From<ExitCode> for process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_ascending_order_and_have_a_description() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        for code in ExitCode::ALL {
            let text = code.describe();
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}
