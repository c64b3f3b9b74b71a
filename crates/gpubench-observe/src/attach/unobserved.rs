//! Files that are named like the driver and are not observed, by account.

use std::collections::BTreeMap;
use std::path::Path;

use gpubench_bpf::Account;

/// What is not observed.
#[derive(Debug, Default)]
pub(super) struct Unobserved {
    accounts: BTreeMap<Account, Reasons>,
    /// The reasons of the accounts beyond the limit.
    of_others: Reasons,
    /// Records of what processes mapped that were lost.
    pub(super) lost: u64,
    pub(super) late: Late,
}

/// Drivers that were probed after processes had mapped them.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// How the first one is called.
    first: Option<String>,
    files: u64,
    processes: u64,
}

impl Late {
    /// Adds a file that `processes` processes have mapped.
    pub(super) fn add(&mut self, path: &Path, name: Option<&Path>, processes: usize) {
        let name = name.unwrap_or(path).display();
        self.first.get_or_insert_with(|| name.to_string());
        self.files += 1;
        self.processes += processes as u64;
    }

    fn notice(&self) -> Option<String> {
        let first = self.first.as_deref()?;
        let others = match self.files - 1 {
            0 => String::new(),
            1 => " and another driver".to_owned(),
            more => format!(" and {more} other drivers"),
        };
        let processes = match self.processes {
            1 => "1 process".to_owned(),
            more => format!("{more} processes"),
        };
        let (were, them) = if self.files == 1 {
            ("was", "it")
        } else {
            ("were", "them")
        };
        Some(format!(
            "`{first}`{others} {were} found when {processes} had mapped {them}: first calls may be missing \
             (hint: start the probe with the folder in `LD_LIBRARY_PATH`)"
        ))
    }
}

/// How many files of an account are not observed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reasons {
    /// Others have all places.
    pub(super) without_place: u64,
    /// They are none, or the kernel refuses.
    pub(super) unreadable: u64,
    /// This process may not read them.
    pub(super) closed: u64,
    /// Reading takes too long.
    pub(super) slow: u64,
    /// More than are read at a time.
    pub(super) refused: u64,
}

/// Accounts with a row of their own.
const MOST_ACCOUNTS: usize = 16;

impl Unobserved {
    /// Returns the reasons of an account.
    pub(super) fn reasons(&mut self, account: Account) -> &mut Reasons {
        if self.accounts.len() < MOST_ACCOUNTS || self.accounts.contains_key(&account) {
            self.accounts.entry(account).or_default()
        } else {
            &mut self.of_others
        }
    }

    /// Forgets files that other notices name.
    pub(super) fn forget_unreadable(&mut self) {
        let all = self.accounts.values_mut().chain([&mut self.of_others]);
        all.for_each(|reasons| reasons.unreadable = 0);
    }

    /// Returns a sentence for each.
    pub(super) fn notices(&self) -> Vec<String> {
        let named = self.accounts.iter();
        let named = named.flat_map(|(account, reasons)| reasons.notices(&account.to_string()));
        let others = self.of_others.notices("others");
        let lost = (self.lost > 0).then(|| {
            format!(
                "{} records of mapped files were lost: drivers in them are found up to some seconds later",
                self.lost
            )
        });
        named.chain(others).chain(lost).chain(self.late.notice()).collect()
    }
}

impl Reasons {
    fn notices(self, whose: &str) -> Vec<String> {
        let reasons = [
            (self.without_place, "there are too many at once"),
            (self.unreadable, "they are no drivers or cannot be probed"),
            (
                self.closed,
                "the probe may not read them (hint: give it `CAP_DAC_READ_SEARCH` too)",
            ),
            (self.slow, "reading one takes too long"),
            (self.refused, "they come faster than they are read"),
        ];
        let some = reasons.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, why)| {
            format!("calls through {count} files of {whose} that are named like a CUDA driver are not observed: {why}")
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_that_were_found_late_are_named() {
        let mut unobserved = Unobserved::default();
        unobserved.late.add(
            Path::new("/proc/7/map_files/1-2"),
            Some(Path::new("/odd/libcuda.so.1")),
            1,
        );
        let notice = |unobserved: &Unobserved| unobserved.notices().pop().unwrap_or_default();
        assert!(notice(&unobserved).starts_with("`/odd/libcuda.so.1` was found when 1 process had mapped it"));
        unobserved.late.add(Path::new("/other/libcuda.so.1"), None, 2);
        let wanted = "`/odd/libcuda.so.1` and another driver were found when 3 processes had mapped";
        assert!(notice(&unobserved).starts_with(wanted), "{}", notice(&unobserved));
    }

    #[test]
    fn each_account_and_reason_is_told_and_endless_ones_share_a_row() {
        let mut unobserved = Unobserved::default();
        for user in 0..1000 {
            unobserved.reasons(Account::User(user)).without_place += 1;
        }
        unobserved.reasons(Account::User(3)).slow += 2;
        let notices = unobserved.notices();
        assert_eq!(notices.len(), MOST_ACCOUNTS + 2);
        let expected = "calls through 2 files of user 3 that are named like a CUDA driver are not observed: \
                        reading one takes too long";
        assert!(notices.iter().any(|notice| notice == expected), "{notices:#?}");
        assert!(
            notices
                .last()
                .is_some_and(|notice| notice.contains("984 files of others"))
        );
    }
}
