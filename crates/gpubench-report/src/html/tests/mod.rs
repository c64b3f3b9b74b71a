//! Tests of the page: its contents, that untrusted text stays text, and that no number breaks a
//! chart.

mod audit;
mod golden;
mod hostile;
mod observation;
mod outline;
mod pages;
mod scaling;
