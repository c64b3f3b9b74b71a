//! Tests of locking with a fake device.

use super::fake::FakeClocks;
use super::*;
use gpubench_diagnostic::Expected as _;

fn ask(text: &str) -> ClockSetting {
    text.parse().unwrap()
}

fn locks(setting: &str, mut clocks: FakeClocks) -> (Result<u32, LockError>, Option<u32>) {
    let locked = lock(ask(setting), &mut clocks);
    (locked, clocks.locked)
}

#[test]
fn a_setting_is_base_or_a_number_above_zero() {
    for text in ["base", "1410"] {
        assert_eq!(ask(text).to_string(), text);
    }
    for wrong in ["", "0", "-1", "Base", "1410MHz", "1.41e3", "max"] {
        assert!(wrong.parse::<ClockSetting>().is_err(), "{wrong}");
    }
}

#[test]
fn a_supported_clock_is_locked() {
    assert_eq!(locks("1410", FakeClocks::default()), (Ok(1410), Some(1410)));
}

#[test]
fn an_unsupported_clock_is_refused_with_its_neighbours() {
    let (refused, left) = locks("1400", FakeClocks::default());
    let refused = refused.unwrap_err();
    assert_eq!(left, None);
    assert_eq!(
        refused.to_string(),
        "the multiprocessors of this GPU cannot run at `1400` MHz"
    );
    assert_eq!(
        refused.hint().unwrap(),
        "the nearest that it supports: `1395`, `1410` MHz; `nvidia-smi -q -d SUPPORTED_CLOCKS` lists all"
    );
    let beyond = locks("5000", FakeClocks::default()).0.unwrap_err();
    assert!(beyond.hint().unwrap().contains("supports: `1980` MHz"), "{beyond:?}");
}

#[test]
fn without_a_list_of_clocks_the_driver_decides() {
    let unlisted = FakeClocks {
        supported: Err(ClockError::NotSupported),
        ..FakeClocks::default()
    };
    assert_eq!(locks("1400", unlisted.clone()).0, Ok(1400));
    let strict = FakeClocks {
        may_lock: Err(ClockError::InvalidValue),
        ..unlisted
    };
    let refused = locks("1400", strict).0.unwrap_err();
    assert!(matches!(&refused, LockError::UnknownClock { asked: 1400, nearest } if nearest.is_empty()));
}

#[test]
fn base_is_the_clock_of_the_rated_power_as_the_device_shows_it() {
    let slow = FakeClocks {
        slow: 4,
        ..FakeClocks::default()
    };
    assert_eq!(locks("base", slow), (Ok(1395), Some(1395)));
}

#[test]
fn a_base_clock_that_does_not_settle_is_unlocked_again() {
    let restless = FakeClocks {
        slow: 100,
        ..FakeClocks::default()
    };
    assert_eq!(locks("base", restless), (Err(LockError::Unsettled), None));
}

#[test]
fn without_a_rated_clock_base_is_the_usual_one() {
    for reason in [ClockError::NotSupported, ClockError::InvalidValue] {
        let unrated = FakeClocks {
            rated: Err(reason),
            ..FakeClocks::default()
        };
        assert_eq!(locks("base", unrated.clone()), (Ok(1980), Some(1980)));
        let nameless = FakeClocks {
            usual: Err(ClockError::NotSupported),
            ..unrated
        };
        assert_eq!(locks("base", nameless).0, Err(LockError::NoBase));
    }
}

#[test]
fn a_user_without_permission_gets_a_hint_and_nothing_changes() {
    for setting in ["base", "1410"] {
        let forbidden = FakeClocks {
            may_lock: Err(ClockError::NotPermitted),
            ..FakeClocks::default()
        };
        let (refused, left) = locks(setting, forbidden);
        assert_eq!((&refused, left), (&Err(LockError::NotPermitted), None));
        assert!(refused.unwrap_err().hint().unwrap().starts_with("run as root"));
    }
}

#[test]
fn a_device_without_locks_is_named() {
    let old = FakeClocks {
        may_lock: Err(ClockError::NotSupported),
        ..FakeClocks::default()
    };
    assert_eq!(locks("1410", old).0, Err(LockError::NotSupported));
}
