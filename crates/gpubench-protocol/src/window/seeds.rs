//! Keys and seeds of a run, all drawn from one master seed.

use sha2::{Digest, Sha256};

use super::{WindowKind, WindowOwner};
use gpubench_diagnostic::hexadecimal;

/// One early-check window in so many, on average.
const EARLY_CHECK_PERIOD: u64 = 8;

/// One control window for so many others, on average, while samples are taken.
const CONTROL_PERIOD: u64 = 4;

/// And where there are many: they only have to show that the machine has not changed.
const CONTROL_PERIOD_OF_MANY: u64 = 12;

/// How many control windows there are among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlPace {
    /// As few as a worker with a usual number of samples needs.
    Usual,
    /// As few as a worker needs that has many.
    Sparse,
}

/// The master seed of a run. Only broker and referee hold it.
#[derive(Clone)]
pub struct Seeds {
    master: [u8; 32],
}

/// The number of a case that its keys are drawn for. It depends on the case's full name alone, so
/// that a pinned seed gives a case the same inputs whatever else runs.
pub fn case_number(full_name: &str) -> u64 {
    first_eight_bytes(Sha256::new().chain_update(b"gpubench case").chain_update(full_name))
}

fn first_eight_bytes(hash: Sha256) -> u64 {
    hash.finalize()
        .iter()
        .take(8)
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What a key is for: keys of different purposes are independent.
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
    /// Poison in outputs and scratch, noise in redzone.
    Poison,
    /// Positions of decoy lines.
    Decoys,
    /// Digest of an output digest.
    OutputDigest,
    /// Order in which an output digest visits tiles.
    OutputDigestOrder,
    /// Order in which a check visits blocks.
    CheckOrder,
    /// Kind of a window.
    Kind,
    /// Digest by which the inputs of a case's windows are told apart.
    InputDigest,
    /// Whether a control window comes before a window.
    ControlTurn,
    /// Contents of the instance that the decoy lines of a window are taken from.
    DecoyContents,
    /// Which side of a case begins a pair of windows.
    FirstOfPair,
}

/// A case and a window in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowId {
    /// Number of the case in the run.
    pub case: u64,
    /// Number of the window in the case. Windows are counted from 1, or on behind those of a
    /// measurement before; the number in front of the first is that of the instance which comes
    /// before it.
    pub window: u32,
}

impl Seeds {
    /// Takes a given master seed.
    pub fn new(master: [u8; 32]) -> Seeds {
        Seeds { master }
    }

    /// Draws a master seed from the operating system.
    ///
    /// # Errors
    /// When the operating system has none to give.
    pub fn from_os() -> Result<Seeds, getrandom::Error> {
        let mut master = [0; 32];
        getrandom::fill(&mut master)?;
        Ok(Seeds { master })
    }

    /// The master seed.
    pub fn master(&self) -> &[u8; 32] {
        &self.master
    }

    /// The master seed in hexadecimal, as `--seed` takes it. To be published when nothing is
    /// measured with it any more.
    pub fn revealed(&self) -> String {
        let digits = hexadecimal(&self.master);
        // A pinned seed is usually short.
        match digits.trim_start_matches('0') {
            "" => "0".to_owned(),
            short => short.to_owned(),
        }
    }

    /// Commits to the master seed without giving it away: published when the run starts, it lets
    /// anyone who is given the seed later see that it was the one.
    pub fn commitment(&self) -> String {
        let hash = Sha256::new()
            .chain_update(b"gpubench seed commitment")
            .chain_update(self.master)
            .finalize();
        hexadecimal(&hash)
    }

    /// The key for a purpose in a window: the first eight bytes of SHA-256 over the master seed and
    /// the place.
    pub fn key(&self, purpose: KeyPurpose, place: WindowId) -> u64 {
        let hash = Sha256::new()
            .chain_update(b"gpubench key")
            .chain_update(self.master)
            .chain_update([purpose as u8])
            .chain_update(place.case.to_le_bytes())
            .chain_update(place.window.to_le_bytes());
        first_eight_bytes(hash)
    }

    /// The kind of a window that follows the warm-up, `since_early` windows after the last
    /// early-check window. Drawn by the key, but never later than twice the average, so that a
    /// short case has its early checks too.
    pub fn kind(&self, place: WindowId, since_early: u32) -> WindowKind {
        let drawn = self.key(KeyPurpose::Kind, place).is_multiple_of(EARLY_CHECK_PERIOD);
        if drawn || u64::from(since_early) >= 2 * EARLY_CHECK_PERIOD {
            WindowKind::EarlyCheck
        } else {
            WindowKind::Timed
        }
    }

