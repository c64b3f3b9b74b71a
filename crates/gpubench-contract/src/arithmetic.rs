//! Peak arithmetic rates by operand type.

use serde::{Deserialize, Serialize};

/// A device's peak arithmetic rates by operand type, in operations per second. A fused multiply-add
/// counts as two operations, operands are dense, and the faster of the tensor cores and the other
/// units counts. Null if the device does not support the type or the rate is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ArithmeticPeaks {
    /// Double precision.
    pub f64: Option<f64>,
    /// Single precision with all of its bits.
    pub f32: Option<f64>,
    /// Single precision that tensor cores round to TF32.
    pub tf32: Option<f64>,
    /// IEEE half precision.
    pub f16: Option<f64>,
    /// bfloat16.
    pub bf16: Option<f64>,
    /// 8-bit integers and, if the device has it, 8-bit floating point.
    pub bits8: Option<f64>,
    /// 4-bit floating point. Tensors hold two values in a byte.
    pub bits4: Option<f64>,
}

impl ArithmeticPeaks {
    /// Returns whether a peak is known.
    pub fn is_known(&self) -> bool {
        self.by_type().iter().any(|(_, peak)| peak.is_some())
    }

    /// Returns every peak with the name of its type.
    pub fn by_type(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("f64", self.f64),
            ("f32", self.f32),
            ("tf32", self.tf32),
            ("f16", self.f16),
            ("bf16", self.bf16),
            ("8 bits", self.bits8),
            ("4 bits", self.bits4),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_known_if_one_of_any_type_is() {
        assert!(!ArithmeticPeaks::default().is_known());
        let one = ArithmeticPeaks {
            bits4: Some(1.0),
            ..ArithmeticPeaks::default()
        };
        assert!(one.is_known());
        let each = ArithmeticPeaks {
            f64: Some(1.0),
            f32: Some(2.0),
            tf32: Some(3.0),
            f16: Some(4.0),
            bf16: Some(5.0),
            bits8: Some(6.0),
            bits4: Some(7.0),
        };
        let peaks = each.by_type().map(|(_, peak)| peak);
        assert_eq!(peaks, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0].map(Some));
    }
}
