//! The parameters of a kernel.

use crate::definition::ElementType;
use crate::workload::ScalarValue;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A tensor, by its position among those of the case.
    Tensor(usize),
    /// A scalar, the same for all calls.
    Scalar {
        /// Name.
        name: String,
        /// Type that the definition gives it.
        element_type: ElementType,
        /// Value, in the kind of number that the type has.
        value: ScalarValue,
    },
}
