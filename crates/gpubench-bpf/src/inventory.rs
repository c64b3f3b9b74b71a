//! Which programs, maps and links the kernel holds.

use std::collections::BTreeSet;

use crate::BpfError;
use crate::syscall::{Attribute, Command, bpf};

/// Numbers of objects in the kernel. The kernel counts them up and does not use one again soon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Verified programs.
    pub programs: BTreeSet<u32>,
    /// Maps, rings among them.
    pub maps: BTreeSet<u32>,
    /// Attached programs.
    pub links: BTreeSet<u32>,
}

impl Inventory {
    /// Asks the kernel for all of them.
    ///
    /// # Errors
    ///
    /// If the process lacks `CAP_SYS_ADMIN`.
    pub fn of_the_kernel() -> Result<Inventory, BpfError> {
        Ok(Inventory {
            programs: numbers(Command::ProgramNextId)?,
            maps: numbers(Command::MapNextId)?,
            links: numbers(Command::LinkNextId)?,
        })
    }

    /// Returns those that are in both.
    pub fn and(&self, other: &Inventory) -> Inventory {
        Inventory {
            programs: &self.programs & &other.programs,
            maps: &self.maps & &other.maps,
            links: &self.links & &other.links,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.maps.is_empty() && self.links.is_empty()
    }
}

/// Returns those that a process holds by descriptors. A process that ended holds none.
pub fn owned_by(pid: u32) -> Inventory {
    let mut owned = Inventory::default();
    let folder = std::fs::read_dir(format!("/proc/{pid}/fdinfo"));
    for entry in folder.into_iter().flatten().flatten() {
        // Descriptors close while they are listed.
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().parse().ok()
        };
        if let Some(link) = field("link_id:") {
            owned.links.insert(link);
        }
        owned.programs.extend(field("prog_id:"));
        owned.maps.extend(field("map_id:"));
    }
    owned
}

fn numbers(next: Command) -> Result<BTreeSet<u32>, BpfError> {
    let mut found = BTreeSet::new();
    let mut last = 0;
    loop {
        let mut attribute = Attribute::new().word(0, last);
        // SAFETY: this attribute has no addresses; the kernel writes the number into it.
        match unsafe { bpf(next, &mut attribute) } {
            Ok(_) => last = attribute.read_word(4),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(found),
            Err(source) => {
                return Err(BpfError::Refused {
                    what: "list BPF objects",
                    source,
                });
            }
        }
        found.insert(last);
    }
}
