//! Compiled kernel modules with the position of their source in the catalog. The payload has the
//! positions; the last descriptors of the frame are the code.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use gpubench_device::FrozenFile;

/// The position of a source, and its compiled module.
pub type SourceModule = (u32, FrozenFile);

/// Encodes the positions. The descriptors from [`module_descriptors`] must be the last ones of the
/// same frame.
pub fn encode_modules(modules: &[SourceModule]) -> Vec<u8> {
    modules.iter().flat_map(|(source, _)| source.to_le_bytes()).collect()
}

/// Returns the code of the modules, in order.
pub fn module_descriptors(modules: &[SourceModule]) -> impl Iterator<Item = BorrowedFd<'_>> {
    modules.iter().map(|(_, file)| file.as_fd())
}

/// Decodes the output of [`encode_modules`], and takes the code from the end of `descriptors`.
/// Returns `None` if they do not match or if the code is not frozen.
pub fn decode_modules(bytes: &[u8], descriptors: &mut Vec<OwnedFd>) -> Option<Vec<SourceModule>> {
    let (sources, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let files = take_files(sources.len(), descriptors)?;
    let sources = sources.iter().map(|source| u32::from_le_bytes(*source));
    Some(sources.zip(files).collect())
}

/// Takes `count` frozen files from the end of `descriptors`. Returns `None` if there are too few or
/// one is not frozen.
pub fn take_files(count: usize, descriptors: &mut Vec<OwnedFd>) -> Option<Vec<FrozenFile>> {
    let files = descriptors.split_off(descriptors.len().checked_sub(count)?);
    files.into_iter().map(|file| FrozenFile::received(file).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_round_trip_and_damage_is_detected() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let copy = || FrozenFile::copy_of(file.path()).expect("a copy");
        let sent = [(0, copy()), (7, copy())];
        let bytes = encode_modules(&sent);
        let descriptors = || {
            let buffer = [file.as_file().as_fd()].into_iter();
            let all = buffer.chain(module_descriptors(&sent));
            all.map(|descriptor| descriptor.try_clone_to_owned().expect("a descriptor"))
                .collect::<Vec<OwnedFd>>()
        };
        let identities = |modules: &[SourceModule]| -> Vec<_> {
            let identity = |(source, file): &SourceModule| (*source, file.identity().expect("an identity"));
            modules.iter().map(identity).collect()
        };
        let mut left = descriptors();
        let received = decode_modules(&bytes, &mut left).expect("as it was sent");
        assert_eq!(identities(&received), identities(&sent));
        assert_eq!(left.len(), 1, "descriptors before the modules remain");
        assert!(decode_modules(&bytes[..7], &mut descriptors()).is_none());
        assert!(
            decode_modules(
                &bytes,
                &mut descriptors()[..1].iter().map(|d| d.try_clone().expect("one")).collect()
            )
            .is_none()
        );
        let one_more = [bytes.as_slice(), &[0; 4]].concat();
        assert!(
            decode_modules(&one_more, &mut descriptors()).is_none(),
            "a buffer is no code"
        );
    }
}
