//! Outputs after a call, for a check.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::rc::Rc;

use crate::catalog::Role;
use crate::element::{Element, Elements, Number, type_name};
use crate::error::{Error, Result};
use crate::plan::launcher::no_tensor;

/// An output after a call: what the call wrote, and what is expected. The function of `check = ..`
/// takes one for each output.
///
/// The check can accept elements, which are then right as they are. All others are compared with
/// the expected ones when it has returned. Indices are those of the flattened tensor, in row-major
/// order. Methods panic on an index that is not one.
///
/// ```
/// use gpubench::prelude::*;
///
/// // Rows are padded: only the first `lens[row]` elements count.
/// fn in_rows(cols: usize, lens: &[u32], mut y: Answer<f32>) {
///     y.ignore(|index| index % cols >= lens[index / cols] as usize);
/// }
/// # let _ = in_rows;
/// ```
#[derive(Debug)]
pub struct Answer<'a, T> {
    got: &'a [T],
    expected: &'a mut [T],
    given: &'a [T],
    ignored: Ignored,
}

/// Which elements of an output are ignored. Empty if none is.
pub(crate) type Ignored = Rc<RefCell<Vec<bool>>>;

impl<'a, T: Number> Answer<'a, T> {
    /// Returns what the call wrote. Elements that it did not write hold noise.
    pub fn got(&self) -> &'a [T] {
        self.got
    }

    /// Returns what the reference expects, after the changes of this check. Zeros if there is no
    /// reference.
    pub fn expected(&self) -> &[T] {
        self.expected
    }

    /// Returns what an in-out tensor held before the call. Empty for other outputs.
    pub fn given(&self) -> &'a [T] {
        self.given
    }

    /// Accepts an element, whatever the reference expects. It was judged by the check.
    pub fn accept(&mut self, index: usize) {
        self.expected[index] = self.got[index];
    }

    /// Leaves out all elements for which `is_ignored` returns true, such as padding: any value
    /// passes. Writes outside of the tensor are still found. It is an error to ignore all elements
    /// of an output.
    pub fn ignore(&mut self, is_ignored: impl Fn(usize) -> bool) {
        let mut ignored = self.ignored.borrow_mut();
        ignored.resize(self.got.len(), false);
        for index in (0..self.got.len()).filter(|index| is_ignored(*index)) {
            ignored[index] = true;
            self.expected[index] = self.got[index];
        }
    }

    /// Accepts the expected elements in any order. Those of the same rank are compared.
    pub fn in_any_order(&mut self) {
        self.rows_in_any_order(self.got.len());
    }

    /// Accepts the expected elements of each row of `len` elements in any order within the row.
    ///
    /// # Panics
    /// Panics if the tensor is not a number of whole rows.
    #[track_caller]
    pub fn rows_in_any_order(&mut self, len: usize) {
        self.check_rows(len);
        if len == 0 {
            return;
        }
        for (expected, got) in self.expected.chunks_mut(len).zip(self.got.chunks(len)) {
            expected.sort_by(order);
            let mut places: Vec<usize> = (0..len).collect();
            places.sort_by(|one, other| order(&got[*one], &got[*other]));
            let sorted = expected.to_vec();
            for (place, value) in places.into_iter().zip(sorted) {
                expected[place] = value;
            }
        }
    }

    /// For indices into rows of `values`: accepts an index of another element of the row that has
    /// the value of the expected one, as ties of a top-k have. A row of the output has `k` indices,
    /// one of `values` has `cols` elements. No index may be twice in a row.
    ///
    /// # Panics
    /// Panics if the tensors are not equally many whole rows.
    #[track_caller]
    pub fn ties<V: Number>(&mut self, k: usize, values: &[V], cols: usize) {
        self.check_rows(k);
        if k == 0 {
            return;
        }
        let rows = self.got.len() / k;
        assert!(
            values.len() == rows * cols,
            "{rows} rows of {cols} values are not {} values",
            values.len()
        );
        for (row, (expected, got)) in self.expected.chunks_mut(k).zip(self.got.chunks(k)).enumerate() {
            let value = |index: &T| {
                let index = index.to_f64();
                let is_one = index >= 0.0 && index < cols as f64 && index.fract() == 0.0;
                is_one.then(|| values[row * cols + index as usize])
            };
            let key = |index: &T| index.to_f64().to_bits();
            let written: HashSet<u64> = got.iter().map(key).collect();
            // If an index is there twice, another one is missing.
            let missing = expected.iter().find(|index| !written.contains(&key(index))).copied();
            let mut used = HashSet::new();
            for (expected, got) in expected.iter_mut().zip(got) {
                let is_tie = match (value(expected), value(got)) {
                    (Some(expected), Some(got)) => order(&expected, &got) == Ordering::Equal,
                    _ => false,
                };
                if !used.insert(key(got)) {
                    *expected = missing.unwrap_or(*expected);
                } else if is_tie {
                    *expected = *got;
                }
            }
        }
    }

    #[track_caller]
    fn check_rows(&self, len: usize) {
        let elements = self.got.len();
        assert!(
            elements == 0 || len > 0 && elements.is_multiple_of(len),
            "{elements} elements are not rows of {len}"
        );
    }
}

