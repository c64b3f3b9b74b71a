//! Wrong answers of kernels that do not do the work.

use gpubench::Rng;
use gpubench::catalog::{Tensor, Tolerance};

use super::numbers::{elements, epsilon, moments, rms, values};
use super::rule::Rule;
use fit::Fit;

mod fit;

/// The tensors of a call, by position. Inputs have contents, outputs have expected ones.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) contents: Vec<Option<Vec<u8>>>,
    pub(super) expected: Vec<Option<Vec<u8>>>,
}

/// An answer that no honest kernel gives.
#[derive(Debug)]
pub(super) struct WrongAnswer {
    pub(super) rule: Rule,
    /// What it is: `zeros`.
    pub(super) what: String,
    pub(super) bytes: Vec<u8>,
}

/// Returns the elements below which an output can have an answer by chance.
pub(super) const FEW: usize = 64;

/// Returns wrong answers for an output of `call`. `before` is a call with other inputs, all that a
/// kernel can know before it reads its own.
pub(super) fn wrong_answers(
    tensors: &[Tensor],
    output: usize,
    (call, before): (&Call, &Call),
    rng: &mut Rng,
) -> Vec<WrongAnswer> {
    let tensor = &tensors[output];
    let (Some(expected), Some(old)) = (&call.expected[output], &before.expected[output]) else {
        return Vec::new();
    };
    let Tensor { dtype, .. } = *tensor;
    let (right, known) = (values(dtype, expected), values(dtype, old));
    let len = right.len();
    let (mean, deviation) = moments(&known);
    let mut answers = Vec::new();
    let mut add = |rule, what: String, bytes: Vec<u8>| answers.push(WrongAnswer { rule, what, bytes });
    let constant = |value: f64| elements(dtype, std::iter::repeat_n(value, len));
    if epsilon(dtype).is_some() {
        add(Rule::NotANumber, "NaN".to_owned(), constant(f64::NAN));
        let far = 1e3 * right.iter().fold(1.0, |far: f64, value| far.max(value.abs()));
        add(Rule::AnyAnswer, "any finite answer".to_owned(), constant(far));
    }
    add(Rule::Zeros, "zeros".to_owned(), constant(0.0));
    add(Rule::Ones, "ones".to_owned(), constant(1.0));
    add(
        Rule::Constant,
        format!("the constant {}, the mean of another call's answer,", short(mean)),
        constant(mean),
    );
    if len > 1 {
        add(Rule::Stale, "the answer to other inputs".to_owned(), old.clone());
        let noise = elements(dtype, (0..len).map(|_| mean + deviation * rng.normal()));
        add(
            Rule::Noise,
            "noise with the mean and the deviation of the answers".to_owned(),
            noise,
        );
        let mut turned = expected.clone();
        turned.rotate_left(dtype.size());
        add(
            Rule::Permutation,
            "the right elements, each one place too early,".to_owned(),
            turned,
        );
    }
    if let Some((index, bytes)) = one_wrong(tensor, &right, expected) {
        add(
            Rule::OneWrongElement,
            format!("the right answer but for element {index}"),
            bytes,
        );
    }
    let same_size = |position: &usize| {
        let input = &tensors[*position];
        input.role.is_input() && input.elements() == len as u64
    };
    for position in (0..tensors.len()).filter(same_size) {
        let input = &tensors[position];
        let (Some(contents), Some(earlier)) = (&call.contents[position], &before.contents[position]) else {
            continue;
        };
        if input.dtype == dtype {
            add(Rule::InputCopy, format!("a copy of `{}`", input.name), contents.clone());
        }
        if epsilon(dtype).is_some() && epsilon(input.dtype).is_some() && len >= FEW {
            let (x, then) = (values(input.dtype, contents), values(input.dtype, earlier));
            for fit in Fit::all(&then, &known, tensor.tolerance) {
                let answer = elements(dtype, x.iter().map(|x| fit.at(*x)));
                add(Rule::SimpleFunction, fit.describe(&input.name), answer);
            }
        }
    }
    answers.retain(|answer| is_wrong(tensor, &answer.bytes, expected, &right));
    answers
}

