//! Values on both sides of every limit.

use super::*;
use gpubench::catalog::{Counter, Field, Record};

fn valid(change: impl FnOnce(&mut Recording)) -> bool {
    verdict(change) == "valid"
}

#[test]
fn tolerances_are_finite_and_at_least_zero() {
    let close = |rtol, atol| valid(|recording| recording.tensors[1].tolerance = Tolerance::Close { rtol, atol });
    for good in [0.0, -0.0, 1e-5, 1.0, f64::MAX, f64::MIN_POSITIVE] {
        assert!(close(good, 0.0) && close(0.0, good), "{good}");
    }
    for bad in [-1.0, -f64::MIN_POSITIVE, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(!close(bad, 0.0) && !close(0.0, bad), "{bad}");
    }
}

#[test]
fn the_number_of_outputs_is_limited() {
    let with = |outputs: usize, role| {
        verdict(|recording| {
            let output = recording.tensors.pop().unwrap();
            recording.tensors.extend((0..outputs).map(|number| Tensor {
                name: format!("y{number}"),
                role,
                fill: match role {
                    Role::InOut => Fill::Uniform { low: 0.0, high: 1.0 },
                    _ => Fill::Poison,
                },
                ..output.clone()
            }));
        })
    };
    for role in [Role::Output, Role::InOut] {
        assert_eq!(with(MAX_OUTPUTS, role), "valid");
        assert_eq!(with(MAX_OUTPUTS + 1, role), "it has 61 outputs; the limit is 60");
    }
}

/// Returns the verdict on an output of structs of 64 bytes with these fields of a byte.
fn with_fields(fields: impl Iterator<Item = (u64, Option<u64>)>) -> String {
    let field = |(offset, count)| Field {
        name: format!("f{offset}"),
        offset,
        dtype: DType::U8,
        count,
        tolerance: Tolerance::Exact,
    };
    let fields: Vec<Field> = fields.map(field).collect();
    verdict(|recording| {
        let output = recording.tensors.last_mut().unwrap();
        output.dtype = DType::U8;
        *output.shape.last_mut().unwrap() *= 4;
        output.shape.push(64);
        output.tolerance = Tolerance::Exact;
        output.record = Some(Box::new(Record {
            name: "Wide".to_owned(),
            fields,
        }));
    })
}

#[test]
fn each_field_of_structs_is_one_of_the_outputs() {
    let of_a_byte = |fields: u64| with_fields((0..fields).map(|offset| (offset, None)));
    assert_eq!(of_a_byte(MAX_OUTPUTS as u64), "valid");
    assert_eq!(
        of_a_byte(MAX_OUTPUTS as u64 + 1),
        "it has 61 outputs, of which each field of structs is one; the limit is 60"
    );
}

#[test]
fn structs_of_a_hostile_library_are_refused() {
    for (field, expected) in [
        ((0, Some(65)), "ends after the 64 bytes"),
        ((64, None), "ends after the 64 bytes"),
        ((u64::MAX, Some(u64::MAX)), "ends after the 64 bytes"),
        ((1, Some(u64::MAX)), "ends after the 64 bytes"),
        ((0, Some(0)), "without elements"),
    ] {
        let found = with_fields([field].into_iter());
        assert!(found.contains(expected), "{field:?}: {found}");
    }
    assert!(with_fields([(0, Some(9)), (8, None)].into_iter()).contains("overlaps"));
    assert!(with_fields((0..1000).map(|offset| (offset, None))).contains("1 to 64 fields"));
    assert!(with_fields(std::iter::empty()).contains("1 to 64 fields"));
}

