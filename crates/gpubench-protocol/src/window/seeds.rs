//! Keys and seeds of a run, all derived from one master seed.

use sha2::{Digest, Sha256};

use super::{DrawnCalls, WindowKind};
use gpubench_diagnostic::hexadecimal;

/// Average number of windows per early check.
const EARLY_CHECK_PERIOD: u64 = 8;

/// Average number of windows that are no early checks per one that makes one call alone, if there
/// are several. Cases with slow windows have few samples.
const SINGLE_PERIOD: u64 = 3;

/// Average number of other windows per control window during sampling.
const CONTROL_PERIOD: u64 = 4;

/// The same number for a worker that has had many control windows. The others only show that the
/// machine has not changed.
const CONTROL_PERIOD_OF_MANY: u64 = 12;

/// How often control windows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPace {
    /// Often enough for a worker with a usual number of samples.
    Usual,
    /// Seldom, for a worker that has had many.
    Sparse,
}

/// The master seed of a run. Only broker and referee have it.
#[derive(Clone)]
pub struct Seeds {
    master: [u8; 32],
}

/// Returns the case number for keys. It depends only on the case's full name, so that a given seed
/// produces the same inputs for a case whatever else runs.
pub fn case_number(full_name: &str) -> u64 {
    first_eight_bytes(Sha256::new().chain_update(b"gpubench case").chain_update(full_name))
}

fn first_eight_bytes(hash: Sha256) -> u64 {
    hash.finalize()
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The purpose of a key. Keys of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPurpose {
    /// Contents of the inputs of a window.
    Inputs,
    /// Contents of the constants of a case.
    Constants,
    /// The author's generators for a window.
    Generator,
    /// The author's generators for the constants of a case.
    ConstantGenerator,
    /// Poison in outputs and scratch, and noise in redzones.
    Poison,
    /// Positions of decoy lines.
    Decoys,
    /// Output digest of a window.
    OutputDigest,
    /// Order of the tiles in an output digest.
    OutputDigestOrder,
    /// Order of the blocks in a check.
    CheckOrder,
    /// Kind of a window.
    Kind,
    /// Digest that distinguishes the inputs of a case's windows.
    InputDigest,
    /// Whether a control window comes before a window.
    ControlTurn,
    /// Contents of the decoys of a window.
    DecoyContents,
    /// The order in which cases that are measured alternately have their windows.
    LapOrder,
}

/// A window of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowId {
    /// Number of the case in the run.
    pub case: u64,
    /// Number of the window in the case. Numbers start at 1, or continue those of an earlier
    /// measurement. The number before the first is that of the first decoys.
    pub window: u32,
}

impl Seeds {
    /// Returns the seeds for a given master seed.
    pub fn new(master: [u8; 32]) -> Seeds {
        Seeds { master }
    }

    /// Draws a master seed from the operating system.
    ///
    /// # Errors
    /// If the operating system has no random numbers.
    pub fn from_os() -> Result<Seeds, getrandom::Error> {
        let mut master = [0; 32];
        getrandom::fill(&mut master)?;
        Ok(Seeds { master })
    }

    /// Returns the master seed.
    pub fn master(&self) -> &[u8; 32] {
        &self.master
    }

    /// Returns the master seed in hexadecimal, as `--seed` accepts it. Publish it only when nothing
    /// is measured with it any more.
    pub fn revealed(&self) -> String {
        let digits = hexadecimal(&self.master);
        // A seed that the user gives is usually short.
        match digits.trim_start_matches('0') {
            "" => "0".to_owned(),
            short => short.to_owned(),
        }
    }

    /// Returns a commitment to the master seed that does not reveal it. It is published when the
    /// run starts, so that the seed can be verified later.
    pub fn commitment(&self) -> String {
        let hash = Sha256::new()
            .chain_update(b"gpubench seed commitment")
            .chain_update(self.master)
            .finalize();
        hexadecimal(&hash)
    }

    /// Returns the key for a purpose in a window: the first eight bytes of SHA-256 over the master
    /// seed, the purpose and the window.
    pub fn key(&self, purpose: KeyPurpose, place: WindowId) -> u64 {
        let hash = Sha256::new()
            .chain_update(b"gpubench key")
            .chain_update(self.master)
            .chain_update([purpose as u8])
            .chain_update(place.case.to_le_bytes())
            .chain_update(place.window.to_le_bytes());
        first_eight_bytes(hash)
    }

