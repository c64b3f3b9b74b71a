//! The values of all axes.

use gpubench::catalog::{AxisValue, Params};

use super::error::CaseError;
use super::reserved::reserved;
use crate::definition::{AxisKind, Definition, is_number};
use crate::expression;
use crate::workload::Workload;

/// Values of axes in the order of the definition.
#[derive(Debug)]
pub(super) struct Axes(Vec<(String, u64)>);

impl Axes {
    /// Returns the values, and the constraints that could not be read.
    ///
    /// # Errors
    /// An axis has no value, a negative one or one that does not fit, the workload has an axis that
    /// the definition has not or fixes, or a constraint does not hold.
    pub(super) fn resolve(definition: &Definition, workload: &Workload) -> Result<(Axes, Vec<String>), CaseError> {
        for (axis, given) in workload.axes.iter() {
            match definition.axes.get(axis).map(|axis| &axis.kind) {
                Some(AxisKind::Var) => {}
                Some(AxisKind::Const(value)) if value == given => {}
                Some(AxisKind::Const(_) | AxisKind::Expr(_)) => {
                    return Err(CaseError::FixedAxis { axis: axis.to_owned() });
                }
                None => return Err(CaseError::UnknownAxis { axis: axis.to_owned() }),
            }
        }
        // Expressions may use all others, wherever they are.
        let mut values: Vec<(String, Option<u64>)> = Vec::new();
        for (axis, spec) in definition.axes.iter() {
            reserved(axis)?;
            let value = match &spec.kind {
                AxisKind::Const(value) => Some(*value),
                AxisKind::Expr(_) => None,
                AxisKind::Var => {
                    let given = workload.axes.get(axis).copied();
                    Some(given.ok_or_else(|| CaseError::AxisWithoutValue { axis: axis.to_owned() })?)
                }
            };
            values.push((axis.to_owned(), value));
        }
        for (position, (axis, spec)) in definition.axes.iter().enumerate() {
            if let AxisKind::Expr(expression) = &spec.kind {
                let known = |name: &str| values.iter().find(|(axis, _)| axis == name)?.1;
                let value = expression::evaluate(expression, &known).map_err(|source| CaseError::Expression {
                    axis: axis.to_owned(),
                    source,
                })?;
                values[position].1 = Some(u64::try_from(value).map_err(|_| CaseError::AxisOutOfRange {
                    axis: axis.to_owned(),
                    value,
                })?);
            }
        }
        let values = values
            .into_iter()
            .filter_map(|(axis, value)| Some((axis, value?)))
            .collect();
        let axes = Axes(values);
        let unread = axes.check(&definition.constraints)?;
        Ok((axes, unread))
    }

    /// Checks constraints. Returns those that could not be read.
    fn check(&self, constraints: &[String]) -> Result<Vec<String>, CaseError> {
        let mut unread = Vec::new();
        for constraint in constraints {
            match expression::holds(constraint, &|axis| self.value(axis)) {
                Ok(true) => {}
                Ok(false) => {
                    return Err(CaseError::Constraint {
                        constraint: constraint.clone(),
                    });
                }
                Err(_) => unread.push(constraint.clone()),
            }
        }
        Ok(unread)
    }

    fn value(&self, axis: &str) -> Option<u64> {
        let found = self.0.iter().find(|(name, _)| name == axis);
        found.map(|(_, value)| *value)
    }

    /// Returns the extents of a tensor.
    ///
    /// # Errors
    /// A dimension is neither an axis nor a number that fits.
    pub(super) fn shape(&self, tensor: &str, dimensions: &[String]) -> Result<Vec<u64>, CaseError> {
        let extents = dimensions.iter().map(|dimension| {
            let extent = match is_number(dimension) {
                true => dimension.parse().ok(),
                false => self.value(dimension),
            };
            extent.ok_or_else(|| CaseError::Dimension {
                tensor: tensor.to_owned(),
                dimension: dimension.clone(),
            })
        });
        extents.collect()
    }

    /// Returns the axes as parameters of a case.
    ///
    /// # Errors
    /// A value does not fit.
    pub(super) fn params(&self) -> Result<Params, CaseError> {
        let params = self.0.iter().map(|(axis, value)| {
            let number = i64::try_from(*value).map_err(|_| CaseError::AxisOutOfRange {
                axis: axis.clone(),
                value: i128::from(*value),
            })?;
            Ok((axis.clone(), AxisValue::Int(number)))
        });
        params.collect()
    }
}
