//! Panics of user code, kept inside the cdylib and turned into messages.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// The panic message of this thread while it is inside [`guard`].
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// Runs `work`; on a panic, the message with the place it came from.
///
/// Nothing is caught where panics abort.
pub(super) fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    CAUGHT.set(Some(None));
    // What a panic leaves behind is dropped with the process or never looked at again.
    let result = catch_unwind(AssertUnwindSafe(work));
    let message = CAUGHT.take().flatten();
    // This library's own standard library is not shut down when the process ends: text without a
    // line end would be lost.
    let _ = std::io::stdout().flush();
    result.map_err(|payload| message.unwrap_or_else(|| text(payload.as_ref()).to_owned()))
}

/// From then on, panics inside [`guard`] are kept; others go where they went before.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            let kept = CAUGHT.with_borrow_mut(|caught| match caught {
                Some(message) => {
                    *message = Some(describe(panic));
                    true
                }
                None => false,
            });
            if !kept {
                before(panic);
            }
        }));
    });
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let message = text(panic.payload());
    match panic.location() {
        Some(place) => format!("{message} (at {}:{}:{})", place.file(), place.line(), place.column()),
        None => message.to_owned(),
    }
}

fn text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message_and_place() {
        let line = line!() + 1;
        let message = guard(|| panic!("no {}", "pixels")).unwrap_err();
        assert!(message.starts_with("no pixels (at "), "{message}");
        assert!(message.contains(&format!("panics.rs:{line}:")), "{message}");
    }

    #[test]
    fn a_panic_that_was_caught_inside_is_not_reported() {
        assert_eq!(guard(|| catch_unwind(|| panic!("inner")).is_err()), Ok(true));
    }
}