    /// Returns the kind of a window after warm-up, `since_early` windows after the last early
    /// check. The key draws it. Early checks are never further apart than twice the average, so
    /// that short cases have them too. Windows that make one call alone, if `calls` allows them,
    /// can be any distance apart, so that no window says anything about the next.
    pub fn kind(&self, place: WindowId, since_early: u32, calls: DrawnCalls) -> WindowKind {
        let key = self.key(KeyPurpose::Kind, place);
        if key.is_multiple_of(EARLY_CHECK_PERIOD) || u64::from(since_early) >= 2 * EARLY_CHECK_PERIOD {
            WindowKind::EarlyCheck
        } else if calls == DrawnCalls::AllOrFirst && (key / EARLY_CHECK_PERIOD).is_multiple_of(SINGLE_PERIOD) {
            WindowKind::Single
        } else {
            WindowKind::Timed
        }
    }

    /// Returns the order in which `arms` cases have their next windows, of which `place` is the
    /// first. Every order is equally likely.
    pub fn order_of_lap(&self, place: WindowId, arms: usize) -> Vec<usize> {
        let key_of = |arm: &usize| {
            let window = place.window.wrapping_add(*arm as u32);
            self.key(KeyPurpose::LapOrder, WindowId { window, ..place })
        };
        let mut order: Vec<usize> = (0..arms).collect();
        order.sort_by_cached_key(key_of);
        order
    }

    /// Whether a control window comes before the window at `place`, `since_control` windows after
    /// the last one. The key draws it, so the worker under test cannot predict it. Control windows
    /// are never further apart than twice the average.
    pub fn control_comes_first(&self, place: WindowId, since_control: u32, pace: ControlPace) -> bool {
        let period = match pace {
            ControlPace::Usual => CONTROL_PERIOD,
            ControlPace::Sparse => CONTROL_PERIOD_OF_MANY,
        };
        self.key(KeyPurpose::ControlTurn, place).is_multiple_of(period) || u64::from(since_control) >= 2 * period
    }
}

