//! Submissions to an online judge, called as they are: each is a function that launches on the
//! default stream and waits for the device. Their sources are not in this repository; `run.sh`
//! fetches them.

mod elementwise;
mod matrices;
mod windows;
