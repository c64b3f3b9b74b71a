//! Parsers for values of options, where the value's own type has none.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::broker::options::DeviceChoice;
use gpubench_contract::Flush;
use gpubench_device::Backend;

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

/// Returns the parser of `--flush`.
pub(super) fn flush_kinds() -> impl TypedValueParser<Value = Flush> {
    PossibleValuesParser::new(["read", "write"]).map(|kind| match &*kind {
        "write" => Flush::Write,
        _ => Flush::Read,
    })
}

/// An invalid value of `--device`.
#[derive(Debug, thiserror::Error)]
#[error("unknown device `{0}`; use `auto`, `cpu`, `cuda` or `cuda:NUMBER`")]
pub(super) struct UnknownDevice(String);

/// Reads a kind of device and its number.
pub(super) fn parse_device(text: &str) -> Result<(DeviceChoice, u32), UnknownDevice> {
    if text == "auto" {
        return Ok((DeviceChoice::Auto, 0));
    }
    let (backend, ordinal) = Backend::parse(text).ok_or_else(|| UnknownDevice(text.to_owned()))?;
    Ok((DeviceChoice::Kind(backend.kind), ordinal))
}

/// Reads a device like [`parse_device`], and offers the kinds for completion.
#[derive(Clone, Debug)]
pub(super) struct DeviceParser;

impl TypedValueParser for DeviceParser {
    type Value = (DeviceChoice, u32);

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
        assert_eq!(parsed("auto").unwrap(), (DeviceChoice::Auto, 0));
        assert_eq!(parsed("cuda").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 0));
        assert_eq!(parsed("cuda:3").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 3));
        for wrong in ["gpu", "cuda:", "cuda:-1", "cpu:0", "CUDA"] {
            assert!(parsed(wrong).unwrap_err().to_string().contains(&format!("`{wrong}`")));
        }
    }
}
