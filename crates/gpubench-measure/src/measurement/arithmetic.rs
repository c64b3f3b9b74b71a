//! The peak arithmetic rates that a case can reach.

use gpubench::catalog::{DType, Tensor};
use gpubench_contract::ArithmeticPeaks;

/// Returns the peak to which a rate on operands of a type is compared: the lowest peak of the
/// type that the rate does not exceed, or its highest if the rate exceeds all. A type can have
/// several: the device can compute single precision with all bits or as TF32. `None` if the
/// type or its peak is not known.
pub(super) fn reached_by(peaks: &ArithmeticPeaks, rate: f64, operands: Option<DType>) -> Option<f64> {
    let mut peaks: Vec<f64> = for_type(peaks, operands?).into_iter().flatten().collect();
    peaks.sort_by(f64::total_cmp);
    let enough = peaks.iter().copied().find(|peak| rate <= *peak);
    enough.or(peaks.last().copied())
}

/// Returns the rate that no arithmetic on operands of a type can exceed. If the type or its
/// peaks are not known, it is the highest peak of all.
pub(super) fn limit(peaks: &ArithmeticPeaks, operands: Option<DType>) -> Option<f64> {
    let highest = |rates: &[Option<f64>]| rates.iter().flatten().copied().reduce(f64::max);
    let of_type = operands.and_then(|dtype| highest(&for_type(peaks, dtype)));
    of_type.or_else(|| highest(&peaks.by_type().map(|(_, peak)| peak)))
}

/// Returns the peaks of the units that can compute with a type.
fn for_type(peaks: &ArithmeticPeaks, operands: DType) -> [Option<f64>; 2] {
    match operands {
        DType::F64 => [peaks.f64, None],
        DType::F32 | DType::Complex32 => [peaks.f32, peaks.tf32],
        DType::F16 => [peaks.f16, None],
        DType::BF16 => [peaks.bf16, None],
        DType::F8E4M3 | DType::F8E5M2 => [peaks.bits8, None],
        DType::U8 | DType::I8 => [peaks.bits8, peaks.bits4],
        DType::U16 | DType::I16 | DType::U32 | DType::I32 | DType::U64 | DType::I64 => [None, None],
    }
}

/// Returns the type that a case computes with: the common type of its inputs. Integers of 16 bits
/// and more count as indices and are left out. `None` if there are several types, or none.
pub(super) fn operand_type(tensors: &[Tensor]) -> Option<DType> {
    let is_index = |dtype: DType| {
        matches!(
            dtype,
            DType::U16 | DType::I16 | DType::U32 | DType::I32 | DType::U64 | DType::I64
        )
    };
    let inputs = tensors.iter().filter(|tensor| tensor.role.is_input());
    let mut types = inputs.map(|tensor| tensor.dtype).filter(|dtype| !is_index(*dtype));
    let first = types.next()?;
    types.all(|dtype| dtype == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{Fill, Role, Tolerance};

    use super::*;

    const PEAKS: ArithmeticPeaks = ArithmeticPeaks {
        f64: Some(2.0),
        f32: Some(4.0),
        tf32: Some(16.0),
        f16: Some(32.0),
        bf16: None,
        bits8: Some(64.0),
        bits4: None,
    };

    #[test]
    fn a_rate_is_compared_with_the_lowest_peak_of_its_type_that_it_does_not_exceed() {
        assert_eq!(reached_by(&PEAKS, 3.0, Some(DType::F32)), Some(4.0));
        assert_eq!(reached_by(&PEAKS, 5.0, Some(DType::F32)), Some(16.0), "as TF32");
        assert_eq!(
            reached_by(&PEAKS, 20.0, Some(DType::F32)),
            Some(16.0),
            "more than either"
        );
        assert_eq!(reached_by(&PEAKS, 3.0, Some(DType::F16)), Some(32.0));
        assert_eq!(reached_by(&PEAKS, 3.0, Some(DType::BF16)), None);
        assert_eq!(reached_by(&PEAKS, 3.0, None), None);
    }

    #[test]
    fn the_limit_is_the_highest_peak_if_the_type_or_its_peak_is_unknown() {
        assert_eq!(limit(&PEAKS, Some(DType::F64)), Some(2.0));
        assert_eq!(limit(&PEAKS, Some(DType::F32)), Some(16.0));
        for unknown in [None, Some(DType::BF16), Some(DType::I32)] {
            assert_eq!(limit(&PEAKS, unknown), Some(64.0));
        }
        assert_eq!(limit(&ArithmeticPeaks::default(), None), None);
        assert!(PEAKS.is_known() && !ArithmeticPeaks::default().is_known());
    }

    #[test]
    fn a_case_computes_with_the_type_of_its_inputs() {
        let of = |types: &[(Role, DType)]| {
            let tensor = |&(role, dtype): &(Role, DType)| Tensor {
                name: "x".to_owned(),
                dtype,
                shape: vec![4],
                role,
                fill: Fill::Poison,
                tolerance: Tolerance::Exact,
                record: None,
            };
            operand_type(&types.iter().map(tensor).collect::<Vec<_>>())
        };
        let (input, output) = (Role::Input, Role::Output);
        assert_eq!(
            of(&[(input, DType::BF16), (input, DType::BF16), (output, DType::F32)]),
            Some(DType::BF16)
        );
        assert_eq!(
            of(&[(input, DType::F32), (input, DType::U32), (output, DType::F32)]),
            Some(DType::F32)
        );
        assert_eq!(of(&[(input, DType::BF16), (input, DType::F32)]), None);
        assert_eq!(of(&[(input, DType::U64), (output, DType::F32)]), None);
        assert_eq!(of(&[(output, DType::F32)]), None);
    }
}