impl std::fmt::Debug for Seeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seeds")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All purposes, in the order of their numbers.
    const PURPOSES: [KeyPurpose; 14] = [
        KeyPurpose::Inputs,
        KeyPurpose::Constants,
        KeyPurpose::Generator,
        KeyPurpose::ConstantGenerator,
        KeyPurpose::Poison,
        KeyPurpose::Decoys,
        KeyPurpose::OutputDigest,
        KeyPurpose::OutputDigestOrder,
        KeyPurpose::CheckOrder,
        KeyPurpose::Kind,
        KeyPurpose::InputDigest,
        KeyPurpose::ControlTurn,
        KeyPurpose::DecoyContents,
        KeyPurpose::LapOrder,
    ];

    /// Windows whose numbers differ from the first in each byte.
    fn places() -> Vec<WindowId> {
        let cases = (0..8).map(|byte| WindowId {
            case: 1 << (8 * byte),
            window: 0,
        });
        let windows = (0..4).map(|byte| WindowId {
            case: 0,
            window: 1 << (8 * byte),
        });
        let controls = (0..3).map(|before| WindowId {
            case: 0,
            window: WindowKind::control_window(before),
        });
        let next = (2..6).map(|window| WindowId { case: 0, window });
        let first = [WindowId { case: 0, window: 0 }];
        first
            .into_iter()
            .chain(cases)
            .chain(windows)
            .chain(controls)
            .chain(next)
            .collect()
    }

    #[test]
    fn keys_differ_by_purpose_window_and_case() {
        let last = KeyPurpose::LapOrder as usize;
        assert_eq!(
            PURPOSES.map(|purpose| purpose as usize).to_vec(),
            Vec::from_iter(0..=last)
        );
        let seeds = Seeds::new([1; 32]);
        let mut keys = std::collections::HashMap::new();
        for place in places() {
            for purpose in PURPOSES {
                let key = seeds.key(purpose, place);
                assert_ne!(key, 0, "{purpose:?} at {place:?}");
                assert_eq!(key, Seeds::new([1; 32]).key(purpose, place), "{purpose:?} at {place:?}");
                let other = keys.insert(key, (purpose, place));
                // 2 000 of 2^64 keys: two are equal once in 10^13 seeds, and this seed is fixed.
                assert_eq!(other, None, "{purpose:?} at {place:?} has its key");
            }
        }
        assert_eq!(keys.len(), PURPOSES.len() * places().len());
    }

    #[test]
    fn every_byte_of_the_seed_changes_every_key() {
        let place = WindowId { case: 3, window: 9 };
        for purpose in PURPOSES {
            let mut keys: Vec<u64> = (0..32)
                .map(|byte| {
                    let mut master = [1; 32];
                    master[byte] = 2;
                    Seeds::new(master).key(purpose, place)
                })
                .chain([Seeds::new([1; 32]).key(purpose, place)])
                .collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), 33, "{purpose:?}");
        }
    }

    #[test]
    fn keys_of_a_published_seed_do_not_change() {
        // Computed with Python's hashlib over the text and the little-endian numbers.
        let key = Seeds::new([1; 32]).key(KeyPurpose::OutputDigestOrder, WindowId { case: 3, window: 9 });
        assert_eq!(key, 0xd593_1681_d821_2ff1);
    }

    #[test]
    fn no_two_runs_have_the_same_seed() {
        let drawn: Vec<[u8; 32]> = (0..8).map(|_| *Seeds::from_os().unwrap().master()).collect();
        // Each half of a seed is random. It is zero or equal to another once in 2^120 runs of this
        // test.
        for half in [0..16, 16..32] {
            let mut halves: Vec<&[u8]> = drawn.iter().map(|master| &master[half.clone()]).collect();
            assert!(!halves.contains(&&[0; 16][..]));
            halves.sort_unstable();
            halves.dedup();
            assert_eq!(halves.len(), 8);
        }
    }

    #[test]
    fn a_revealed_seed_can_be_given_again() {
        let mut master = [0; 32];
        assert_eq!(Seeds::new(master).revealed(), "0");
        master[30..].copy_from_slice(&[0x0a, 0xbc]);
        assert_eq!(Seeds::new(master).revealed(), "abc");
        assert_eq!(Seeds::new([0xf0; 32]).revealed(), "f0".repeat(32));
    }

    #[test]
    fn one_window_in_eight_is_an_early_check_with_bounded_gaps() {
        let seeds = Seeds::new([7; 32]);
        let (mut early, mut since) = (0, 0);
        for window in 1..=8_000 {
            match seeds.kind(WindowId { case: 0, window }, since, DrawnCalls::All) {
                WindowKind::Single => panic!("nobody asked for one"),
                WindowKind::EarlyCheck => (early, since) = (early + 1, 0),
                _ => since += 1,
            }
            assert!(since <= 16);
        }
        // One in 8, plus one per gap of 17: 1 115 on average.
        assert!((1_050..1_180).contains(&early), "{early}");
    }

    #[test]
    fn one_in_three_of_the_other_windows_makes_one_call_alone_whatever_came_before() {
        let seeds = Seeds::new([7; 32]);
        let kind = |window| seeds.kind(WindowId { case: 0, window }, 0, DrawnCalls::AllOrFirst);
        let singles: Vec<bool> = (1..=24_000).map(|window| kind(window) == WindowKind::Single).collect();
        let [mut all, mut after_one] = [0, 0];
        for pair in singles.windows(2) {
            all += u32::from(pair[1]);
            after_one += u32::from(pair[0] && pair[1]);
        }
        // 7 of 24 windows are: 7 000, and 2 042 that follow another one.
        assert!((6_750..7_250).contains(&all), "{all}");
        assert!((1_900..2_190).contains(&after_one), "{after_one}");
    }

    #[test]
    fn every_order_of_the_windows_is_equally_likely() {
        let seeds = Seeds::new([7; 32]);
        for (arms, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
            let laps = 1_000 * orders;
            let mut seen = std::collections::HashMap::new();
            for lap in 0..laps {
                let window = 1 + arms as u32 * lap as u32;
                *seen
                    .entry(seeds.order_of_lap(WindowId { case: 0, window }, arms))
                    .or_insert(0) += 1;
            }
            assert_eq!(seen.len(), orders);
            assert!(seen.values().all(|times| (850..1_150).contains(times)), "{seen:?}");
        }
    }

    #[test]
    fn control_windows_come_at_their_pace_with_bounded_gaps() {
        let seeds = Seeds::new([7; 32]);
        for (pace, expected, longest) in [
            (ControlPace::Usual, 2_000..2_600, 8),
            (ControlPace::Sparse, 660..900, 24),
        ] {
            let (mut controls, mut since) = (0, 0);
            for window in 1..=8_000 {
                if seeds.control_comes_first(WindowId { case: 0, window }, since, pace) {
                    (controls, since) = (controls + 1, 1)
                } else {
                    since += 1
                }
                assert!(since <= longest, "{since} at {pace:?}");
            }
            assert!(expected.contains(&controls), "{controls} at {pace:?}");
        }
    }

    /// The page about the records states the formula.
    #[test]
    fn the_commitment_is_the_hash_of_a_text_and_the_seed() {
        let hash = Sha256::digest([&b"gpubench seed commitment"[..], &[0xab; 32]].concat());
        assert_eq!(Seeds::new([0xab; 32]).commitment(), hexadecimal(&hash));
    }

    #[test]
    fn the_commitment_hides_the_seed_and_depends_on_it() {
        let seeds = Seeds::new([0xab; 32]);
        assert!(!seeds.commitment().contains("abab"));
        assert_ne!(seeds.commitment(), Seeds::new([0xac; 32]).commitment());
        assert!(!format!("{seeds:?}").contains("ab, ab"));
        for byte in 0..32 {
            let mut other = [0xab; 32];
            other[byte] = 0;
            assert_ne!(seeds.commitment(), Seeds::new(other).commitment(), "byte {byte}");
        }
    }
}
