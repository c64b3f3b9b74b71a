//! Contents that the referee reads for people.

use super::calls::every_role;
use super::*;
use crate::wire::{Contents, ContentsOrder, MOST_CONTENTS};

const BYTES: u64 = 4 * ELEMENTS as u64;

fn whole(tensor: u64, contents: Contents) -> ContentsOrder {
    ContentsOrder {
        tensor,
        start: 0,
        bytes: BYTES,
        contents,
        reserved: 0,
    }
}

#[test]
fn contents_are_those_at_done_whatever_the_worker_writes_later() {
    let mut stage = Stage::set();
    stage.window(1, |driver, stream, _, y| driver.set(stream, y, 7, BYTES).unwrap());
    stage.peer.driver.write(stage.peer.y, &[9; BYTES as usize]).unwrap();
    let Stage { referee, case, .. } = &mut stage;
    let mut read = |order| referee.contents(case, &order).unwrap();
    assert_eq!(read(whole(1, Contents::Got)), [7; BYTES as usize]);
    let expected = read(whole(1, Contents::Expected));
    assert_eq!(expected, read(whole(0, Contents::Input)), "the reference copies");
    assert_ne!(expected, [7; BYTES as usize]);
    let part = ContentsOrder {
        start: 4,
        bytes: 8,
        ..whole(1, Contents::Expected)
    };
    assert_eq!(read(part), expected[4..12]);
}

#[test]
fn trying_zeros_does_not_replace_the_outputs_of_a_wrong_call() {
    let mut stage = Stage::set();
    assert_ne!(stage.honest(1).outputs()[0].zeros(), OtherAnswer::Passes);
    assert_eq!(stage.honest(2).outputs()[0].zeros(), OtherAnswer::Fails, "it is tried");
    let facts = stage.window(3, |driver, stream, _, y| driver.set(stream, y, 7, BYTES).unwrap());
    assert_eq!(
        facts.outputs()[0].old_answer(),
        OtherAnswer::Fails,
        "old answers are tried"
    );
    let got = stage.referee.contents(&stage.case, &whole(1, Contents::Got)).unwrap();
    assert!(got == [7; BYTES as usize], "they begin with {:?}", &got[..8]);
}

#[test]
fn a_tensor_has_the_contents_of_its_role() {
    let mut referee = referee(Box::new(cpu())).unwrap();
    let case = opened(&mut referee, every_role());
    referee.generate(&case, 1).unwrap();
    end_at_once(&mut referee, &case, &order(1)).unwrap();
    let all = [Contents::Input, Contents::Expected, Contents::Got];
    let (input, output) = (&all[..1], &all[1..]);
    for (tensor, has) in [input, input, output, &all, &[], output].into_iter().enumerate() {
        let mut is_read = |contents: &Contents| referee.contents(&case, &whole(tensor as u64, *contents)).is_ok();
        let found: Vec<Contents> = all.into_iter().filter(&mut is_read).collect();
        assert_eq!(found, has, "{tensor}");
    }
}

#[test]
fn nothing_is_read_past_the_end() {
    let mut stage = Stage::set();
    stage.honest(1);
    let got = whole(1, Contents::Got);
    for order in [
        ContentsOrder { start: 1, ..got },
        ContentsOrder { start: u64::MAX, ..got },
        ContentsOrder {
            bytes: MOST_CONTENTS + 1,
            ..got
        },
        ContentsOrder { tensor: 2, ..got },
        ContentsOrder {
            tensor: u64::MAX,
            ..got
        },
    ] {
        let read = stage.referee.contents(&stage.case, &order);
        assert!(matches!(read, Err(RefereeError::Order(_))), "{order:?}");
    }
}
