//! Where an output differs from the expected one.

use bytemuck::{Pod, Zeroable};

/// Most elements that are listed.
pub const MOST_LISTED: usize = 10;

/// Most dimensions with coordinates of their own.
pub const MOST_DIMENSIONS: usize = 8;

/// Order to describe an output of the last window.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct DifferencesOrder {
    /// Position of the tensor.
    pub tensor: u64,
    /// Position of the field, if the tensor holds structs; 0 otherwise.
    pub field: u64,
}

/// Where an output differs from the expected one. All zero if it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Differences {
    /// Position of the tensor.
    pub tensor: u64,
    /// Position of the field, if the tensor holds structs; 0 otherwise.
    pub field: u64,
    /// Number of wrong elements that were found. The end of a large output is not looked at.
    pub wrong: u64,
    /// Number of `elements` that are used.
    pub listed: u64,
    /// Number of `coordinates` that are used: the tensor's dimensions, or none if it has too many.
    pub dimensions: u64,
    /// The first wrong elements.
    pub elements: [DifferentElement; MOST_LISTED],
    /// The coordinates of the wrong elements in each dimension, outermost first.
    pub coordinates: [Coordinates; MOST_DIMENSIONS],
    /// Their flat indices.
    pub indices: Coordinates,
}

impl Differences {
    /// Returns the first wrong elements.
    pub fn elements(&self) -> &[DifferentElement] {
        let listed = usize::try_from(self.listed).unwrap_or(usize::MAX);
        &self.elements[..listed.min(MOST_LISTED)]
    }

    /// Returns the coordinates in each dimension.
    pub fn coordinates(&self) -> &[Coordinates] {
        let dimensions = usize::try_from(self.dimensions).unwrap_or(usize::MAX);
        &self.coordinates[..dimensions.min(MOST_DIMENSIONS)]
    }
}

/// A wrong element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DifferentElement {
    /// Flat index.
    pub index: u64,
    /// Bits of the expected element, zero-extended.
    pub expected_bits: u64,
    /// Bits of the element found.
    pub got_bits: u64,
}

/// Coordinates of wrong elements in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Coordinates {
    /// The smallest.
    pub first: u64,
    /// The largest.
    pub last: u64,
    /// Number of different ones.
    pub different: u64,
    /// The greatest common divisor of their distances from the first. 0 if there is only one.
    pub step: u64,
}

impl Coordinates {
    /// Returns whether they are every `step`-th from the first to the last.
    pub fn are_regular(&self) -> bool {
        let Some(steps) = self.last.saturating_sub(self.first).checked_div(self.step) else {
            return self.different == 1;
        };
        steps.checked_add(1) == Some(self.different)
    }
}
