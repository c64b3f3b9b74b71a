//! The properties of a device that two runs must share before their times can be compared.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Device, DeviceKind, Environment, Flush, RunStarted};

/// The name of the clock at which multiprocessors are locked.
const LOCKED_CLOCK: &str = "locked clock in MHz";

/// A run's device, with everything that changes its times regardless of the code. Times of runs
/// with different identities say nothing about the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct DeviceIdentity {
    /// Kind of the device.
    pub kind: DeviceKind,
    /// Name of the device, for people.
    pub name: String,
    /// Number of multiprocessors. A partition of a GPU has fewer. On the CPU device, the number of
    /// threads.
    pub multiprocessors: Option<u64>,
    /// Compute capability, `major * 10 + minor`.
    pub capability: Option<u64>,
    /// Version of the device's driver.
    pub driver: Option<String>,
    /// The host's processor, on the CPU device. Null on a GPU.
    pub host_cpu: Option<String>,
    /// How caches are flushed before a cold call. Null if nothing is flushed.
    pub flush: Option<Flush>,
    /// Size of that flush, in bytes.
    pub flush_bytes: Option<u64>,
    /// Clock at which the multiprocessors were locked, in MHz. Null if they were not. Missing in
    /// records of older versions of the tool.
    #[serde(default)]
    pub locked_sm_clock_mhz: Option<u64>,
}

impl DeviceIdentity {
    /// Returns the identity of a run's device.
    pub fn from_run(run: &RunStarted) -> DeviceIdentity {
        DeviceIdentity::in_environment(&run.device, &run.environment)
    }

    /// Returns the identity of a device in an environment.
    pub fn in_environment(device: &Device, environment: &Environment) -> DeviceIdentity {
        DeviceIdentity {
            kind: device.kind,
            name: device.name.clone(),
            multiprocessors: device.multiprocessors,
            capability: device.capability,
            driver: environment.driver.clone(),
            host_cpu: environment.cpu.clone().filter(|_| device.kind.words().is_the_host),
            flush: environment.flush.filter(|_| environment.flush_bytes != Some(0)),
            flush_bytes: environment.flush_bytes,
            locked_sm_clock_mhz: environment.locked_sm_clock_mhz,
        }
    }

    /// Returns a short key that is safe in a file name: the device's name and a digest of the
    /// identity.
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        // Without a locked clock, the key is that of versions that could not lock one.
        let parts = self.parts().into_iter();
        for (_, part) in parts.filter(|(name, part)| *name != LOCKED_CLOCK || !part.is_empty()) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest: String = hash.finalize()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digest}", slug(&self.name))
    }

    /// Returns the first property in which another one differs: its name, and its values in both.
    pub fn difference(&self, other: &DeviceIdentity) -> Option<(&'static str, String, String)> {
        let mut both = self.parts().into_iter().zip(other.parts());
        let ((name, one), (_, other)) = both.find(|(one, other)| one != other)?;
        Some((name, one, other))
    }

    /// Returns the properties that must be equal, each with its name.
    fn parts(&self) -> [(&'static str, String); 9] {
        let DeviceIdentity {
            kind,
            name,
            multiprocessors,
            capability,
            driver,
            host_cpu,
            flush,
            flush_bytes,
            locked_sm_clock_mhz,
        } = self;
        let number = |number: &Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        [
            ("kind of device", kind.words().word.to_owned()),
            ("device", name.clone()),
            ("multiprocessors", number(multiprocessors)),
            ("compute capability", number(capability)),
            ("driver", driver.clone().unwrap_or_default()),
            ("processor", host_cpu.clone().unwrap_or_default()),
            ("cache flush", flush.map_or("", Flush::as_str).to_owned()),
            ("bytes of the cache flush", number(flush_bytes)),
            (LOCKED_CLOCK, number(locked_sm_clock_mhz)),
        ]
    }
}

/// Returns the letters and digits of a name in lower case, joined by single hyphens, at most 40
/// characters.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let joined = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .to_ascii_lowercase();
    let slug: String = joined.chars().take(40).collect();
    match slug.trim_end_matches('-') {
        "" => "device".to_owned(),
        slug => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> DeviceIdentity {
        DeviceIdentity {
            kind: DeviceKind::Cuda,
            name: "NVIDIA H200".to_owned(),
            multiprocessors: Some(132),
            capability: Some(90),
            driver: Some("580.159 (CUDA 13.0)".to_owned()),
            host_cpu: None,
            flush: Some(Flush::Read),
            flush_bytes: Some(120 << 20),
            locked_sm_clock_mhz: None,
        }
    }

    #[test]
    fn a_key_is_stable_across_versions() {
        assert_eq!(h200().key(), "nvidia-h200-1abd02873645");
    }

    #[test]
    fn every_property_that_changes_times_changes_the_key() {
        let others = [
            DeviceIdentity {
                kind: DeviceKind::Cpu,
                ..h200()
            },
            DeviceIdentity {
                multiprocessors: Some(66),
                ..h200()
            },
            DeviceIdentity {
                driver: Some("570.1 (CUDA 12.8)".to_owned()),
                ..h200()
            },
            DeviceIdentity {
                driver: None,
                host_cpu: h200().driver,
                ..h200()
            },
            DeviceIdentity {
                flush: Some(Flush::Write),
                ..h200()
            },
            DeviceIdentity {
                flush_bytes: Some(8 << 20),
                ..h200()
            },
            DeviceIdentity {
                flush_bytes: None,
                ..h200()
            },
            DeviceIdentity {
                locked_sm_clock_mhz: Some(1410),
                ..h200()
            },
        ];
        let mut keys: Vec<String> = others.iter().map(DeviceIdentity::key).collect();
        keys.push(h200().key());
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 9);
    }

    #[test]
    fn a_key_is_a_valid_file_name_for_any_device_name() {
        for (name, begins) in [
            ("Intel(R) Xeon(R) @ 2.20GHz", "intel-r-xeon-r-2-20ghz-"),
            ("../../etc", "etc-"),
            ("§", "device-"),
            ("", "device-"),
        ] {
            let key = DeviceIdentity {
                name: name.to_owned(),
                ..h200()
            }
            .key();
            assert!(key.starts_with(begins), "{key}");
        }
        let long = DeviceIdentity {
            name: "x".repeat(300),
            ..h200()
        }
        .key();
        assert_eq!(long.len(), 40 + 1 + 12);
    }
}
