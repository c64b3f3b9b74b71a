//! The profiles that callgrind writes in a worker, kept for other programs.

use std::io;
use std::path::{Path, PathBuf};

use gpubench_device::cpu::callgrind::PROFILE;
use gpubench_diagnostic::{create_regular, open_regular_link_refused};

/// The profiles of the last counted call, one for each launch.
#[derive(Debug)]
pub(super) struct KeptProfiles {
    /// The worker's folder for temporary files, in which callgrind numbers its profiles from 1.
    written_to: PathBuf,
    /// The beginning of the paths of the copies.
    kept_as: PathBuf,
    /// Number of the last profile that belongs to an earlier call.
    earlier: u32,
    /// Number of copies.
    copies: u32,
}

impl KeptProfiles {
    /// Keeps what callgrind writes to a folder, in files whose paths begin with `kept_as`.
    pub(super) fn new(written_to: &Path, kept_as: &Path) -> KeptProfiles {
        KeptProfiles {
            written_to: written_to.to_owned(),
            kept_as: kept_as.to_owned(),
            earlier: 0,
            copies: 0,
        }
    }

    /// Replaces the copies by the profiles of the call that has just ended. The kernels could have
    /// exchanged them for links, and others a copy in a folder that they can write to. Links are
    /// refused.
    ///
    /// # Errors
    /// A profile cannot be read, or a copy not be written.
    pub(super) fn keep_last_call(&mut self) -> io::Result<()> {
        let earlier_copies = self.copies;
        self.copies = 0;
        loop {
            let profile = self
                .written_to
                .join(format!("{PROFILE}.{}", self.earlier + self.copies + 1));
            if !profile.is_symlink() && !profile.exists() {
                break;
            }
            self.copies += 1;
            let mut from = open_regular_link_refused(&profile)?;
            let mut to = create_regular(self.copy(self.copies), 0o644)?;
            to.set_len(0)?;
            io::copy(&mut from, &mut to)?;
        }
        self.earlier += self.copies;
        (self.copies + 1..=earlier_copies).try_for_each(|copy| fs_err::remove_file(self.copy(copy)))
    }

    fn copy(&self, number: u32) -> PathBuf {
        let mut path = self.kept_as.clone().into_os_string();
        path.push(format!(".{number}"));
        path.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs_err::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_profiles_of_the_last_call_are_kept_and_links_are_refused() {
        let [written, kept] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let write = |number: u32, text: &str| {
            std::fs::write(written.path().join(format!("{PROFILE}.{number}")), text).unwrap();
        };
        let mut profiles = KeptProfiles::new(written.path(), &kept.path().join("callgrind.out.case"));
        write(1, "first");
        write(2, "second");
        profiles.keep_last_call().unwrap();
        assert_eq!(names(kept.path()), ["callgrind.out.case.1", "callgrind.out.case.2"]);
        write(3, "third");
        profiles.keep_last_call().unwrap();
        assert_eq!(names(kept.path()), ["callgrind.out.case.1"]);
        let text = std::fs::read_to_string(kept.path().join("callgrind.out.case.1")).unwrap();
        assert_eq!(text, "third");
        std::os::unix::fs::symlink("/etc/hostname", written.path().join(format!("{PROFILE}.4"))).unwrap();
        profiles.keep_last_call().unwrap_err();
        let text = std::fs::read_to_string(kept.path().join("callgrind.out.case.1")).unwrap();
        assert_eq!(text, "third", "nothing of the link's target was read");
    }

    #[test]
    fn a_link_in_the_place_of_a_copy_is_refused_and_a_longer_copy_is_cut() {
        let [written, kept] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let target = kept.path().join("precious");
        std::fs::write(&target, "precious").unwrap();
        let copy = kept.path().join("callgrind.out.case.1");
        std::os::unix::fs::symlink(&target, &copy).unwrap();
        std::fs::write(written.path().join(format!("{PROFILE}.1")), "first").unwrap();
        let mut profiles = KeptProfiles::new(written.path(), &kept.path().join("callgrind.out.case"));
        profiles.keep_last_call().unwrap_err();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
        std::fs::remove_file(&copy).unwrap();
        std::fs::write(&copy, "longer than the first").unwrap();
        KeptProfiles::new(written.path(), &kept.path().join("callgrind.out.case"))
            .keep_last_call()
            .unwrap();
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "first");
    }
}
