//! What a device can do with its clocks.

/// The clocks of one device, which can be locked. All clocks are those of the multiprocessors, in
/// MHz.
pub trait ClockControl {
    /// Returns the clocks that can be locked, in any order.
    ///
    /// # Errors
    /// If the driver does not list them.
    fn supported(&mut self) -> Result<Vec<u32>, ClockError>;

    /// Returns the clock that the driver chooses for computing when nobody sets one.
    ///
    /// # Errors
    /// If the driver does not name one.
    fn usual(&mut self) -> Result<u32, ClockError>;

    /// Returns the clock at this moment.
    ///
    /// # Errors
    /// If it cannot be read.
    fn now(&mut self) -> Result<u32, ClockError>;

    /// Locks the clock of the device's rated power.
    ///
    /// # Errors
    /// If the driver refuses.
    fn lock_rated(&mut self) -> Result<(), ClockError>;

    /// Locks a clock.
    ///
    /// # Errors
    /// If the driver refuses.
    fn lock(&mut self, megahertz: u32) -> Result<(), ClockError>;

    /// Removes a lock, whoever set it. Without one, does nothing.
    ///
    /// # Errors
    /// If the driver refuses.
    fn unlock(&mut self) -> Result<(), ClockError>;
}

/// Why a driver refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// This user may not do it.
    #[error("the user has no permission")]
    NotPermitted,
    /// The device or its driver cannot do it.
    #[error("the device does not support it")]
    NotSupported,
    /// The driver does not accept the value.
    #[error("the driver does not accept the value")]
    InvalidValue,
    /// Something else.
    #[error("{0}")]
    Other(String),
}
