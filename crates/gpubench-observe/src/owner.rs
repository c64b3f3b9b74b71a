//! Whose a process is.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use crate::system;

/// Whose a process is, as the system told when it began. Nothing is known of one that had ended
/// before anyone could look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// The number of its user, as the observer's namespace has it.
    pub user: Option<u32>,
    /// The path of its control group, the longest if it has several.
    pub cgroup: Option<Arc<str>>,
}

/// What a metric says of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerLabel {
    /// The number of the user.
    User,
    /// The beginning of the id of the container.
    Container,
    /// The UID of the Kubernetes pod.
    Pod,
    /// The path of the control group.
    Cgroup,
}

/// The value for a process that had ended before anyone could look.
const UNKNOWN: &str = "unknown";
/// Digits of the id of a container, and those that are shown, as `docker ps` shows them.
const CONTAINER: (usize, usize) = (64, 12);
/// Characters of the UID of a pod.
const POD: usize = 36;

impl OwnerLabel {
    /// Returns the name of the label.
    pub fn name(self) -> &'static str {
        match self {
            OwnerLabel::User => "user",
            OwnerLabel::Container => "container",
            OwnerLabel::Pod => "pod",
            OwnerLabel::Cgroup => "cgroup",
        }
    }

    /// Returns the value for an owner. Empty for a process outside any container or pod.
    pub(crate) fn value(self, owner: &Owner) -> String {
        let cgroup = owner.cgroup.as_deref();
        let value = match self {
            OwnerLabel::User => owner.user.map(|user| user.to_string()),
            OwnerLabel::Container => cgroup.map(|path| container(path).unwrap_or_default()),
            OwnerLabel::Pod => cgroup.map(|path| pod(path).unwrap_or_default()),
            OwnerLabel::Cgroup => cgroup.map(str::to_owned),
        };
        value.unwrap_or_else(|| UNKNOWN.to_owned())
    }
}

impl Owner {
    /// Returns the owner, with what `other` knows where nothing is known.
    pub(crate) fn or(self, other: Owner) -> Self {
        Owner {
            user: self.user.or(other.user),
            cgroup: self.cgroup.or(other.cgroup),
        }
    }

    /// Returns whose a process is now.
    pub(crate) fn of(pid: u32) -> Self {
        const MOST_BYTES: u64 = 16 << 10;
        let user = std::fs::metadata(format!("/proc/{pid}")).ok();
        let mut groups = String::new();
        let file = std::fs::File::open(format!("/proc/{pid}/cgroup"));
        let read = file.and_then(|file| file.take(MOST_BYTES).read_to_string(&mut groups));
        // Who ends is shown in the root of each hierarchy but that of version 2.
        let is_told = groups.lines().all(|line| line.starts_with("0::")) || !system::is_ending(pid);
        let group = longest(&groups).filter(|_| read.is_ok() && is_told);
        Owner {
            user: user.map(|metadata| metadata.uid()),
            cgroup: group.map(Arc::from),
        }
    }
}

/// Returns the longest path of the lines `number:controllers:path`.
fn longest(groups: &str) -> Option<&str> {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.max_by_key(|path| path.len())
}

/// Returns the beginning of the last id of a container in a path:
/// `/system.slice/docker-ID.scope`, `/docker/ID`, `…/cri-containerd-ID.scope`.
fn container(path: &str) -> Option<String> {
    let words = path.split(|letter: char| !letter.is_ascii_hexdigit());
    let id = words.rev().find(|word| word.len() == CONTAINER.0)?;
    Some(id[..CONTAINER.1].to_owned())
}

/// Returns the UID of a pod in a path: `…/kubepods-burstable-podUID.slice/…`,
/// `/kubepods/burstable/podUID/…`.
fn pod(path: &str) -> Option<String> {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let is_uid = |uid: &str| {
        let fits = |(place, letter): (usize, char)| (letter == '-') == DASHES.contains(&place) && fits_uid(letter);
        uid.chars().enumerate().all(fits)
    };
    let parts = path.split('/').filter(|part| part.contains("pod"));
    let mut uids = parts.filter_map(|part| part.rsplit("pod").next()?.get(..POD));
    uids.find_map(|uid| {
        let uid = uid.replace('_', "-");
        is_uid(&uid).then_some(uid)
    })
}

fn fits_uid(letter: char) -> bool {
    letter == '-' || letter.is_ascii_hexdigit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(cgroup: &str) -> [String; 2] {
        let owner = Owner {
            user: Some(1000),
            cgroup: Some(cgroup.into()),
        };
        [OwnerLabel::Container, OwnerLabel::Pod].map(|label| label.value(&owner))
    }

    #[test]
    fn containers_and_pods_are_read_from_the_paths_that_runtimes_make() {
        let id = "0123456789abcdef".repeat(4);
        let uid = "c5a1f3de-9b1c-4d70-8f4e-1234567890ab";
        let systemd = format!(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/cri-containerd-{id}.scope",
            uid.replace('-', "_")
        );
        let plain = format!("/kubepods/besteffort/pod{uid}/{id}");
        for path in [systemd, plain] {
            assert_eq!(values(&path), ["0123456789ab", uid], "{path}");
        }
        for path in [
            format!("/docker/{id}"),
            format!("/machine.slice/libpod-{id}.scope/container"),
        ] {
            assert_eq!(values(&path), ["0123456789ab", ""], "{path}");
        }
        for path in [
            "/",
            "/user.slice/user-1000.slice",
            "/podium",
            "/kubepods/pod",
            "/podäöüäöüäöüäöüäöüäöüäöüäöüäöüäöü",
        ] {
            assert_eq!(values(path), ["", ""], "{path}");
        }
    }

    #[test]
    fn of_several_groups_the_longest_is_told() {
        assert_eq!(longest("9:name=systemd:/\n4:memory:/job/7\n0::/\n"), Some("/job/7"));
        assert_eq!(longest("0::/a:b\n"), Some("/a:b"));
        assert_eq!(longest("nothing"), None);
    }

    #[test]
    fn a_process_that_is_gone_has_an_unknown_owner() {
        let gone = Owner::of(u32::MAX);
        assert_eq!(gone, Owner::default());
        let mut zombie = std::process::Command::new("true").spawn().unwrap();
        while !system::is_ending(zombie.id()) {
            std::thread::yield_now();
        }
        let version_2_alone = !std::path::Path::new("/sys/fs/cgroup/memory").exists();
        let ended = Owner::of(zombie.id());
        assert!(ended.cgroup.is_none() || version_2_alone, "{ended:?}");
        zombie.wait().unwrap();
        assert_eq!(OwnerLabel::User.value(&gone), "unknown");
        let own = Owner::of(std::process::id());
        assert_eq!(own.user, Some(rustix::process::getuid().as_raw()));
        assert!(own.cgroup.is_some());
    }
}
