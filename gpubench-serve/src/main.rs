//! The program `gpubench-serve`: an HTTP door to the judge of `cargo gpubench`, for the clients of
//! `flashinfer-bench serve`.
//!
//! A request is a task, which `spool` keeps on the disk from before its acknowledgement until its
//! result is dropped. `queue` knows the state of each task. `worker` takes tasks for one device,
//! and has each graded by a process of its own, `grader`, whose traces `verdict` checks. `http`
//! limits connections, and `routes` answers their requests from the queue and the `dataset`.
#![forbid(unsafe_code)]

mod address;
mod command_line;
mod dataset;
mod error;
mod excerpt;
mod grader;
mod guard;
mod http;
mod launch;
mod queue;
mod routes;
mod spool;
mod task;
mod verdict;
mod worker;

use std::cell::Cell;
use std::rc::Rc;
use std::{panic, process};

use clap::Parser as _;
use gpubench_diagnostic::{ExitCode, Failure, InternalError};
use gpubench_sandbox::begin_with_rights_of_caller;
use rustix::fs::Mode;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::LocalSet;

use address::Listener;
use command_line::CommandLine;
use dataset::Dataset;
use error::ServeError;
use grader::Tool;
use queue::Queue;
use routes::Service;
use spool::Spool;
use worker::Device;

fn main() -> process::ExitCode {
    if let Some(error) = launch::tool_of_command_line() {
        Failure::from(error).print();
        return ExitCode::SetupMissing.into();
    }
    // Rust's own exit code for a panic would look like a failed build.
    let outcome = panic::catch_unwind(run).unwrap_or(Ok(ExitCode::Internal));
    let code = outcome.unwrap_or_else(|error| {
        error.print();
        error.exit_code()
    });
    code.into()
}

fn run() -> Result<ExitCode, Failure> {
    begin_with_rights_of_caller().map_err(ServeError::Rights)?;
    let options = CommandLine::parse();
    if let Some(twice) = twice(&options.devices) {
        return Err(ServeError::SameDevice { device: twice.clone() }.into());
    }
    // The spool has submissions of others.
    rustix::process::umask(Mode::from_bits_truncate(0o077));
    let tool = Tool::find(options.tool.as_deref(), options.timeout, options.arguments.clone())?;
    let dataset = Dataset::read(&options.dataset)?;
    let (spool, found) = Spool::open(&options.spool)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(InternalError::because("no runtime"))?;
    LocalSet::new().block_on(&runtime, async {
        let listener = Listener::bind(&options.listen).await?;
        let queue = Rc::new(Queue::new(spool, found, options.queue, options.keep));
        let (stop, stopped) = watch::channel(());
        let device = |name| {
            Rc::new(Device {
                name,
                is_healthy: Cell::new(true),
            })
        };
        let devices: Vec<_> = options.devices.into_iter().map(device).collect();
        let workers = devices.iter().map(|device| {
            let worker = worker::run(
                device.clone(),
                tool.clone(),
                queue.clone(),
                dataset.clone(),
                stopped.clone(),
            );
            tokio::task::spawn_local(worker)
        });
        let workers: Vec<_> = workers.collect();
        let guard = listener.guard();
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        // At once, since a program may close the pipe when it has the first line.
        let lines = format!("listening on {}\ngrading on {}\n", listener.url(), names.join(", "));
        print!("{lines}");
        let service = Service::new(queue, dataset, devices);
        tokio::select! {
            () = http::serve(listener, guard, Rc::new(service)) => {}
            signalled = first_signal() => signalled?,
        }
        drop(stop);
        for worker in workers {
            // A worker that panicked has said so, and its task runs again.
            let _ = worker.await;
        }
        Ok(ExitCode::Success)
    })
}

/// Returns a device that occurs twice. Its tasks would disturb each other.
fn twice(devices: &[String]) -> Option<&String> {
    let mut later = devices.iter().enumerate().skip(1);
    later
        .find(|(place, device)| devices[..*place].contains(device))
        .map(|(_, device)| device)
}

async fn first_signal() -> Result<(), Failure> {
    let caught = |kind| signal(kind).map_err(InternalError::because("cannot handle signals"));
    let (mut terminate, mut interrupt) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
