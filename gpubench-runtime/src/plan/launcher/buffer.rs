//! Buffers as a benchmark function names them.

use crate::catalog::Role;
use crate::element::Element;
use crate::plan::BufferId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// A run of elements of a buffer.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub(super) buffer: BufferId,
    /// First element.
    pub(super) start: u64,
    /// One past the last element.
    pub(super) end: u64,
    /// Elements of the whole buffer.
    pub(super) elements: u64,
    /// Bytes of an element.
    pub(super) element_size: u64,
    /// Whether the run was taken from inside the run it is a part of; one that was not is an error
    /// where it is used.
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

/// A buffer or a part of one: [`In`], [`Out`], [`InOut`], [`Scratch`] or [`Constant`].
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

/// A buffer that stands in the parameters of a benchmark function.
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
            /// Number of elements.
            pub fn len(&self) -> usize {
                self.view.len() as usize
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The elements from number `elements` on. As a kernel's argument it is a pointer to
            /// the first of them.
            ///
            /// An offset beyond the end is an error where the result is used.
            #[must_use]
            pub fn offset(self, elements: usize) -> Self {
                self.range(elements..)
            }

            /// The elements of a range.
            ///
            /// A range that leaves the buffer is an error where the result is used.
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
    /// An input: fresh contents for every call, read only.
    In is Input;
    /// An output: holds noise before the call and is checked after it.
    Out is Output;
    /// An input that the call overwrites with an output.
    InOut is InOut;
    /// Memory for the call's own use; holds noise before the call and is not checked.
    Scratch is Scratch;
    /// An input with the same contents for every call of a case, such as a filter or a table.
    Constant is Constant;
}

impl<T: Element> WritableBuffer for Out<T> {}
impl<T: Element> WritableBuffer for InOut<T> {}
impl<T: Element> WritableBuffer for Scratch<T> {}
