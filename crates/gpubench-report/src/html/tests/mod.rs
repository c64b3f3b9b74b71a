//! The page as it is read: what it says, that nothing in it can be anything but text, and that no
//! figure breaks a drawing.

mod golden;
mod hostile;
mod outline;
mod pages;
