//! The places that get records and metrics.

use std::io::{self, Write};

use super::MessageFormat;
use super::ProbeOptions;
use gpubench_contract::{ProbeFinished, ProbeStarted, Record};
use gpubench_diagnostic::{Failure, print_to_stderr, print_warning};
use gpubench_observe::metrics::{Page, Server, Textfile};
use gpubench_report::{ObservationPage, Output, OutputTarget, address, json_line};

/// The places that get records and metrics.
pub(super) struct Outlets {
    records: Vec<Output>,
    page: Option<OutputTarget>,
    server: Option<Server>,
    textfile: Option<Textfile>,
}

impl Outlets {
    /// Opens all of them, before anything is observed.
    ///
    /// # Errors
    /// One cannot be used.
    pub(super) fn open(options: &ProbeOptions) -> Result<Self, Failure> {
        let mut records = Vec::new();
        if options.format == MessageFormat::Json {
            records.push(Output::stdout());
        }
        if let Some(export) = &options.export {
            records.push(export.open()?);
        }
        if let Some(page) = &options.page {
            page.ensure_writable()?;
        }
        let server = options.metrics_address.map(Server::listening_at).transpose()?;
        Ok(Self {
            records,
            page: options.page.clone(),
            server,
            textfile: options.metrics_file.clone().map(Textfile::at).transpose()?,
        })
    }

    /// Prints where the metrics are.
    pub(super) fn greet(&self) {
        let Some(server) = &self.server else {
            return;
        };
        let at = server.address();
        print_to_stderr(&format_args!("{:>12} metrics at http://{at}/metrics\n", "Serving"));
        if !at.ip().is_loopback() {
            print_warning(&"other machines can read the metrics: there is no password and no encryption");
        }
    }

    /// Writes a record. A place that cannot be written gets no further ones.
    ///
    /// # Errors
    /// It cannot be written somewhere.
    pub(super) fn record(&mut self, record: &Record) -> Result<(), Failure> {
        if self.records.is_empty() {
            return Ok(());
        }
        let line = json_line(record)?;
        let mut written = Ok(());
        self.records.retain_mut(|output| match output.print(&line) {
            Ok(()) => true,
            Err(error) => {
                written = Err(error.into());
                false
            }
        });
        written
    }

    /// Publishes metrics, which are made only if they have a place.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn publish(&self, metrics: impl FnOnce() -> Option<Page>) -> Result<(), Failure> {
        if self.server.is_none() && self.textfile.is_none() {
            return Ok(());
        }
        let Some(page) = metrics() else {
            return Ok(());
        };
        if let Some(server) = &self.server {
            server.publish(page.clone());
        }
        match &self.textfile {
            Some(file) => Ok(file.write(&page)?),
            None => Ok(()),
        }
    }

    /// Writes the page.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write_page(&self, started: &ProbeStarted, finished: &ProbeFinished) -> Result<(), Failure> {
        let Some(target) = &self.page else {
            return Ok(());
        };
        target.write(&ObservationPage { started, finished }.page())?;
        if let Some(file) = target.file() {
            print_to_stderr(&format_args!("{:>12} {}\n", "Report", address(file)));
        }
        // What is written next follows the page.
        let _ = io::stdout().flush();
        Ok(())
    }
}
