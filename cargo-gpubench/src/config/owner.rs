//! Whose a configuration file is.

use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::geteuid;

/// The variable with which `sudo` tells who has called it.
const CALLER_OF_SUDO: &str = "SUDO_UID";

/// A configuration file that somebody else could have written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the configuration `{file}` has no effect: {why} (hint: `--config-file {file}` uses it)")]
pub struct ForeignFile {
    file: Utf8PathBuf,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Why {
    #[error("`{0}` belongs to another user")]
    Owner(Utf8PathBuf),
    #[error("every user can change `{0}`")]
    Writable(Utf8PathBuf),
    #[error("its owner is unknown")]
    Unknown,
}

impl ForeignFile {
    /// Returns who else could have written it.
    pub(crate) fn why(&self) -> String {
        self.why.to_string()
    }
}

/// Checks that only this user and the system can write a file: nobody else owns it, or a folder or
/// a link on the way to it, and not every user can write there. Under `sudo`, its caller counts as
/// this user.
///
/// # Errors
/// Somebody else could have written it.
pub(crate) fn require_own(file: &Utf8Path) -> Result<(), ForeignFile> {
    let foreign = |why| ForeignFile {
        file: file.to_owned(),
        why,
    };
    let unknown = |_| foreign(Why::Unknown);
    let named = camino::absolute_utf8(file).map_err(unknown)?;
    let real = named.canonicalize_utf8().map_err(unknown)?;
    let way = named.ancestors().chain(real.ancestors());
    for place in way {
        let found = place.symlink_metadata().map_err(unknown)?;
        let trusted = trusted_owner(found.uid(), place == real);
        if !trusted {
            return Err(foreign(Why::Owner(place.to_owned())));
        }
        // In a folder with the sticky bit, such as `/tmp`, nobody replaces what others own.
        let is_open = found.mode() & 0o002 != 0 && found.mode() & 0o1000 == 0;
        if is_open && !found.is_symlink() {
            return Err(foreign(Why::Writable(place.to_owned())));
        }
    }
    Ok(())
}

fn trusted_owner(owner: u32, is_file: bool) -> bool {
    let own = geteuid();
    let caller = std::env::var(CALLER_OF_SUDO)
        .ok()
        .and_then(|caller| caller.parse().ok());
    let is_caller = own.is_root() && caller == Some(owner);
    // In a user namespace that does not have root, folders of the system have the owner of `/`.
    let is_system = || Utf8Path::new("/").metadata().is_ok_and(|root| root.uid() == owner);
    owner == 0 || owner == own.as_raw() || is_caller || (!is_file && is_system())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

    use super::*;

    #[test]
    fn only_a_file_that_nobody_else_can_replace_is_own() {
        let kept = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(kept.path().canonicalize().expect("it is there")).expect("UTF-8");
        let (work, elsewhere) = (root.join("work"), root.join("elsewhere"));
        for folder in [&work.join(".config"), &elsewhere] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let file = work.join(".config/gpubench.toml");
        fs::write(&file, "").expect("written");
        require_own(&file).expect("it is ours");
        let reason = |file: &Utf8Path| require_own(file).expect_err("foreign").why;
        for place in [&file, &work] {
            let mode = place.metadata().expect("it is there").permissions();
            fs::set_permissions(place, fs::Permissions::from_mode(0o777)).expect("it is ours");
            assert_eq!(reason(&file), Why::Writable(place.clone()));
            fs::set_permissions(place, mode).expect("it is ours");
        }
        if !geteuid().is_root() {
            return;
        }
        for place in [&file, &work.join(".config"), &work] {
            chown(place, Some(65534), None).expect("we are root");
            assert_eq!(reason(&file), Why::Owner(place.clone()));
            chown(place, Some(0), None).expect("we are root");
        }
        let link = elsewhere.join("gpubench.toml");
        symlink(&file, &link).expect("a link");
        require_own(&link).expect("a link of our own");
        std::os::unix::fs::lchown(&link, Some(65534), None).expect("we are root");
        assert_eq!(reason(&link), Why::Owner(link));
    }
}
