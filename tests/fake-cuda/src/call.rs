//! Wrappers around every driver call: planned failures, sticky faults, the lock.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::behaviour::behaviour;
use crate::error::{NOT_INITIALIZED, Refusal};
use crate::gpu::Gpu;

/// How long a wait leaves the driver to other threads.
const BETWEEN_LOOKS: Duration = Duration::from_micros(50);

static CALLS: Mutex<Option<HashMap<&'static str, u32>>> = Mutex::new(None);
static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

/// Runs a call that needs no device.
pub(crate) fn plain(function: &'static str, body: impl FnOnce() -> Result<(), Refusal>) -> c_int {
    result(planned(function).and_then(|()| body()))
}

/// Runs a call that needs an initialised driver.
pub(crate) fn with_gpu(function: &'static str, body: impl FnOnce(&mut Gpu) -> Result<(), Refusal>) -> c_int {
    let run = || {
        planned(function)?;
        let mut gpu = lock();
        let gpu = gpu.as_mut().ok_or(Refusal(NOT_INITIALIZED))?;
        body(gpu)?;
        gpu.doorbell.iter().for_each(|doorbell| doorbell.ring_for(function));
        Ok(())
    };
    result(run())
}

/// Runs a call in the context. After a fault, every call returns the fault's code.
pub(crate) fn in_context(function: &'static str, body: impl FnOnce(&mut Gpu) -> Result<(), Refusal>) -> c_int {
    with_gpu(function, |gpu| {
        gpu.sound()?;
        body(gpu)
    })
}

/// Waits in the context until a look finds what it waits for. Other threads make calls between two
/// looks.
pub(crate) fn waiting(function: &'static str, mut look: impl FnMut(&mut Gpu) -> Result<bool, Refusal>) -> c_int {
    let mut has_come = false;
    let mut code = in_context(function, |gpu| {
        has_come = look(gpu)?;
        Ok(())
    });
    while code == 0 && !has_come {
        std::thread::sleep(BETWEEN_LOOKS);
        let mut again = || {
            let mut gpu = lock();
            let gpu = gpu.as_mut().ok_or(Refusal(NOT_INITIALIZED))?;
            gpu.sound()?;
            has_come = look(gpu)?;
            Ok(())
        };
        code = result(again());
    }
    code
}

/// The state of this process.
pub(crate) fn lock() -> MutexGuard<'static, Option<Gpu>> {
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

fn planned(function: &'static str) -> Result<(), Refusal> {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = calls.get_or_insert_default().entry(function).or_default();
    *count += 1;
    let is_it = |planned: &&crate::behaviour::PlannedFailure| planned.function == function && planned.number == *count;
    match behaviour().failures.iter().find(is_it) {
        Some(planned) => Err(Refusal(planned.code)),
        None => Ok(()),
    }
}

fn result(result: Result<(), Refusal>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(Refusal(code)) => code,
    }
}
