//! Exit codes of the command: part of its machine contract, numbered as nextest numbers them where
//! it has the case.

use std::process;

/// Defines the codes, so that the command and the reference read the same list.
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

            /// The number the process exits with.
            pub fn number(self) -> u8 {
                self as u8
            }

            /// What it means, as its documentation says it.
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
        /// No case was selected.
        NothingSelected = 4,
        /// A comparison could not judge benchmarks, `--fail-on-inconclusive` is set, and nothing
        /// failed or regressed.
        Inconclusive = 6,
        /// The configuration needs a newer version of the tool.
        RequiredVersion = 92,
        /// A device, a compiler or a sandbox is missing, or the only cases that failed have no
        /// compiler.
        SetupMissing = 96,
        /// A case failed for another reason than a missing compiler or a kernel that does not
        /// compile.
        BenchmarkFailed = 100,
        /// A crate does not compile, or the only cases that failed have kernels that do not
        /// compile.
        BuildFailed = 101,
        /// `cargo metadata` failed, or its output cannot be used.
        MetadataFailed = 102,
        /// An archive could not be made, or cannot be used on this machine.
        ArchiveFailed = 103,
        /// A built crate could not list its benchmarks.
        ListingFailed = 104,
        /// A result could not be written.
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
    fn every_code_has_its_number_and_a_sentence() {
        let numbers: Vec<u8> = ExitCode::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        for code in ExitCode::ALL {
            let text = code.describe();
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
        }
    }
}
