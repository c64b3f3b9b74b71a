//! The kernels, compiled for GPUs.

#![forbid(unsafe_code)]

/// Compressed PTX, and the capability it was compiled for. It also runs on all later ones. The
/// newest comes first.
static PTX: [(Capability, &[u8]); 2] = [
    (
        Capability { major: 9, minor: 0 },
        include_bytes!("../ptx/compute_90.ptx.z"),
    ),
    (Capability::OLDEST, include_bytes!("../ptx/compute_75.ptx.z")),
];

/// Compressed machine code, and the capability it was compiled for. It also runs on later minor
/// versions.
static CUBINS: [(Capability, &[u8]); 5] = [
    (
        Capability { major: 7, minor: 5 },
        include_bytes!("../ptx/sm_75.cubin.z"),
    ),
    (
        Capability { major: 8, minor: 0 },
        include_bytes!("../ptx/sm_80.cubin.z"),
    ),
    (
        Capability { major: 9, minor: 0 },
        include_bytes!("../ptx/sm_90.cubin.z"),
    ),
    (
        Capability { major: 10, minor: 0 },
        include_bytes!("../ptx/sm_100.cubin.z"),
    ),
    (
        Capability { major: 12, minor: 0 },
        include_bytes!("../ptx/sm_120.cubin.z"),
    ),
];

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capability {
    /// The number before the point.
    pub major: u32,
    /// The number after the point.
    pub minor: u32,
}

impl Capability {
    /// The oldest that the kernels run on.
    pub const OLDEST: Capability = Capability { major: 7, minor: 5 };
}

/// A loadable module with all kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Image {
    /// GPU machine code: an ELF file.
    Cubin(Vec<u8>),
    /// PTX. The driver compiles it at load time, which takes seconds in each process if the driver
    /// has no cache.
    Ptx(String),
}

/// Returns the best image for a GPU: machine code if there is some for its capability, otherwise
/// PTX. `None` below 7.5.
pub fn image_for(capability: Capability) -> Option<Image> {
    let cubin = CUBINS.iter().find(|(made_for, _)| runs_on(*made_for, capability));
    let cubin = cubin.and_then(|(_, compressed)| inflated(compressed));
    cubin.map(Image::Cubin).or_else(|| ptx_for(capability).map(Image::Ptx))
}

/// Returns the PTX for a GPU whose driver refuses the machine code. `None` below 7.5.
pub fn ptx_for(capability: Capability) -> Option<String> {
    let (_, compressed) = PTX.iter().find(|(made_for, _)| *made_for <= capability)?;
    String::from_utf8(inflated(compressed)?).ok()
}

/// The compressed data is part of this library, and tests inflate all of it.
fn inflated(compressed: &[u8]) -> Option<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib(compressed).ok()
}

fn runs_on(made_for: Capability, capability: Capability) -> bool {
    made_for.major == capability.major && made_for.minor <= capability.minor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn image(major: u32, minor: u32) -> Option<Image> {
        image_for(Capability { major, minor })
    }

    #[test]
    fn every_cubin_is_machine_code_with_every_kernel() {
        for (Capability { major, minor }, _) in CUBINS {
            let Some(Image::Cubin(code)) = image(major, minor) else {
                panic!("no machine code for {major}.{minor}");
            };
            assert_eq!(code[..4], *b"\x7fELF", "{major}.{minor}");
            for kernel in Kernel::ALL {
                let section = format!(".text.{}\0", kernel.name());
                let found = code.windows(section.len()).any(|bytes| bytes == section.as_bytes());
                assert!(found, "{} for {major}.{minor}", kernel.name());
            }
        }
    }

    #[test]
    fn later_minor_versions_get_the_machine_code_of_their_capability() {
        assert_eq!(image(8, 9), image(8, 0));
        assert_eq!(image(12, 1), image(12, 0));
        assert_ne!(image(9, 0), image(10, 0));
    }

    #[test]
    fn a_gpu_newer_than_all_machine_code_gets_ptx() {
        let newest = ptx_for(Capability { major: 9, minor: 0 }).map(Image::Ptx);
        assert!(newest.is_some());
        assert_eq!(image(11, 0), newest);
        assert_eq!(image(13, 0), newest);
    }

    #[test]
    fn a_gpu_before_7_5_gets_nothing() {
        assert_eq!(image(7, 0), None);
        assert_eq!(ptx_for(Capability { major: 7, minor: 0 }), None);
    }
}