/// Returns the right answer with a wrong sign of its largest element, or with a wrong element if
/// all are zero.
fn one_wrong(tensor: &Tensor, right: &[f64], expected: &[u8]) -> Option<(usize, Vec<u8>)> {
    let finite = right.iter().enumerate().filter(|(_, value)| value.is_finite());
    let (index, largest) = finite.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    let wrong = match tensor.dtype {
        dtype if epsilon(dtype).is_none() => (largest + 1.0) % 127.0,
        _ if *largest == 0.0 => 1.0,
        _ => -largest,
    };
    let size = tensor.dtype.size();
    let mut bytes = expected.to_vec();
    bytes[index * size..][..size].copy_from_slice(&elements(tensor.dtype, std::iter::once(wrong)));
    Some((index, bytes))
}

/// Whether an answer differs from the expected one by more than rounding errors.
pub(super) fn is_wrong(tensor: &Tensor, answer: &[u8], expected: &[u8], right: &[f64]) -> bool {
    let Some(epsilon) = epsilon(tensor.dtype).filter(|_| tensor.tolerance != Tolerance::Exact) else {
        return answer != expected;
    };
    let scale = rms(right.iter().copied());
    let given = values(tensor.dtype, answer);
    let mut pairs = given.iter().zip(right);
    pairs.any(|(given, right)| {
        let off = (given - right).abs();
        match (given.is_nan(), right.is_nan()) {
            (true, true) => false,
            (false, false) => off > 64.0 * epsilon * right.abs().max(scale),
            _ => true,
        }
    })
}

/// Formats a number with four digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Fill, Role};

    use super::*;

    fn tensor(name: &str, role: Role, len: u64) -> Tensor {
        Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![len],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Close { rtol: 1e-3, atol: 0.0 },
        }
    }

    fn call(x: &[f64], y: &[f64]) -> Call {
        let bytes = |values: &[f64]| Some(elements(DType::F32, values.iter().copied()));
        Call {
            contents: vec![bytes(x), None],
            expected: vec![None, bytes(y)],
        }
    }

    fn tried(call: &Call, before: &Call, len: u64) -> Vec<Rule> {
        let tensors = [tensor("x", Role::Input, len), tensor("y", Role::Output, len)];
        let answers = wrong_answers(&tensors, 1, (call, before), &mut Rng::new(1));
        let mut rules: Vec<Rule> = answers.iter().map(|answer| answer.rule).collect();
        rules.dedup();
        rules
    }

    #[test]
    fn what_is_right_is_never_tried() {
        let (now, before) = (call(&[1.0, 2.0], &[0.0, 0.0]), call(&[3.0, 4.0], &[0.0, 0.0]));
        let rules = tried(&now, &before, 2);
        for right in [Rule::Zeros, Rule::Stale, Rule::Constant, Rule::Noise, Rule::Permutation] {
            assert!(!rules.contains(&right), "{right:?}");
        }
        assert!(rules.contains(&Rule::Ones) && rules.contains(&Rule::OneWrongElement));
    }

    #[test]
    fn one_element_has_neither_another_place_nor_an_old_neighbour() {
        let rules = tried(&call(&[1.0], &[5.0]), &call(&[2.0], &[6.0]), 1);
        assert!(rules.contains(&Rule::Constant) && !rules.contains(&Rule::Permutation));
        assert!(!rules.contains(&Rule::Stale));
    }

    #[test]
    fn a_function_that_the_problem_is_does_not_count_as_a_wrong_answer() {
        let x: Vec<f64> = (0..100).map(f64::from).collect();
        let other: Vec<f64> = x.iter().map(|x| 1.7 * x - 30.0).collect();
        let of = |f: fn(&f64) -> f64| {
            (
                x.iter().map(f).collect::<Vec<_>>(),
                other.iter().map(f).collect::<Vec<_>>(),
            )
        };
        let (now, then) = of(|x| 2.0 * x + 1.0);
        assert!(!tried(&call(&x, &now), &call(&other, &then), 100).contains(&Rule::SimpleFunction));
        // The factor depends on all elements.
        let normed = |x: &[f64]| {
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().map(|x| x / norm).collect::<Vec<_>>()
        };
        let shifted: Vec<f64> = x.iter().map(|x| 1.001 * x).collect();
        let rules = tried(&call(&x, &normed(&x)), &call(&shifted, &normed(&shifted)), 100);
        assert!(rules.contains(&Rule::SimpleFunction), "{rules:?}");
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.0, "0"), (131_072.3, "131100"), (-2.5e-9, "-2.5e-9"), (1.0, "1")] {
            assert_eq!(short(value), text);
        }
    }
}
