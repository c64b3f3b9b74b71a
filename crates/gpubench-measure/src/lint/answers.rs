//! Wrong answers of kernels that do not do the work.

use gpubench::Rng;
use gpubench::catalog::{DType, Tensor, Tolerance};

use super::check::Judge;
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

/// Returns an answer that is wrong everywhere.
pub(super) fn far_off(dtype: DType, right: &[f64]) -> Vec<u8> {
    let far = 1e3 * right.iter().fold(1.0, |far: f64, value| far.max(value.abs()));
    elements(dtype, std::iter::repeat_n(far, right.len()))
}

/// Returns answers for an output of which nothing is expected. They depend on no input, so a kernel
/// that gives them does no work.
pub(super) fn idle_answers(tensor: &Tensor, rng: &mut Rng) -> Vec<WrongAnswer> {
    let Tensor { dtype, .. } = *tensor;
    let len = tensor.elements() as usize;
    let constant = |value: f64| elements(dtype, std::iter::repeat_n(value, len));
    let answer = |rule, what: &str, bytes| WrongAnswer {
        rule,
        what: what.to_owned(),
        bytes,
    };
    let mut answers = vec![
        answer(Rule::Zeros, "zeros", constant(0.0)),
        answer(Rule::Ones, "ones", constant(1.0)),
        answer(Rule::AnyAnswer, "any finite answer", far_off(dtype, &vec![1.0; len])),
    ];
    if epsilon(dtype).is_some() {
        let noise = elements(dtype, (0..len).map(|_| rng.normal()));
        answers.push(answer(Rule::NotANumber, "NaN", constant(f64::NAN)));
        answers.push(answer(Rule::Noise, "noise", noise));
    } else {
        let counted = elements(dtype, (0..len).map(|index| index as f64));
        answers.push(answer(Rule::Constant, "0, 1, 2, and so on,", counted));
    }
    answers
}

