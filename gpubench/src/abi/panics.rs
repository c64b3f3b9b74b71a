//! Catches panics of user code inside the cdylib and turns them into messages.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// This thread's last panic message inside [`guard`].
    static CAUGHT: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// Runs `work`. On a panic, returns the message with its location.
///
/// With `panic = "abort"`, it catches nothing.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let outer = CAUGHT.replace(Some(None));
    // State that a panic leaves inconsistent is dropped with the process, or never read again.
    let result = catch_unwind(AssertUnwindSafe(work));
    let message = CAUGHT.replace(outer).flatten();
    // Flush here: the process does not shut down this library's standard library, so text without a
    // line end would be lost.
    let _ = std::io::stdout().flush();
    result.map_err(|payload| message.unwrap_or_else(|| text(payload.as_ref()).to_owned()))
}

/// Installs a hook that keeps panic messages inside [`guard`] and passes other panics to the
/// previous hook.
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
    fn a_panic_becomes_its_message_with_its_location() {
        let line = line!() + 1;
        let message = guard(|| panic!("no {}", "pixels")).unwrap_err();
        assert!(message.starts_with("no pixels (at "), "{message}");
        assert!(message.contains(&format!("panics.rs:{line}:")), "{message}");
    }

    #[test]
    fn a_panic_inside_of_another_guard_is_reported_there_alone() {
        let message = guard(|| {
            assert!(guard(|| panic!("inner")).is_err());
            panic!("outer")
        });
        assert!(message.is_err_and(|message: String| message.starts_with("outer")));
    }

    #[test]
    fn a_panic_that_user_code_catches_is_not_reported() {
        assert_eq!(guard(|| catch_unwind(|| panic!("inner")).is_err()), Ok(true));
    }
}