#[test]
fn the_number_and_names_of_counters_are_limited() {
    let with = |names: &[&str]| {
        let counter = |name: &&str| Counter {
            name: (*name).to_owned(),
            amount: 1,
        };
        verdict(|recording| recording.work.counters = names.iter().map(counter).collect())
    };
    let longest = "a".repeat(32);
    assert_eq!(with(&["tokens", "größe_2", &longest]), "valid");
    for (name, shown) in [("", ""), ("a b", "a b"), ("\x1b[2J", "\\u{1b}[2J"), ("a\n", "a\\n")] {
        assert_eq!(
            with(&[name]),
            format!("the name of a counter, `{shown}`, is not 1 to 32 letters, digits and `_`")
        );
    }
    assert!(with(&[&(longest + "a")]).contains("is not 1 to 32 letters"));
    for name in ["bytes", "flops"] {
        assert_eq!(with(&[name]), format!("two amounts are named `{name}`"));
    }
    assert_eq!(with(&["tokens", "tokens"]), "two amounts are named `tokens`");
    let names: Vec<String> = (0..17).map(|number| format!("c{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(with(&names[..16]), "valid");
    assert_eq!(with(&names), "it has 17 counters; the limit is 16");
}

#[test]
fn tensors_and_scratch_share_a_limit() {
    let with = |scratch: usize| verdict(|recording| recording.plan.scratch = vec![16; scratch]);
    // The other two are tensors.
    assert_eq!(with(MAX_BUFFERS - 2), "valid");
    assert_eq!(
        with(MAX_BUFFERS - 1),
        "it has 65 tensors and scratch allocations; the limit is 64"
    );
    let of_reference = |scratch: usize| {
        verdict(|recording| {
            let plan = Plan {
                scratch: vec![16; scratch],
                ..recording.plan.clone()
            };
            recording.reference = Reference::Plan(plan);
        })
    };
    // The other three are two tensors and the plan's scratch.
    assert_eq!(of_reference(MAX_BUFFERS - 3), "valid");
    assert_eq!(
        of_reference(MAX_BUFFERS - 2),
        "it has 65 tensors and scratch allocations; the limit is 64"
    );
}

#[test]
fn the_number_of_sources_is_limited_including_generators_and_reference() {
    let with = |sources: usize| {
        let mut recording = recording();
        let catalog = Catalog {
            sources: vec![catalog().sources.remove(0); sources],
            ..catalog()
        };
        let launch = |source| {
            let mut launch = launch();
            launch.kernel.source = source;
            Step::Launch(launch)
        };
        let steps: Vec<Step> = (1..sources as u32).map(launch).collect();
        let (ours, theirs) = steps.split_at(sources / 2);
        recording.plan.steps = ours.to_vec();
        recording.reference = Reference::Plan(Plan {
            steps: theirs.to_vec(),
            ..Plan::default()
        });
        recording.tensors[0].fill = Fill::Kernel(super::launch().kernel);
        validate(&on_cpu(&recording), &catalog, &facts())
            .map_or_else(|Invalid(message)| message, |()| "valid".to_owned())
    };
    assert_eq!(with(MAX_SOURCES), "valid");
    assert_eq!(
        with(MAX_SOURCES + 1),
        "its kernels come from 65 sources; the limit is 64"
    );
}

#[test]
fn tensors_and_scratch_count_as_bytes_of_a_case() {
    let with = |scratch: Vec<u64>| verdict(|recording| recording.plan.scratch = scratch);
    // Two tensors of eight floats.
    assert_eq!(with(vec![MAX_CASE_BYTES - 64]), "valid");
    assert_eq!(with(vec![MAX_CASE_BYTES / 2, MAX_CASE_BYTES / 2 - 64]), "valid");
    assert!(with(vec![MAX_CASE_BYTES - 63]).starts_with("its tensors and scratch have"));
    assert!(with(vec![MAX_CASE_BYTES / 2, MAX_CASE_BYTES / 2 - 63]).starts_with("its tensors and scratch have"));
}

#[test]
fn a_plan_must_not_write_inputs_or_constants() {
    let span = |tensor| Span {
        buffer: BufferId::Tensor(tensor),
        offset: 0,
        len: 8,
    };
    for (role, written) in [
        (Role::Input, "it writes to the input `x`"),
        (Role::Constant, "it writes to the input `x`"),
        (Role::InOut, "valid"),
    ] {
        for step in [
            Step::Memset {
                target: span(0),
                value: 0,
            },
            Step::Copy {
                source: span(1),
                target: span(0),
            },
        ] {
            let message = verdict(|recording| {
                recording.tensors[0].role = role;
                recording.plan.steps.push(step);
            });
            assert!(message.ends_with(written), "{message}");
        }
    }
}

#[test]
fn each_further_side_needs_outputs_and_scratch_of_its_own() {
    let recording = recording();
    let needed = |others: &[&Recording]| memory_needed_in_turns(&on_cpu(&recording), others.iter().copied());
    let alone = memory_needed(&on_cpu(&recording));
    assert_eq!(needed(&[]), alone);
    let further = 32 + 16;
    assert_eq!(needed(&[&recording]), alone + further);
    assert_eq!(needed(&[&recording; 2]), alone + 2 * further);
    let mut in_place = recording.clone();
    in_place.tensors[0].role = Role::InOut;
    assert_eq!(needed(&[&in_place]), alone + further + 32);
}

#[test]
fn the_copies_that_checking_needs_count_as_memory() {
    let needed = |change: &dyn Fn(&mut Recording)| {
        let mut recording = recording();
        change(&mut recording);
        memory_needed(&on_cpu(&recording))
    };
    let role = |role| needed(&|recording: &mut Recording| recording.tensors[0].role = role);
    // With eight floats: three copies of an input and one for the author, five of an output and one
    // of the author's answer; 16 bytes of scratch.
    let output = 32 * (5 + 1);
    assert_eq!(needed(&|_| ()), 32 * (3 + 1) + output + 16);
    assert_eq!(role(Role::Constant), 32 * (3 + 1) + output + 16);
    assert_eq!(role(Role::InOut), 32 * (7 + 2) + output + 16);
    assert_eq!(role(Role::Scratch), 32 + output + 16);
    assert_eq!(
        needed(&|recording| recording.plan.scratch.push(100)),
        32 * 4 + output + 116
    );
    let reference = |recording: &mut Recording| recording.reference = Reference::Plan(recording.plan.clone());
    // Its scratch adds to the plan's.
    assert!(needed(&reference) >= 32 * (3 + 5) + 32);
    assert_eq!(
        needed(&|recording| recording.plan.scratch = vec![u64::MAX; 2]),
        u64::MAX
    );
}

#[test]
fn every_dimension_of_a_grid_and_a_block_has_the_device_limit() {
    let facts = facts();
    for axis in 0..3 {
        let grid = |blocks| change_launch(|launch| launch.grid[axis] = blocks) == "valid";
        assert!(grid(1) && grid(facts.max_grid[axis]), "axis {axis}");
        assert!(!grid(0) && !grid(facts.max_grid[axis] + 1), "axis {axis}");
        let block = |threads| {
            change_launch(|launch| {
                launch.block = [1; 3];
                launch.block[axis] = threads;
            }) == "valid"
        };
        assert!(block(1) && block(facts.max_block[axis]), "axis {axis}");
        assert!(!block(0) && !block(facts.max_block[axis] + 1), "axis {axis}");
    }
    let block = |block| change_launch(|launch| launch.block = block) == "valid";
    assert!(block([32, 32, 1]) && !block([32, 32, 2]) && !block([33, 32, 1]));
    let shared = |bytes| change_launch(|launch| launch.dynamic_shared = bytes) == "valid";
    assert!(shared(49_152) && !shared(49_153));
}

#[test]
fn ranges_must_end_inside_their_buffers() {
    let memset = |offset, len| {
        valid(|recording| {
            let target = Span {
                buffer: BufferId::Tensor(1),
                offset,
                len,
            };
            recording.plan.steps.push(Step::Memset { target, value: 0 });
        })
    };
    assert!(memset(0, 32) && memset(31, 1) && memset(28, 4));
    assert!(!memset(0, 33) && !memset(32, 1) && !memset(29, 4) && !memset(0, 0) && !memset(u64::MAX, 1));
    let overlap = |source, target| {
        let span = |offset| Span {
            buffer: BufferId::Tensor(1),
            offset,
            len: 8,
        };
        !valid(|recording| {
            recording.plan.steps.push(Step::Copy {
                source: span(source),
                target: span(target),
            });
        })
    };
    assert!(overlap(0, 0) && overlap(0, 7) && overlap(7, 0));
    assert!(!overlap(0, 8) && !overlap(8, 0));
}
