//! Which files have a place among those that are probed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gpubench_bpf::Account;

use super::libraries::Inode;

/// Files of root and of this user. The links to one take three descriptors.
const MOST_OWN: usize = 64;
/// Files of all others.
const MOST_OF_OTHERS: usize = 96;

/// A limited number of places. Nobody can keep others out: root's files have places of their own,
/// and who has the most gives one up for who has fewer. A file that no process has mapped any more
/// keeps its place until another one needs it.
#[derive(Debug)]
pub(super) struct Places<T> {
    taken: BTreeMap<Inode, Place<T>>,
    /// What each process has mapped.
    held: HashMap<u32, Held>,
    next: u64,
}

#[derive(Clone, Debug)]
struct Held {
    account: Account,
    files: BTreeSet<Inode>,
}

#[derive(Debug)]
struct Place<T> {
    account: Account,
    /// A larger one was taken later.
    order: u64,
    what: T,
}

/// What a new file does to those that have a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// This one gives its place up.
    InsteadOf(Inode),
    None,
}

/// Holds files that keep their place in any case.
pub(super) const NOBODY: u32 = 0;

impl<T> Places<T> {
    pub(super) fn new() -> Places<T> {
        Places {
            taken: BTreeMap::new(),
            held: HashMap::new(),
            next: 0,
        }
    }

    pub(super) fn has(&self, inode: Inode) -> bool {
        self.taken.contains_key(&inode)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Inode, &T)> {
        self.taken.iter().map(|(inode, place)| (*inode, &place.what))
    }

    /// Returns where a new file of an account would go.
    pub(super) fn room_for(&self, account: Account) -> Room {
        let is_own = |account: Account| account == Account::Own;
        let most = if is_own(account) { MOST_OWN } else { MOST_OF_OTHERS };
        let pool = || {
            self.taken
                .iter()
                .filter(|(_, place)| is_own(place.account) == is_own(account))
        };
        if pool().count() < most {
            return Room::Free;
        }
        let holders = self.holders();
        let oldest = |files: &mut dyn Iterator<Item = (&Inode, &Place<T>)>| {
            files.min_by_key(|(_, place)| place.order).map(|(inode, _)| *inode)
        };
        if let Some(idle) = oldest(&mut pool().filter(|(inode, _)| !holders.contains_key(inode))) {
            return Room::InsteadOf(idle);
        }
        // What others have mapped, too, is not its account's alone.
        let is_of = |account: Account, inode: &Inode| holders.get(inode) == Some(&BTreeSet::from([account]));
        let files_of = |account: Account| pool().filter(move |(inode, _)| is_of(account, inode));
        let accounts: BTreeSet<Account> = holders.values().flatten().copied().collect();
        let richest = accounts.into_iter().max_by_key(|account| files_of(*account).count());
        let richest = richest.filter(|richest| files_of(*richest).count() > files_of(account).count() + 1);
        let given_up = richest.and_then(|richest| oldest(&mut files_of(richest)));
        given_up.map_or(Room::None, Room::InsteadOf)
    }

    /// Returns the accounts that have mapped each file.
    fn holders(&self) -> BTreeMap<Inode, BTreeSet<Account>> {
        let mut holders: BTreeMap<Inode, BTreeSet<Account>> = BTreeMap::new();
        for held in self.held.values() {
            for inode in &held.files {
                holders.entry(*inode).or_default().insert(held.account);
            }
        }
        holders
    }

    /// Gives a file a place, for which there is room.
    pub(super) fn take(&mut self, inode: Inode, account: Account, what: T) {
        let order = self.next;
        self.next += 1;
        self.taken.insert(inode, Place { account, order, what });
    }

    /// Takes the place of a file away.
    pub(super) fn evict(&mut self, inode: Inode) -> Option<T> {
        for held in self.held.values_mut() {
            held.files.remove(&inode);
        }
        self.held.retain(|_, held| !held.files.is_empty());
        self.taken.remove(&inode).map(|place| place.what)
    }

    /// Notes that a process has mapped a file.
    pub(super) fn hold(&mut self, pid: u32, account: Account, inode: Inode) {
        if self.has(inode) {
            let files = BTreeSet::new();
            let held = self.held.entry(pid).or_insert(Held { account, files });
            held.files.insert(inode);
        }
    }

    /// Notes that a process has what its parent has.
    pub(super) fn fork(&mut self, parent: u32, child: u32) {
        if let Some(held) = self.held.get(&parent) {
            self.held.insert(child, held.clone());
        }
    }

    /// Notes that a process has ended, or runs another program.
    pub(super) fn release(&mut self, pid: u32) {
        if pid != NOBODY {
            self.held.remove(&pid);
        }
    }

    /// Forgets processes that have ended without being seen to.
    pub(super) fn release_gone(&mut self, exists: impl Fn(u32) -> bool) {
        self.held.retain(|pid, _| *pid == NOBODY || exists(*pid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOB: Account = Account::User(1);
    const ALICE: Account = Account::User(2);

    fn filled(account: Account, files: u64) -> Places<()> {
        let mut places = Places::new();
        for number in 0..files {
            assert_eq!(places.room_for(account), Room::Free);
            places.take((1, number), account, ());
            places.hold(10, account, (1, number));
        }
        places
    }

    #[test]
    fn who_has_the_most_gives_up_the_oldest_for_others_and_gets_no_more() {
        let mut places = filled(BOB, MOST_OF_OTHERS as u64);
        assert_eq!(places.room_for(BOB), Room::None);
        assert_eq!(places.room_for(ALICE), Room::InsteadOf((1, 0)));
        places.evict((1, 0));
        places.take((2, 0), ALICE, ());
        places.hold(20, ALICE, (2, 0));
        assert_eq!(places.room_for(BOB), Room::None);
        assert_eq!(places.room_for(ALICE), Room::InsteadOf((1, 1)));
    }

    #[test]
    fn a_file_that_another_one_has_mapped_too_keeps_its_place() {
        let mut places = filled(BOB, MOST_OF_OTHERS as u64);
        places.hold(20, ALICE, (1, 0));
        assert_eq!(places.room_for(ALICE), Room::InsteadOf((1, 1)));
        places.release(10);
        assert_eq!(places.room_for(BOB), Room::InsteadOf((1, 1)));
    }

    #[test]
    fn places_of_root_are_its_own_in_both_directions() {
        let others = filled(BOB, MOST_OF_OTHERS as u64);
        assert_eq!(others.room_for(Account::Own), Room::Free);
        let own = filled(Account::Own, MOST_OWN as u64);
        assert_eq!(
            (own.room_for(Account::Own), own.room_for(BOB)),
            (Room::None, Room::Free)
        );
    }

    #[test]
    fn a_file_whose_processes_have_all_ended_is_the_first_to_go() {
        let mut places = filled(BOB, MOST_OF_OTHERS as u64);
        places.hold(30, BOB, (1, 5));
        places.fork(30, 31);
        for number in 0..MOST_OF_OTHERS as u64 {
            places.hold(if number == 5 { 31 } else { 32 }, BOB, (1, number));
        }
        places.release(10);
        places.release(30);
        assert_eq!(places.room_for(BOB), Room::None, "a child has it");
        places.release_gone(|pid| pid != 31);
        assert_eq!(places.room_for(BOB), Room::InsteadOf((1, 5)));
    }
}
