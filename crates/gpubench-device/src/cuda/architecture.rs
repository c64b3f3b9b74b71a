//! GPU architectures, as compilers name them.

use std::fmt;
use std::str::FromStr;

/// An architecture such as `sm_90` or `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    /// Compute capability as `major * 10 + minor`.
    pub capability: u32,
    /// The features that code for it may use.
    pub features: Features,
}

/// The features that code may use, beyond those that later architectures keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Features {
    /// No others.
    #[default]
    Portable,
    /// Family-specific features, as in `sm_100f`.
    Family,
    /// Architecture-specific features, as in `sm_90a`.
    Specific,
}

/// Why an architecture cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableArchitecture {
    /// The text does not name an architecture.
    #[error("`{0}` is not a GPU architecture (hint: write `sm_90`, `9.0` or `sm_90a`)")]
    Invalid(String),
    /// GPUs of this architecture are too old.
    #[error("`{0}` GPUs are not supported (hint: the oldest supported compute capability is 7.5, `sm_75`)")]
    TooOld(Architecture),
    /// No known GPU has this architecture.
    #[error("no GPU has architecture `{0}` (hint: compute capability 9.0 is `sm_90`, 12.0 is `sm_120`)")]
    Unheard(Architecture),
}

impl Architecture {
    /// The lowest supported compute capability, as `major * 10 + minor`.
    pub const LEAST_CAPABILITY: u32 = 75;

    /// A compute capability out of reach for years: major versions have grown by less than one a
    /// year.
    const UNKNOWN_CAPABILITY: u32 = 200;

    /// Parses the architecture of a GPU that this tool supports, or may support one day.
    ///
    /// # Errors
    /// When the text does not name an architecture, or its GPUs are too old or cannot exist.
    pub fn of_a_gpu(text: &str) -> Result<Architecture, UnusableArchitecture> {
        let architecture: Architecture = text.parse()?;
        match architecture.capability {
            ..Self::LEAST_CAPABILITY => Err(UnusableArchitecture::TooOld(architecture)),
            Self::UNKNOWN_CAPABILITY.. => Err(UnusableArchitecture::Unheard(architecture)),
            _ => Ok(architecture),
        }
    }

    /// Returns the architecture of a compute capability, `major * 10 + minor`, without specific
    /// features.
    pub const fn of_capability(capability: u32) -> Architecture {
        Architecture {
            capability,
            features: Features::Portable,
        }
    }

    /// Returns the same architecture with other features.
    #[must_use]
    pub const fn with_features(self, features: Features) -> Architecture {
        Architecture { features, ..self }
    }

    /// Returns the name of its PTX: `compute_90`.
    pub fn virtual_name(self) -> String {
        format!("compute_{}{}", self.capability, self.suffix())
    }

    /// Returns whether machine code for this architecture runs on a device.
    pub const fn machine_code_runs_on(self, device: Architecture) -> bool {
        let same_major = self.capability / 10 == device.capability / 10;
        match self.features {
            Features::Specific => self.capability == device.capability,
            Features::Portable | Features::Family => same_major && self.capability <= device.capability,
        }
    }

    /// Returns whether the driver can compile PTX for this architecture on a device.
    pub const fn ptx_runs_on(self, device: Architecture) -> bool {
        match self.features {
            Features::Portable => self.capability <= device.capability,
            Features::Family | Features::Specific => self.machine_code_runs_on(device),
        }
    }

    const fn suffix(self) -> &'static str {
        match self.features {
            Features::Portable => "",
            Features::Family => "f",
            Features::Specific => "a",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.capability, self.suffix())
    }
}

impl FromStr for Architecture {
    type Err = UnusableArchitecture;

    /// Parses `sm_90`, `compute_90`, `90` and `9.0`, each with an optional suffix `a` or `f`.
    fn from_str(text: &str) -> Result<Architecture, UnusableArchitecture> {
        let invalid = || UnusableArchitecture::Invalid(text.to_owned());
        let named = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"));
        let rest = named.unwrap_or(text);
        let (number, features) = match rest.as_bytes().last() {
            Some(b'a') => (&rest[..rest.len() - 1], Features::Specific),
            Some(b'f') => (&rest[..rest.len() - 1], Features::Family),
            _ => (rest, Features::Portable),
        };
        let digits = |text: &str| {
            if text.bytes().all(|byte| byte.is_ascii_digit()) {
                text.parse::<u32>().ok()
            } else {
                None
            }
        };
        let capability = match number.split_once('.') {
            Some((major, minor)) if named.is_none() && minor.len() == 1 => digits(major)
                .zip(digits(minor))
                .and_then(|(major, minor)| major.checked_mul(10)?.checked_add(minor)),
            Some(_) => None,
            None => digits(number),
        };
        let known = capability.filter(|capability| (20..1000).contains(capability));
        Ok(Architecture {
            capability: known.ok_or_else(invalid)?,
            features,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn architecture(text: &str) -> Architecture {
        text.parse().expect("an architecture")
    }

    #[test]
    fn architectures_are_parsed_in_all_notations() {
        for text in ["sm_90", "compute_90", "90", "9.0"] {
            assert_eq!(architecture(text), Architecture::of_capability(90), "{text}");
        }
        for text in ["sm_90a", "90a", "9.0a"] {
            assert_eq!(architecture(text).to_string(), "sm_90a", "{text}");
        }
        assert_eq!(architecture("12.1").to_string(), "sm_121");
        assert_eq!(architecture("sm_100f").virtual_name(), "compute_100f");
    }

    #[test]
    fn other_text_is_refused_with_a_hint() {
        for text in [
            "",
            "a",
            "sm_",
            "sm_9.0",
            "9.",
            "9.00",
            "+90",
            "sm_90b",
            "hopper",
            "9",
            "99999999999",
        ] {
            assert!(text.parse::<Architecture>().is_err(), "{text}");
        }
        insta::assert_snapshot!(
            "hopper".parse::<Architecture>().expect_err("no architecture"),
            @"`hopper` is not a GPU architecture (hint: write `sm_90`, `9.0` or `sm_90a`)"
        );
    }

    #[test]
    fn architectures_too_old_or_unknown_are_refused() {
        let refused = |text: &str| Architecture::of_a_gpu(text).expect_err("a refusal").to_string();
        assert_eq!(
            refused("sm_999"),
            "no GPU has architecture `sm_999` (hint: compute capability 9.0 is `sm_90`, 12.0 is `sm_120`)"
        );
        assert_eq!(
            refused("7.0"),
            "`sm_70` GPUs are not supported (hint: the oldest supported compute capability is 7.5, `sm_75`)"
        );
        assert!(refused("sm_12").starts_with("`sm_12` is not a GPU architecture"));
        for text in ["sm_75", "9.0", "sm_100f", "sm_121", "sm_130"] {
            assert!(Architecture::of_a_gpu(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn machine_code_runs_within_its_major_version_and_ptx_on_all_later_ones() {
        let device = architecture("sm_86");
        for (code, machine, ptx) in [
            ("sm_80", true, true),
            ("sm_86", true, true),
            ("sm_89", false, false),
            ("sm_75", false, true),
            ("sm_86a", true, true),
            ("sm_80a", false, false),
            ("sm_90", false, false),
        ] {
            let code = architecture(code);
            assert_eq!(code.machine_code_runs_on(device), machine, "{code}");
            assert_eq!(code.ptx_runs_on(device), ptx, "{code}");
        }
    }
}
