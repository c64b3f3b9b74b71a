//! Parsers for values of options, where the value's own type has none.

use camino::Utf8PathBuf;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::broker::options::DeviceChoice;
use gpubench_contract::Flush;
use gpubench_device::{Backend, Ordinals, OrdinalsError};

/// Checks cargo's grammar for jobs: a positive number, a negative number that counts down from the
/// number of processors, or `default`.
pub(super) fn parse_jobs(text: &str) -> Result<String, String> {
    let is_number = text.parse::<i32>().is_ok_and(|jobs| jobs != 0);
    if is_number || text == "default" {
        Ok(text.to_owned())
    } else {
        Err("must be a number other than 0, or `default`".to_owned())
    }
}

/// Checks the name of a cargo target that is also a file's name.
pub(super) fn target_name(text: &str) -> Result<String, String> {
    let has_letter_first = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if has_letter_first && is_name {
        Ok(text.to_owned())
    } else {
        Err("must be letters, digits, `_` and `-`, and begin with a letter".to_owned())
    }
}

/// Reads the path of a file that is written and read again, which standard output cannot be.
pub(super) fn file_to_go_on_with(text: &str) -> Result<Utf8PathBuf, &'static str> {
    match text {
        "" | "-" => Err("must be a file: it is read again when the command goes on"),
        path => Ok(path.into()),
    }
}

/// Returns the parser of `--flush`.
pub(super) fn flush_kinds() -> impl TypedValueParser<Value = Flush> {
    PossibleValuesParser::new(["read", "write"]).map(|kind| match &*kind {
        "write" => Flush::Write,
        _ => Flush::Read,
    })
}

/// An invalid value of `--device`.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeviceError {
    /// There is no such kind, or its devices have no numbers.
    #[error("unknown device `{0}`; use `auto`, `cpu`, `cuda`, `cuda:NUMBER`, `cuda:0,2`, `cuda:0-3` or `cuda:all`")]
    Unknown(String),
    /// The list of numbers cannot be read. The reason is in the message, because clap shows only
    /// that.
    #[error("in `{text}`, {reason}")]
    List {
        /// The whole value.
        text: String,
        /// What is wrong.
        reason: OrdinalsError,
    },
}

/// Reads a kind of device and which of its devices are meant.
pub(super) fn parse_device(text: &str) -> Result<(DeviceChoice, Ordinals), DeviceError> {
    if text == "auto" {
        return Ok((DeviceChoice::Auto, Ordinals::default()));
    }
    let named = Backend::parse(text).map_err(|reason| DeviceError::List {
        text: text.to_owned(),
        reason,
    })?;
    let (backend, ordinals) = named.ok_or_else(|| DeviceError::Unknown(text.to_owned()))?;
    Ok((DeviceChoice::Kind(backend.kind), ordinals))
}

/// Reads a device like [`parse_device`], and offers the kinds for completion.
#[derive(Clone, Debug)]
pub(super) struct DeviceParser;

impl TypedValueParser for DeviceParser {
    type Value = (DeviceChoice, Ordinals);

    fn parse_ref(
        &self,
        command: &clap::Command,
        option: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        parse_device.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let kinds = ["auto", "cpu", "cuda"];
        Some(Box::new(kinds.into_iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::DeviceKind;

    use super::*;

    #[test]
    fn a_device_is_named_by_its_kind_and_number() {
        let parsed = parse_device;
        let cuda = DeviceChoice::Kind(DeviceKind::Cuda);
        assert_eq!(parsed("auto").unwrap(), (DeviceChoice::Auto, Ordinals::one(0)));
        assert_eq!(parsed("cuda").unwrap(), (cuda, Ordinals::one(0)));
        assert_eq!(parsed("cuda:3").unwrap(), (cuda, Ordinals::one(3)));
        assert_eq!(parsed("cuda:all").unwrap(), (cuda, Ordinals::All));
        assert_eq!(parsed("cuda:0,2").unwrap(), (cuda, Ordinals::Listed(vec![0, 2])));
        for wrong in [
            "gpu",
            "cuda:",
            "cuda:-1",
            "cpu:0",
            "CUDA",
            "cuda:0,0",
            "cuda:0,cpu",
            "cpu,cuda:0",
            "auto:all",
        ] {
            assert!(parsed(wrong).unwrap_err().to_string().contains(&format!("`{wrong}`")));
        }
    }
}