    /// Which side begins the pair of windows at `place`.
    pub fn first_of_pair(&self, place: WindowId) -> WindowOwner {
        match self.key(KeyPurpose::FirstOfPair, place).is_multiple_of(2) {
            true => WindowOwner::Candidate,
            false => WindowOwner::Baseline,
        }
    }

    /// Whether a control window comes before the window at `place`, `since_control` windows after the
    /// last one. Drawn by the key, so that the worker under test cannot foresee it, but never later
    /// than twice the average.
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

    /// Every purpose, in the order of their numbers.
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
        KeyPurpose::FirstOfPair,
    ];

    /// Places that differ from the first in each byte of their numbers.
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
    fn every_purpose_has_keys_of_its_own_in_every_window_of_every_case() {
        let last = KeyPurpose::FirstOfPair as usize;
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
                // 2 000 of 2^64 keys: two are alike once in 10^13 seeds, and this seed is always
                // the same.
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
    fn a_key_is_as_it_was_when_a_seed_was_published() {
        // By Python's hashlib, over the text and the numbers in little-endian order.
        let key = Seeds::new([1; 32]).key(KeyPurpose::OutputDigestOrder, WindowId { case: 3, window: 9 });
        assert_eq!(key, 0xd593_1681_d821_2ff1);
    }

    #[test]
    fn no_two_runs_have_the_same_seed() {
        let drawn: Vec<[u8; 32]> = (0..8).map(|_| *Seeds::from_os().unwrap().master()).collect();
        // Every half of a seed is drawn: one is zero, or that of another, once in 2^120 runs of
        // this test.
        for half in [0..16, 16..32] {
            let mut halves: Vec<&[u8]> = drawn.iter().map(|master| &master[half.clone()]).collect();
            assert!(!halves.contains(&&[0; 16][..]));
            halves.sort_unstable();
            halves.dedup();
            assert_eq!(halves.len(), 8);
        }
    }

    #[test]
    fn a_seed_is_revealed_as_it_can_be_given_again() {
        let mut master = [0; 32];
        assert_eq!(Seeds::new(master).revealed(), "0");
        master[30..].copy_from_slice(&[0x0a, 0xbc]);
        assert_eq!(Seeds::new(master).revealed(), "abc");
        assert_eq!(Seeds::new([0xf0; 32]).revealed(), "f0".repeat(32));
    }

    #[test]
    fn about_one_window_in_eight_checks_early_and_none_waits_for_long() {
        let seeds = Seeds::new([7; 32]);
        let (mut early, mut since) = (0, 0);
        for window in 1..=8_000 {
            match seeds.kind(WindowId { case: 0, window }, since) {
                WindowKind::EarlyCheck => (early, since) = (early + 1, 0),
                _ => since += 1,
            }
            assert!(since <= 16);
        }
        // One in 8, and one more for each 17 without: 1 115 on average.
        assert!((1_050..1_180).contains(&early), "{early}");
    }

    #[test]
    fn each_side_begins_about_half_of_the_pairs() {
        let seeds = Seeds::new([7; 32]);
        let first = |window| seeds.first_of_pair(WindowId { case: 0, window });
        let candidate = (1..=8_000)
            .filter(|window| first(*window) == WindowOwner::Candidate)
            .count();
        assert!((3_800..4_200).contains(&candidate), "{candidate}");
    }

    #[test]
    fn null_windows_come_at_their_pace_and_none_waits_for_long() {
        let seeds = Seeds::new([7; 32]);
        for (pace, expected, longest) in [
            (ControlPace::Usual, 2_000..2_600, 8),
            (ControlPace::Sparse, 660..900, 24),
        ] {
            let (mut controls, mut since) = (0, 0);
            for window in 1..=8_000 {
                match seeds.control_comes_first(WindowId { case: 0, window }, since, pace) {
                    true => (controls, since) = (controls + 1, 1),
                    false => since += 1,
                }
                assert!(since <= longest, "{since} at {pace:?}");
            }
            assert!(expected.contains(&controls), "{controls} at {pace:?}");
        }
    }

    #[test]
    fn the_commitment_does_not_contain_the_seed_and_binds_to_it() {
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