/// Orders elements of a type. A NaN has a place too, and zero equals negative zero.
fn order<T: Number>(one: &T, other: &T) -> Ordering {
    let [first, second] = [one, other].map(|element| element.to_f64() + 0.0);
    // 64-bit integers are rounded, and complex numbers have a second part.
    first.total_cmp(&second).then_with(|| one.order_of_equals(*other))
}

/// The memory of a case's tensors after a call.
pub struct CheckData<'a> {
    tensors: Vec<CheckedTensor<'a>>,
    /// The NaNs that the call wrote: positions of the tensor and of the element.
    nans: Vec<(usize, usize)>,
}

/// The memory of one tensor.
pub(crate) struct CheckedTensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) role: Role,
    /// What it held before the call, unless it is an output.
    pub(crate) given: Option<Elements<'a>>,
    /// What is expected, and what the call wrote, if it is an output or in-out.
    pub(crate) answer: Option<(Elements<'a>, Elements<'a>)>,
    pub(crate) ignored: Ignored,
}

impl<'a> CheckData<'a> {
    pub(crate) fn new(tensors: Vec<CheckedTensor<'a>>) -> CheckData<'a> {
        CheckData {
            tensors,
            nans: Vec::new(),
        }
    }

    /// Takes a tensor that the call read.
    pub(crate) fn input<T: Element>(&mut self, name: &str) -> Result<&'a [T]> {
        let tensor = self.tensor(name, &[Role::Input, Role::Constant], "reads")?;
        typed(name, tensor.given.take()).map(|elements| &*elements)
    }

    /// Takes a tensor that the call wrote.
    pub(crate) fn answer<T: Number>(&mut self, name: &str) -> Result<Answer<'a, T>> {
        let tensor = self.tensor(name, &[Role::Output, Role::InOut], "judges")?;
        let (expected, got) = match tensor.answer.take() {
            Some((expected, got)) => (Some(expected), Some(got)),
            None => (None, None),
        };
        let given = match tensor.role {
            Role::InOut => typed(name, tensor.given.take())?,
            _ => &mut [],
        };
        let got: &[T] = typed(name, got)?;
        let ignored = Rc::clone(&tensor.ignored);
        let position = self.tensors.iter().position(|tensor| tensor.name == name);
        let nans = got.iter().enumerate().filter(|(_, element)| element.is_nan());
        self.nans.extend(nans.filter_map(|(index, _)| Some((position?, index))));
        Ok(Answer {
            got,
            expected: typed(name, expected)?,
            given,
            ignored,
        })
    }

    /// Returns in words which NaN the check has not ignored. Comparisons with NaN are false, so a
    /// check that looks for large errors accepts it.
    pub(crate) fn first_nan(&self) -> Option<String> {
        let (tensor, index) = self.nans.iter().find_map(|(tensor, index)| {
            let tensor = &self.tensors[*tensor];
            let is_ignored = tensor.ignored.borrow().get(*index).copied();
            (!is_ignored.unwrap_or_default()).then_some((tensor, index))
        })?;
        Some(format!(
            "`{}[{index}]` is NaN, which is right only where a reference expects it",
            tensor.name
        ))
    }

    fn tensor(&mut self, name: &str, roles: &[Role], verb: &str) -> Result<&mut CheckedTensor<'a>> {
        let Some(position) = self.tensors.iter().position(|tensor| tensor.name == name) else {
            let names: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name).collect();
            return Err(no_tensor(name, &names));
        };
        let tensor = &mut self.tensors[position];
        if roles.contains(&tensor.role) {
            return Ok(tensor);
        }
        let role = crate::plan::launcher::type_of(tensor.role);
        Err(Error::new(format!(
            "the check {verb} `{name}`, but the tensor is declared as `{role}`"
        )))
    }

    /// Fails if an output has no element that the check has not ignored.
    pub(crate) fn check_ignored(&self) -> Result<()> {
        let ignores_all = |tensor: &&CheckedTensor<'_>| {
            let ignored = tensor.ignored.borrow();
            !ignored.is_empty() && ignored.iter().all(|is_ignored| *is_ignored)
        };
        match self.tensors.iter().find(ignores_all) {
            None => Ok(()),
            Some(tensor) => Err(Error::new(format!(
                "the check ignores every element of `{}`, so nothing of it is judged",
                tensor.name
            ))),
        }
    }
}