/// Returns wrong answers for an output of `call`. `before` is a call with other inputs, all that a
/// kernel can know before it reads its own. Elements that are `free` may hold anything.
pub(super) fn wrong_answers(
    tensors: &[Tensor],
    output: usize,
    (call, before): (&Call, &Call),
    (judge, free): (Judge, &[bool]),
    rng: &mut Rng,
) -> Vec<WrongAnswer> {
    let tensor = &tensors[output];
    let (Some(expected), Some(old)) = (&call.expected[output], &before.expected[output]) else {
        return Vec::new();
    };
    let Tensor { dtype, .. } = *tensor;
    let (right, known) = (values(dtype, expected), values(dtype, old));
    // Numbers, of which a complex element has two.
    let (len, parts) = (right.len(), dtype.parts().1);
    let (mean, deviation) = moments(&known);
    let mut answers = Vec::new();
    let mut add = |rule, what: String, bytes: Vec<u8>| answers.push(WrongAnswer { rule, what, bytes });
    let constant = |value: f64| elements(dtype, std::iter::repeat_n(value, len));
    if epsilon(dtype).is_some() {
        add(Rule::NotANumber, "NaN".to_owned(), constant(f64::NAN));
    }
    if epsilon(dtype).is_some() || judge != Judge::Reference {
        add(Rule::AnyAnswer, "any finite answer".to_owned(), far_off(dtype, &right));
    }
    add(Rule::Zeros, "zeros".to_owned(), constant(0.0));
    add(Rule::Ones, "ones".to_owned(), constant(1.0));
    add(
        Rule::Constant,
        format!("the constant {}, the mean of another call's answer,", short(mean)),
        constant(mean),
    );
    if len > parts {
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
    if let Some((what, bytes)) = few_wrong(tensor, &right, expected, free) {
        add(Rule::OneWrongElement, what, bytes);
    }
    if let Some((index, bytes)) = one_twice(tensor, expected, free).filter(|_| judge == Judge::ReferenceAndCheck) {
        let what = format!("the right answer with element {index} twice");
        add(Rule::OneWrongElement, what, bytes);
    }
    let same_size = |position: &usize| {
        let input = &tensors[*position];
        input.role.is_input() && input.elements() * input.dtype.parts().1 as u64 == len as u64
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
    answers.retain(|answer| is_wrong(tensor, &answer.bytes, expected, &right, free));
    answers
}

/// Returns how many elements of an output may be outside its tolerance.
fn allowed(tensor: &Tensor) -> usize {
    let allowed = tensor.tolerance.mismatched();
    allowed.map_or(0, |allowed| allowed.most(tensor.elements()) as usize)
}

/// Returns the right answer with wrong signs of its largest elements, or with wrong elements if all
/// are zero: with one, or with one more than may be outside the tolerance.
fn few_wrong(tensor: &Tensor, right: &[f64], expected: &[u8], free: &[bool]) -> Option<(String, Vec<u8>)> {
    let (part, parts) = tensor.dtype.parts();
    let is_tried = |(index, value): &(usize, &f64)| value.is_finite() && !is_free(free, *index);
    let mut largest: Vec<(usize, &f64)> = right.iter().enumerate().filter(is_tried).collect();
    let count = allowed(tensor) + 1;
    if largest.len() > count {
        largest.select_nth_unstable_by(count - 1, |a, b| b.1.abs().total_cmp(&a.1.abs()));
        largest.truncate(count);
    }
    let size = part.size();
    let mut bytes = expected.to_vec();
    for (index, largest) in &largest {
        let wrong = match tensor.dtype {
            dtype if epsilon(dtype).is_none() => (*largest + 1.0) % 127.0,
            _ if **largest == 0.0 => 1.0,
            _ => -*largest,
        };
        bytes[index * size..][..size].copy_from_slice(&elements(part, std::iter::once(wrong)));
    }
    let what = match &largest[..] {
        [] => return None,
        [(index, _)] => format!("the right answer but for element {}", index / parts),
        more => format!("the right answer but for {} elements", more.len()),
    };
    Some((what, bytes))
}

/// Returns the right answer with an element in place of the next one, unless one element may be
/// outside the tolerance.
fn one_twice(tensor: &Tensor, expected: &[u8], free: &[bool]) -> Option<(usize, Vec<u8>)> {
    if allowed(tensor) > 0 {
        return None;
    }
    let (size, parts) = (tensor.dtype.size(), tensor.dtype.parts().1);
    let elements: Vec<&[u8]> = expected.chunks_exact(size).collect();
    let mut pairs = elements.windows(2).enumerate();
    let differ = |(index, pair): &(usize, &[&[u8]])| pair[0] != pair[1] && !is_free(free, (index + 1) * parts);
    let (index, pair) = pairs.find(differ)?;
    let mut bytes = expected.to_vec();
    bytes[(index + 1) * size..][..size].copy_from_slice(pair[0]);
    Some((index, bytes))
}

fn is_free(free: &[bool], index: usize) -> bool {
    free.get(index).copied().unwrap_or_default()
}

/// Whether an answer differs from the expected one by more than rounding errors, in an element that
/// is not free.
pub(super) fn is_wrong(tensor: &Tensor, answer: &[u8], expected: &[u8], right: &[f64], free: &[bool]) -> bool {
    let size = tensor.dtype.parts().0.size();
    let Some(epsilon) = epsilon(tensor.dtype).filter(|_| tensor.tolerance != Tolerance::Exact) else {
        let mut pairs = answer.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate();
        return pairs.any(|(index, (given, right))| given != right && !is_free(free, index));
    };
    let scale = rms(right.iter().copied());
    let given = values(tensor.dtype, answer);
    let mut pairs = given.iter().zip(right).enumerate();
    pairs.any(|(index, (given, right))| {
        let off = (given - right).abs();
        let is_off = match (given.is_nan(), right.is_nan()) {
            (true, true) => false,
            (false, false) => off > 64.0 * epsilon * right.abs().max(scale),
            _ => true,
        };
        is_off && !is_free(free, index)
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
    use gpubench::catalog::{DType, Fill, Mismatched, Role};

    use super::*;

    fn tensor(name: &str, role: Role, len: u64) -> Tensor {
        Tensor {
            name: name.to_owned(),
            dtype: DType::F32,
            shape: vec![len],
            role,
            fill: Fill::Poison,
            tolerance: Tolerance::Close { rtol: 1e-3, atol: 0.0 },
            record: None,
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
        let answers = wrong_answers(&tensors, 1, (call, before), (Judge::Reference, &[]), &mut Rng::new(1));
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

    fn outputs_of(tolerance: Tolerance) -> Tensor {
        Tensor {
            tolerance,
            ..tensor("y", Role::Output, 4)
        }
    }

    #[test]
    fn one_element_more_than_may_be_outside_the_tolerance_is_wrong() {
        let right = [1.0, -4.0, 2.0, 3.0];
        let expected = elements(DType::F32, right.into_iter());
        let wrong = |tolerance, free: &[bool]| {
            let (what, bytes) = few_wrong(&outputs_of(tolerance), &right, &expected, free)?;
            Some((what, values(DType::F32, &bytes)))
        };
        let strict = Tolerance::Close { rtol: 1e-3, atol: 0.0 };
        let (what, one) = wrong(strict, &[]).expect("an answer");
        assert_eq!(
            (&*what, &one[..]),
            ("the right answer but for element 1", &[1.0, 4.0, 2.0, 3.0][..])
        );
        let mismatched = Mismatched { share: 0.3, cap: 10.0 };
        let mostly = Tolerance::Mostly {
            rtol: 1e-3,
            atol: 0.0,
            mismatched,
        };
        let (what, two) = wrong(mostly, &[]).expect("an answer");
        assert_eq!(
            (&*what, &two[..]),
            ("the right answer but for 2 elements", &[1.0, 4.0, 2.0, -3.0][..])
        );
        let (_, elsewhere) = wrong(strict, &[false, true, false, true]).expect("an answer");
        assert_eq!(elsewhere, [1.0, -4.0, -2.0, 3.0]);
        assert_eq!(wrong(strict, &[true; 4]), None);
    }

    #[test]
    fn an_element_is_twice_where_neighbours_differ_and_are_judged() {
        let expected = elements(DType::F32, [5.0, 5.0, 6.0, 7.0].into_iter());
        let twice = |free: &[bool]| {
            let (index, bytes) = one_twice(&outputs_of(Tolerance::Exact), &expected, free)?;
            Some((index, values(DType::F32, &bytes)))
        };
        assert_eq!(twice(&[]), Some((1, vec![5.0, 5.0, 5.0, 7.0])));
        assert_eq!(twice(&[false, false, true, false]), Some((2, vec![5.0, 5.0, 6.0, 6.0])));
        assert_eq!(twice(&[true; 4]), None);
    }

    #[test]
    fn an_answer_that_differs_in_free_elements_alone_is_right() {
        let right = [1.0, 2.0, 3.0, 4.0];
        let bytes = |values: [f64; 4]| elements(DType::F32, values.into_iter());
        let free = [false, true, false, false];
        for tolerance in [Tolerance::Exact, Tolerance::Close { rtol: 1e-3, atol: 0.0 }] {
            let is_wrong = |answer| is_wrong(&outputs_of(tolerance), &bytes(answer), &bytes(right), &right, &free);
            assert!(!is_wrong([1.0, f64::NAN, 3.0, 4.0]), "{tolerance:?}");
            assert!(is_wrong([1.0, 2.0, 3.0, 5.0]), "{tolerance:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.0, "0"), (131_072.3, "131100"), (-2.5e-9, "-2.5e-9"), (1.0, "1")] {
            assert_eq!(short(value), text);
        }
    }
}
