//! Buffers in a benchmark function.

use crate::catalog::Role;
use crate::element::Element;
use crate::plan::BufferId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// A range of a buffer's elements.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub(super) buffer: BufferId,
    /// First element.
    pub(super) start: u64,
    /// One past the last element.
    pub(super) end: u64,
    /// Length of the whole buffer, in elements.
    pub(super) elements: u64,
    /// Bytes of an element.
    pub(super) element_size: u64,
    /// Whether every step was in bounds. If not, using the view is an error.
    pub(super) inside: bool,
}

impl View {
    pub(super) fn whole(buffer: BufferId, elements: u64, element_size: usize) -> View {
        View {
            buffer,
            start: 0,
            end: elements,
            elements,
            element_size: element_size as u64,
            inside: true,
        }
    }

    fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    fn part(self, range: impl RangeBounds<usize>) -> View {
        let start = match range.start_bound() {
            Bound::Included(&start) => start as u64,
            Bound::Excluded(&start) => (start as u64).saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&end) => (end as u64).saturating_add(1),
            Bound::Excluded(&end) => end as u64,
            Bound::Unbounded => self.len().max(start),
        };
        let inside = self.inside && start <= end && end <= self.len();
        View {
            start: self.start.saturating_add(start),
            end: self.start.saturating_add(end),
            inside,
            ..self
        }
    }
}

/// A buffer or part of a buffer: [`In`], [`Out`], [`InOut`], [`Scratch`] or [`Constant`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer",
    note = "buffers are In<T>, Out<T>, InOut<T>, Scratch<T> and Constant<T>"
)]
pub trait Buffer: Copy {
    #[doc(hidden)]
    fn view(&self) -> View;
}

/// A buffer that a plan may write: [`Out`], [`InOut`] or [`Scratch`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written",
    label = "not a writable buffer",
    note = "inputs and constants are read only: `Out<T>`, `InOut<T>` and `Scratch<T>` can be written"
)]
pub trait WritableBuffer: Buffer {}

/// A buffer that can be a parameter of a benchmark function.
#[doc(hidden)]
pub trait BufferParam: Buffer {
    type Element: Element;
    const ROLE: Role;
    const TYPE: &'static str;

    fn from_view(view: View) -> Self;
}

macro_rules! buffers {
    ($($(#[$doc:meta])* $name:ident is $role:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<T> {
            view: View,
            element: PhantomData<fn() -> T>,
        }

        impl<T: Element> $name<T> {
            /// Returns the number of elements.
            pub fn len(&self) -> usize {
                self.view.len() as usize
            }

            /// Returns whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the part from element `elements` to the end. As a kernel argument, it is a
            /// pointer to that element.
            ///
            /// If the offset is beyond the end, using the result is an error.
            #[must_use]
            pub fn offset(self, elements: usize) -> Self {
                self.range(elements..)
            }

            /// Returns the elements of a range.
            ///
            /// If the range is out of bounds, using the result is an error.
            #[must_use]
            pub fn range(self, elements: impl RangeBounds<usize>) -> Self {
                $name { view: self.view.part(elements), element: PhantomData }
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?}, {}..{})", stringify!($name), self.view.buffer, self.view.start, self.view.end)
            }
        }

        impl<T: Element> Buffer for $name<T> {
            fn view(&self) -> View {
                self.view
            }
        }

        impl<T: Element> BufferParam for $name<T> {
            type Element = T;
            const ROLE: Role = Role::$role;
            const TYPE: &'static str = stringify!($name);

            fn from_view(view: View) -> Self {
                $name { view, element: PhantomData }
            }
        }
    )*};
}

buffers! {
    /// An input: read-only, with new contents for every call.
    In is Input;
    /// An output: holds noise before the call and is checked after it.
    Out is Output;
    /// A tensor that the call reads and overwrites: new contents for every call, checked after it.
    InOut is InOut;
    /// Temporary memory: holds noise before the call and is not checked.
    Scratch is Scratch;
    /// An input with the same contents for every call of a case, such as a filter or a table.
    Constant is Constant;
}

impl<T: Element> WritableBuffer for Out<T> {}
impl<T: Element> WritableBuffer for InOut<T> {}
impl<T: Element> WritableBuffer for Scratch<T> {}
