//! Distributions of inputs and the unit of tolerances.

use gpubench::prelude::*;

/// Half the distance from 1 to the next larger `f32`.
pub const U: f64 = f32::EPSILON as f64 / 2.0;

/// The standard normal distribution.
pub const NORMAL: Normal = Normal { mean: 0.0, stddev: 1.0 };
