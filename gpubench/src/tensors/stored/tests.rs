use super::*;
use crate::element::Element;
use crate::tensor_file::safetensors::header;
use crate::tensors::{CpuData, CpuTensor, Tensors};

const SHAPE: [usize; 2] = [3, 2];

/// A file with `w`, the numbers from 1 to 6 in three rows, and `i`, the same as whole numbers.
fn file() -> &'static TensorFile {
    let numbers = 1..=6_i8;
    let floats = numbers.clone().flat_map(|number| f32::from(number).to_le_bytes());
    let integers = numbers.flat_map(|number| i64::from(number).to_le_bytes());
    let mut contents = header(&[("w", DType::F32, &[3, 2]), ("i", DType::I64, &[3, 2])], &[]);
    contents.extend(floats.chain(integers));
    Box::leak(Box::new(TensorFile::embedded("model.safetensors", contents.leak())))
}

/// Fills a tensor for a call with this seed.
fn filled(fill: FileFill, seed: u64) -> Vec<f32> {
    let tensors = Tensors::new().constant("w", f32::shape(SHAPE), fill);
    let mut elements = vec![0.0; 6];
    let tensor = CpuTensor {
        name: "w",
        role: Role::Constant,
        elements: Some(Elements::F32(&mut elements)),
    };
    tensors
        .run_generators(seed, &mut CpuData::new(vec![tensor]))
        .expect("filled");
    elements
}

/// Returns why a tensor cannot be filled so.
fn refused(role: Role, shape: &Shape, fill: &FileFill) -> String {
    fill.check(role, shape).expect_err("it is refused").to_string()
}

#[test]
fn each_rule_changes_what_it_says_and_another_seed_gives_other_contents() {
    type Rule = (fn(FileTensor) -> FileFill, fn(&[f32]) -> bool);
    let rules: [Rule; 3] = [
        (
            |tensor| tensor.scaled(0.5..0.75),
            |found| {
                (1..).zip(found).all(|(number, found)| {
                    let factor = found / number as f32;
                    (0.5..0.75).contains(&factor)
                })
            },
        ),
        (
            |tensor| tensor.with_noise(0.01),
            |found| {
                (1..)
                    .zip(found)
                    .all(|(number, found)| (found - number as f32).abs() < 0.1)
            },
        ),
        (
            |tensor| tensor.with_permuted_rows(),
            |found| {
                let mut rows: Vec<&[f32]> = found.chunks(2).collect();
                rows.sort_by(|one, other| one[0].total_cmp(&other[0]));
                rows == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
            },
        ),
    ];
    for (rule, holds) in rules {
        let of_seed = |seed| filled(rule(file().tensor("w")), seed);
        let several: Vec<Vec<f32>> = (0..20).map(of_seed).collect();
        assert!(several.iter().all(|found| holds(found)), "{several:?}");
        assert_eq!(several[7], of_seed(7));
        assert!(several.iter().any(|found| *found != several[0]));
    }
    assert_eq!(
        filled(file().tensor("w").unchanged(), 1),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
}

#[test]
fn only_a_constant_can_be_the_file_as_it_is() {
    let shape = f32::shape(SHAPE);
    let unchanged = file().tensor("w").unchanged();
    for role in [Role::Input, Role::InOut] {
        let message = refused(role, &shape, &unchanged);
        assert!(message.contains("every call would have the same inputs"), "{message}");
    }
    assert_eq!(unchanged.check(Role::Constant, &shape).ok(), Some(Fill::Stored));
    let scaled = file().tensor("w").scaled(0.9..1.1);
    assert_eq!(scaled.check(Role::Input, &shape).ok(), Some(Fill::Cpu));
}

#[test]
fn a_tensor_that_the_file_does_not_have_so_is_refused_with_what_it_has() {
    let fill = |name: &str| file().tensor(name).scaled(0.9..1.1);
    let shape = f32::shape(SHAPE);
    for (fill, shape, expected) in [
        (
            fill("x"),
            &shape,
            "`model.safetensors`, `x`: there is no tensor `x`: it has `w`, `i`",
        ),
        (fill("i"), &shape, "`model.safetensors`, `i`: it holds i64, not f32"),
        (
            fill("w"),
            &f32::shape([2, 3]),
            "`model.safetensors`, `w`: its shape is [3, 2], not [2, 3]",
        ),
        (
            file().array().with_noise(1.0),
            &shape,
            "`model.safetensors`: it is not a `.npy` file",
        ),
    ] {
        assert_eq!(refused(Role::Input, shape, &fill), expected);
    }
}

#[test]
fn a_rule_that_changes_nothing_or_is_not_for_the_type_is_refused() {
    let (floats, integers) = (f32::shape(SHAPE), i64::shape(SHAPE));
    let (w, i) = (|| file().tensor("w"), || file().tensor("i"));
    for (fill, shape, expected) in [
        (w().scaled(1.0..1.0), &floats, "has no factors"),
        (w().scaled(f64::NAN..1.0), &floats, "has no factors"),
        (w().with_noise(0.0), &floats, "changes nothing"),
        (w().with_noise(f64::INFINITY), &floats, "changes nothing"),
        (i().scaled(0.9..1.1), &integers, "floating-point elements, not for i64"),
        (i().with_noise(0.1), &integers, "floating-point elements, not for i64"),
    ] {
        let message = refused(Role::Input, shape, &fill);
        assert!(message.contains(expected), "{message}");
    }
    assert!(i().with_permuted_rows().check(Role::Input, &integers).is_ok());
}