fn typed<'a, T: Element>(name: &str, elements: Option<Elements<'a>>) -> Result<&'a mut [T]> {
    let elements = elements.ok_or_else(|| Error::new(format!("the tensor `{name}` is already taken")))?;
    let held = elements.type_name().to_owned();
    T::of(elements).ok_or_else(|| Error::new(format!("the tensor `{name}` holds {held}, not {}", type_name::<T>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex32;

    /// Returns the expected elements after a check.
    fn after<T: Number>(expected: &[T], got: &[T], check: impl FnOnce(&mut Answer<'_, T>)) -> Vec<T> {
        let mut expected = expected.to_vec();
        let mut answer = Answer {
            got,
            expected: &mut expected,
            given: &[],
            ignored: Ignored::default(),
        };
        check(&mut answer);
        expected
    }

    #[test]
    fn elements_in_any_order_meet_those_of_the_same_rank() {
        let got = [3.1f32, 0.9, 2.0];
        assert_eq!(after(&[1.0, 2.0, 3.0], &got, |y| y.in_any_order()), [3.0, 1.0, 2.0]);
        // An element that is there twice does not hide that another is missing.
        assert_eq!(after(&[1u32, 2, 3], &[2, 2, 1], |y| y.in_any_order()), [2, 3, 1]);
    }

    #[test]
    fn rows_in_any_order_do_not_mix() {
        let got = [2u8, 1, 1, 2];
        assert_eq!(after(&[1, 2, 3, 4], &got, |y| y.rows_in_any_order(2)), [2, 1, 3, 4]);
    }

    #[test]
    fn large_integers_keep_their_order() {
        let big = 1u64 << 60;
        assert_eq!(
            after(&[big, big + 1], &[big + 1, big], |y| y.in_any_order()),
            [big + 1, big]
        );
    }

    #[test]
    fn an_index_of_an_equal_value_is_accepted_once() {
        let values = [5.0f32, 7.0, 7.0, 1.0];
        let ties = |got: [u32; 2]| after(&[1u32, 2], &got, |y| y.ties(2, &values, 4));
        assert_eq!(ties([2, 1]), [2, 1]);
        assert_ne!(ties([2, 2]), [2, 2], "an index twice");
        assert_ne!(ties([1, 1]), [1, 1], "an index twice");
        assert_ne!(ties([1, 0]), [1, 0], "another value");
        assert_ne!(ties([1, 9]), [1, 9], "outside of the row");
    }

    #[test]
    fn a_nan_is_told_unless_it_is_ignored() {
        let (mut expected, mut got) = ([0.0f32; 3], [1.0, f32::NAN, f32::NAN]);
        let mut data = CheckData::new(vec![CheckedTensor {
            name: "y",
            role: Role::Output,
            given: None,
            answer: Some((Elements::F32(&mut expected), Elements::F32(&mut got))),
            ignored: Ignored::default(),
        }]);
        let mut y = data.answer::<f32>("y").unwrap();
        y.ignore(|index| index == 1);
        assert!(data.first_nan().unwrap().starts_with("`y[2]` is NaN"));
        y.ignore(|index| index == 2);
        assert_eq!(data.first_nan(), None);
    }

    #[test]
    fn a_complex_number_is_nan_if_its_imaginary_part_is() {
        let number = Complex32::new;
        let (mut expected, mut got) = ([number(0.0, 0.0)], [number(1.0, f32::NAN)]);
        let mut data = CheckData::new(vec![CheckedTensor {
            name: "y",
            role: Role::Output,
            given: None,
            answer: Some((Elements::Complex32(&mut expected), Elements::Complex32(&mut got))),
            ignored: Ignored::default(),
        }]);
        data.answer::<Complex32>("y").unwrap();
        assert!(data.first_nan().unwrap().starts_with("`y[0]` is NaN"));
        let ordered = [number(1.0, 2.0), number(1.0, 3.0), number(1.0, f32::NAN)];
        for (place, one) in ordered.iter().enumerate() {
            for (other_place, other) in ordered.iter().enumerate() {
                assert_eq!(order(one, other), place.cmp(&other_place), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn ignored_elements_are_counted_once() {
        let ignored = Ignored::default();
        let tensor = |ignored: &Ignored| CheckedTensor {
            name: "y",
            role: Role::Output,
            given: None,
            answer: None,
            ignored: Rc::clone(ignored),
        };
        let (got, mut expected) = ([1u8, 2], [3, 4]);
        let mut answer = Answer {
            got: &got,
            expected: &mut expected,
            given: &[],
            ignored: Rc::clone(&ignored),
        };
        answer.ignore(|index| index == 0);
        answer.ignore(|index| index == 0);
        assert!(CheckData::new(vec![tensor(&ignored)]).check_ignored().is_ok());
        answer.ignore(|index| index == 1);
        let error = CheckData::new(vec![tensor(&ignored)]).check_ignored().unwrap_err();
        assert!(error.to_string().contains("ignores every element of `y`"), "{error}");
        assert_eq!(expected, got);
    }
}
