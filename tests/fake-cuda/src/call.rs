//! Wrappers around every driver call: planned failures, sticky faults, the lock.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::behaviour::behaviour;
use crate::error::{NOT_INITIALIZED, Refusal};
use crate::gpu::Gpu;

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
