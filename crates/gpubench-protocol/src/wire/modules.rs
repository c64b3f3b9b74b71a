//! Compiled kernel modules by the position of their source in the catalog: the positions in the
//! payload, the code as the frame's last descriptors.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use gpubench_device::FrozenFile;

/// A compiled module and the position of its source.
pub type SourceModule = (u32, FrozenFile);

/// Encodes the positions. What [`module_descriptors`] gives must be the last descriptors of the
/// same frame.
pub fn encode_modules(modules: &[SourceModule]) -> Vec<u8> {
    modules.iter().flat_map(|(source, _)| source.to_le_bytes()).collect()
}

/// The code of modules, in their order.
pub fn module_descriptors(modules: &[SourceModule]) -> impl Iterator<Item = BorrowedFd<'_>> {
    modules.iter().map(|(_, file)| file.as_fd())
}

/// Decodes what [`encode_modules`] made, and takes the code off the end of `descriptors`; `None`
/// when they do not go together or the code is not sealed.
pub fn decode_modules(bytes: &[u8], descriptors: &mut Vec<OwnedFd>) -> Option<Vec<SourceModule>> {
    let (sources, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let files = take_files(sources.len(), descriptors)?;
    let sources = sources.iter().map(|source| u32::from_le_bytes(*source));
    Some(sources.zip(files).collect())
}

/// Takes sealed files off the end of `descriptors`; `None` when there are not as many or one is not
/// sealed.
pub fn take_files(count: usize, descriptors: &mut Vec<OwnedFd>) -> Option<Vec<FrozenFile>> {
    let files = descriptors.split_off(descriptors.len().checked_sub(count)?);
    files.into_iter().map(|file| FrozenFile::received(file).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_arrive_as_they_were_sent_and_damage_is_noticed() {
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
        assert_eq!(left.len(), 1, "what came before the modules is left");
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
