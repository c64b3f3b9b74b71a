//! Which inputs the windows of several workers have, if the author's reference is slow.

use std::sync::{Arc, Mutex};

use super::super::super::simulated_case::{Stage, claim, worker};
use super::*;
use gpubench::catalog::Fill;
use gpubench_protocol::wire::{from_author, to_author};

/// What the author and the referee were asked, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    /// The referee, to prepare the inputs with this number.
    Inputs(u32),
    /// The author, to make inputs.
    Generator,
    /// The author, to compute the outputs of a call.
    Reference,
    /// The referee, to release a window.
    Release,
}

/// A window: its side, its worker's earlier ones, and its number. `None` is a control window.
type Turns<'t> = &'t [Option<(usize, usize, u32)>];

/// Runs windows with a reference of 2 ms. Returns what was asked for each, and the numbers of the
/// inputs that it had.
fn asked(fill: Fill, kept: Option<KeptSets>, turns: Turns<'_>) -> Vec<(Vec<Asked>, u32)> {
    let stage = Stage::of(1).with_input().with(|recording| {
        recording.reference = Reference::Author;
        recording.tensors[1].fill = fill;
    });
    let protocol = Protocol {
        kernels_run_in: KernelHost::Author,
        ..stage.protocol()
    };
    let case = stage.case();
    let noted = Arc::new(Mutex::new(Vec::new()));
    let note = |asked: Asked| {
        let noted = Arc::clone(&noted);
        move || noted.lock().unwrap().push(asked.clone())
    };
    let (author, author_end) = Child::simulated(RoleName::Author);
    let (generator, reference) = (note(Asked::Generator), note(Asked::Reference));
    spawn(move || {
        while let Ok(frame) = author_end.receive(Patience::at_most(SOON)) {
            match frame.kind {
                to_author::GENERATE => generator(),
                _ => reference(),
            }
            sleep(Duration::from_millis(2));
            author_end.send(from_author::DONE, &[], &[]).unwrap();
        }
    });
    let (referee, referee_end) = Child::simulated(RoleName::Referee);
    let of_referee = Arc::clone(&noted);
    spawn(move || {
        while let Ok(frame) = referee_end.receive(Patience::at_most(SOON)) {
            let order: WindowOrder = frame.record().unwrap();
            if frame.kind == to_referee::PREPARE {
                of_referee.lock().unwrap().push(Asked::Inputs(order.window));
                referee_end
                    .send_record(from_referee::PREPARED, &Generate::zeroed())
                    .unwrap();
            } else {
                of_referee.lock().unwrap().push(Asked::Release);
                let facts = WindowFacts {
                    window: order.window,
                    ..WindowFacts::zeroed()
                };
                referee_end.send_record(from_referee::FACTS, &facts).unwrap();
            }
        }
    });
    let (mut author, mut referee) = (AuthorClient::simulated(author), RefereeClient::simulated(referee));
    let mut worker = worker(|order| claim(order, 1e3));
    let mut sequencer = Sequencer {
        referee: &mut referee,
        author: &mut author,
        placement: CodePlacement::new(case.recording, KernelHost::Author),
        protocol: &protocol,
        last_work: Default::default(),
        gate: Gate::Stream,
        rests: Rests::from_protocol(&protocol),
        sets: None,
        kept,
    };
    let windows = turns.iter().enumerate().map(|(position, turn)| {
        let outcome = match turn {
            Some((side, used, window)) => {
                let user = WindowUser::of_side(WindowOwner::arm(*side));
                sequencer.run_window(&mut worker, user, *window, WindowKind::Timed, NonZeroU32::MIN, *used)
            }
            None => {
                let user = WindowUser::of_side(WindowOwner::arm(0));
                sequencer.run_control_window(&mut worker, user, WindowKind::Control, position)
            }
        };
        let WindowOutcome::Ended(evidence) = outcome.unwrap() else {
            panic!("the worker is not lost")
        };
        (std::mem::take(&mut *noted.lock().unwrap()), evidence.inputs)
    });
    windows.collect()
}

/// Two workers of one side, the second of which makes one call more, and then a third.
const THREE_WORKERS: Turns<'_> = &[
    Some((0, 0, 1)),
    Some((0, 1, 2)),
    Some((0, 0, 3)),
    Some((0, 1, 4)),
    Some((0, 2, 5)),
    Some((0, 0, 6)),
    Some((0, 1, 7)),
    Some((0, 2, 8)),
];

use Asked::{Generator, Inputs, Reference as Computes, Release};

#[test]
fn a_later_worker_gets_the_inputs_of_the_one_before_and_what_was_computed() {
    let decoys = WindowKind::decoys_before;
    let windows = asked(Fill::Poison, Some(KeptSets::of_nothing()), THREE_WORKERS);
    let (asked, inputs): (Vec<_>, Vec<_>) = windows.into_iter().unzip();
    assert_eq!(inputs, [1, 2, 1, 2, 5, 1, 2, 5]);
    assert_eq!(
        asked,
        [
            vec![Inputs(1), Computes, Release],
            vec![Inputs(2), Computes, Release],
            // Its first decoys are no inputs that it gets.
            vec![Inputs(decoys(3)), Inputs(1), Release],
            vec![Inputs(2), Release],
            vec![Inputs(5), Computes, Release],
            vec![Inputs(decoys(6)), Inputs(1), Release],
            vec![Inputs(2), Release],
            vec![Inputs(5), Release],
        ]
    );
}

#[test]
fn without_kept_sets_every_window_has_inputs_of_its_own() {
    let windows = asked(Fill::Poison, None, THREE_WORKERS);
    let inputs: Vec<u32> = windows.iter().map(|(_, inputs)| *inputs).collect();
    assert_eq!(inputs, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(windows.iter().all(|(asked, _)| asked.contains(&Computes)));
}

#[test]
fn sides_share_no_kept_inputs() {
    let turns = [Some((0, 0, 1)), Some((1, 0, 2)), Some((1, 0, 3)), Some((0, 0, 4))];
    let windows = asked(Fill::Poison, Some(KeptSets::of_nothing()), &turns);
    let inputs: Vec<u32> = windows.iter().map(|(_, inputs)| *inputs).collect();
    assert_eq!(inputs, [1, 2, 2, 1]);
}

/// A device that has waited for the author begins later, so control windows wait for it as the
/// other windows of the worker do.
#[test]
fn the_author_does_as_much_for_a_control_window_as_for_the_window_before() {
    let turns = [Some((0, 0, 1)), None, Some((0, 0, 2)), None, Some((0, 1, 3)), None];
    let windows = asked(Fill::Cpu, Some(KeptSets::of_nothing()), &turns);
    let asked: Vec<_> = windows.into_iter().map(|(asked, _)| asked).collect();
    let repeated = vec![Generator, Computes, Release];
    assert_eq!(asked[0], [Inputs(1), Generator, Computes, Release]);
    let decoys = WindowKind::decoys_before(2);
    assert_eq!(asked[2], [Inputs(decoys), Generator, Inputs(1), Release]);
    assert_eq!(
        [&asked[1], &asked[3], &asked[5]],
        [&repeated, &vec![Release], &repeated]
    );
}
