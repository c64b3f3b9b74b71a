//! Probes of device memory, queued one after another and read together.

use std::marker::PhantomData;

use gpubench_harness::arguments::{CheckArguments, CheckPartial, NoiseCheckArguments, NoisePartial, StampArguments};
use gpubench_harness::{CheckSummary, Kernel, NoiseSummary, bindings};

use super::kernels::ReportBuffer;
use super::{Comparison, Coverage, Harness, LineCopy};
use crate::{DeviceError, DevicePtr, Driver, LaunchConfig, Stream};

/// Alignment of reports: a cache line of the CPU device, whose threads write them concurrently.
const REPORT_ALIGNMENT: u64 = 64;

/// Size of a digest's slot in bytes: two keys, then the sum.
const SLOT_BYTES: u64 = 24;
const SUM_OFFSET: u64 = 16;

/// The largest report without partial results, such as captured or uploaded bytes.
const PLAIN_REPORT: u64 = 1 << 10;

/// Probes that run in order on one stream. [`Harness::collect`] waits for all of them at once.
#[derive(Debug)]
pub struct Batch {
    number: u64,
    stream: Stream,
    reports: ReportBuffer,
    used: u64,
}

/// A queued probe. [`Findings::get`] of the same batch exchanges it for the result, once.
#[derive(Debug)]
#[must_use = "a probe checks nothing until its result is read"]
pub struct Ticket<F> {
    report: Report,
    /// The elements or bytes that the probe covers.
    amount: u64,
    finding: PhantomData<F>,
}

/// The place of a report in the report buffer of a batch.
#[derive(Clone, Copy, Debug)]
struct Report {
    batch: u64,
    address: DevicePtr,
    offset: u64,
    bytes: u64,
}

/// Bytes on the device that a later copy of the batch will use.
#[derive(Debug)]
pub struct PendingCopy(Report);

/// The keys on the device for a digest that will be queued.
#[derive(Debug)]
pub struct DigestSlot(Report);

/// The reports of a batch.
#[derive(Debug)]
pub struct Findings {
    batch: u64,
    reports: Vec<u8>,
}

/// The keyed sum of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestSum(pub u64);

/// A snapshot of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured(pub Vec<u8>);

/// A time of the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds(pub u64);

/// The result of a probe.
pub trait Finding: Sized {
    /// Reads the result from the report of a probe of `amount` elements or bytes.
    ///
    /// # Errors
    /// When the report is inconsistent.
    fn from_report(report: &[u8], amount: u64) -> Result<Self, DeviceError>;
}

impl Finding for CheckSummary {
    fn from_report(report: &[u8], amount: u64) -> Result<CheckSummary, DeviceError> {
        Ok(CheckSummary::from_memory(report, amount)?)
    }
}

impl Finding for NoiseSummary {
    fn from_report(report: &[u8], amount: u64) -> Result<NoiseSummary, DeviceError> {
        Ok(NoiseSummary::from_memory(report, amount)?)
    }
}

impl Finding for DigestSum {
    fn from_report(report: &[u8], _: u64) -> Result<DigestSum, DeviceError> {
        word(report.get(SUM_OFFSET as usize..).unwrap_or_default()).map(DigestSum)
    }
}

impl Finding for Nanoseconds {
    fn from_report(report: &[u8], _: u64) -> Result<Nanoseconds, DeviceError> {
        word(report).map(Nanoseconds)
    }
}

impl Finding for Captured {
    fn from_report(report: &[u8], _: u64) -> Result<Captured, DeviceError> {
        Ok(Captured(report.to_vec()))
    }
}

fn word(report: &[u8]) -> Result<u64, DeviceError> {
    let bytes = report.try_into().map_err(|_| foreign_report())?;
    Ok(u64::from_le_bytes(bytes))
}

fn foreign_report() -> DeviceError {
    DeviceError::Unsupported("read a result of another batch".to_owned())
}

impl Findings {
    /// Returns the result of a probe.
    ///
    /// # Errors
    /// When its report is inconsistent or belongs to another batch.
    pub fn get<F: Finding>(&self, ticket: Ticket<F>) -> Result<F, DeviceError> {
        let Report {
            batch, offset, bytes, ..
        } = ticket.report;
        match self.reports.get(offset as usize..(offset + bytes) as usize) {
            Some(report) if batch == self.batch => F::from_report(report, ticket.amount),
            _ => Err(foreign_report()),
        }
    }
}

impl Batch {
    /// Reserves space for a report.
    fn reserve(&mut self, bytes: u64) -> Result<Report, DeviceError> {
        let offset = self.used.next_multiple_of(REPORT_ALIGNMENT);
        if offset + bytes > self.reports.bytes {
            let text = "run more probes than its batch has space for".to_owned();
            return Err(DeviceError::Unsupported(text));
        }
        self.used = offset + bytes;
        Ok(Report {
            batch: self.number,
            address: self.reports.address.offset(offset),
            offset,
            bytes,
        })
    }
}

impl Report {
    fn ticket<F: Finding>(self, amount: u64) -> Ticket<F> {
        Ticket {
            report: self,
            amount,
            finding: PhantomData,
        }
    }
}

impl Harness {
    /// Begins a batch of at most `probes` probes, keys, and captured or uploaded pieces of at most
    /// 1 KiB. All device memory for them is allocated here. An allocation can wait for the whole
    /// device, so none may follow a queued wait.
    ///
    /// # Errors
    /// When there is no memory for the reports.
    pub fn begin(&mut self, driver: &mut dyn Driver, stream: Stream, probes: usize) -> Result<Batch, DeviceError> {
        let bytes = probes as u64 * self.largest_report(driver).next_multiple_of(REPORT_ALIGNMENT);
        // The batch owns its buffer. If two batches overlap, each has its own; if one fails, its
        // buffer is lost.
        let reports = match self.reports.take() {
            Some(buffer) if buffer.bytes >= bytes => buffer,
            small => {
                small.into_iter().for_each(|buffer| driver.free(buffer.address));
                self.allocate_reports(driver, bytes)?
            }
        };
        self.batches += 1;
        Ok(Batch {
            number: self.batches,
            stream,
            reports,
            used: 0,
        })
    }

    fn allocate_reports(&self, driver: &mut dyn Driver, bytes: u64) -> Result<ReportBuffer, DeviceError> {
        // The local memory of the probe kernels is device memory, too.
        for (_, function) in &self.functions {
            driver.prepare(*function, &LaunchConfig::linear(1, 1))?;
        }
        let address = driver.alloc(bytes)?;
        Ok(ReportBuffer { address, bytes })
    }

    fn largest_report(&self, driver: &dyn Driver) -> u64 {
        let check = self.partial_count(driver, Kernel::Check, u64::MAX) * size_of::<CheckPartial>() as u64;
        let noise = self.partial_count(driver, Kernel::NoiseCheck, u64::MAX) * size_of::<NoisePartial>() as u64;
        check.max(noise).max(PLAIN_REPORT)
    }

    /// Waits for all probes of a batch and reads their reports.
    ///
    /// # Errors
    /// As [`Driver::synchronize`] and [`Driver::read`].
    pub fn collect(&mut self, driver: &mut dyn Driver, batch: Batch) -> Result<Findings, DeviceError> {
        driver.synchronize(batch.stream)?;
        let mut reports = vec![0; batch.used as usize];
        driver.read(batch.reports.address, &mut reports)?;
        if let Some(other) = self.reports.replace(batch.reports) {
            driver.free(other.address);
        }
        Ok(Findings {
            batch: batch.number,
            reports,
        })
    }

    /// Queues a comparison of a tensor with the expected one.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn check(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        comparison: &Comparison,
    ) -> Result<Ticket<CheckSummary>, DeviceError> {
        let Comparison {
            got,
            expected,
            len,
            dtype,
            tolerance,
            poison_key,
            poison,
            order_key,
        } = *comparison;
        let (mode, rtol, atol) = match tolerance.bounds() {
            None => (bindings::GB_CHECK_EXACT, 0.0, 0.0),
            Some((rtol, atol)) => (bindings::GB_CHECK_CLOSE, rtol, atol),
        };
        let bytes = len * dtype.size() as u64;
        let partial_count = self.partial_count(driver, Kernel::Check, bytes);
        let report = batch.reserve(partial_count * size_of::<CheckPartial>() as u64)?;
        let arguments = CheckArguments {
            got: got.0,
            expected: expected.0,
            len,
            rtol,
            atol,
            poison_key,
            poison_offset: poison.offset,
            poison_row: poison.row.map_or(0, |row| row.elements.get()),
            poison_pitch: poison.row.map_or(0, |row| row.pitch),
            order_key,
            partials: report.address.0,
            partial_count,
            dtype: dtype as u32,
            mode,
        };
        self.launch(driver, batch.stream, bytes, &arguments)?;
        Ok(report.ticket(len))
    }

    /// Queues a comparison of bytes with the noise that was written there.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn check_noise(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        address: DevicePtr,
        bytes: u64,
        key: u64,
        offset: u64,
    ) -> Result<Ticket<NoiseSummary>, DeviceError> {
        let partial_count = self.partial_count(driver, Kernel::NoiseCheck, bytes);
        let report = batch.reserve(partial_count * size_of::<NoisePartial>() as u64)?;
        let arguments = NoiseCheckArguments {
            ptr: address.0,
            bytes,
            key,
            offset,
            partials: report.address.0,
            partial_count,
        };
        self.launch(driver, batch.stream, bytes, &arguments)?;
        Ok(report.ticket(bytes))
    }

    /// Queues a read of the device's clock.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn stamp(&self, driver: &mut dyn Driver, batch: &mut Batch) -> Result<Ticket<Nanoseconds>, DeviceError> {
        let report = batch.reserve(size_of::<u64>() as u64)?;
        let arguments = StampArguments { out: report.address.0 };
        self.launch(driver, batch.stream, 1, &arguments)?;
        Ok(report.ticket(1))
    }

    /// Queues a read of the device's clock, then the replacement of decoy lines by true ones in all
    /// `buffers`. `key` chooses the lines.
    ///
    /// # Errors
    /// As [`Driver::launch`].
    pub fn reveal(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        buffers: &[LineCopy],
        key: u64,
    ) -> Result<Ticket<Nanoseconds>, DeviceError> {
        let report = batch.reserve(size_of::<u64>() as u64)?;
        self.reveal_lines(driver, batch.stream, buffers, key, report.address)?;
        Ok(report.ticket(1))
    }

    /// Queues a snapshot of the `bytes` bytes at `address`.
    ///
    /// # Errors
    /// As [`Driver::copy`].
    pub fn capture(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        address: DevicePtr,
        bytes: u64,
    ) -> Result<Ticket<Captured>, DeviceError> {
        let report = batch.reserve(bytes)?;
        driver.copy(batch.stream, report.address, address, bytes)?;
        Ok(report.ticket(bytes))
    }

    /// Writes bytes to the device immediately, for a later copy in the order of the batch.
    ///
    /// # Errors
    /// As [`Driver::write`].
    pub fn hand_in(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        contents: &[u8],
    ) -> Result<PendingCopy, DeviceError> {
        let report = batch.reserve(contents.len() as u64)?;
        driver.write(report.address, contents)?;
        Ok(PendingCopy(report))
    }

    /// Queues the copy of uploaded bytes to an address.
    ///
    /// # Errors
    /// As [`Driver::copy`].
    pub fn hand_out(
        &self,
        driver: &mut dyn Driver,
        batch: &Batch,
        PendingCopy(report): PendingCopy,
        address: DevicePtr,
    ) -> Result<(), DeviceError> {
        driver.copy(batch.stream, address, report.address, report.bytes)
    }

    /// Writes the keys of several digests to the device immediately. The slots are in the order of
    /// `keys`.
    ///
    /// # Errors
    /// As [`Driver::write`].
    pub fn hand_in_keys(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        keys: &[[u64; 2]],
    ) -> Result<Vec<DigestSlot>, DeviceError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let all = batch.reserve(SLOT_BYTES * keys.len() as u64)?;
        let words: Vec<[u64; 3]> = keys.iter().map(|[digest, order]| [*digest, *order, 0]).collect();
        driver.write(all.address, bytemuck::cast_slice(&words))?;
        let starts = (0..keys.len() as u64).map(|slot| SLOT_BYTES * slot);
        let slots = starts.map(|start| {
            DigestSlot(Report {
                address: all.address.offset(start),
                offset: all.offset + start,
                bytes: SLOT_BYTES,
                ..all
            })
        });
        Ok(slots.collect())
    }

    /// Queues the digest of a buffer with uploaded keys.
    ///
    /// # Errors
    /// As [`Driver::launch`]; also when the keys belong to another batch.
    pub fn keyed_digest(
        &self,
        driver: &mut dyn Driver,
        batch: &mut Batch,
        slot: DigestSlot,
        address: DevicePtr,
        bytes: u64,
        coverage: Coverage,
    ) -> Result<Ticket<DigestSum>, DeviceError> {
        let DigestSlot(report) = slot;
        if report.batch != batch.number {
            return Err(foreign_report());
        }
        let keys = report.address;
        let sum = keys.offset(SUM_OFFSET);
        self.digest(driver, batch.stream, address, bytes, keys.0, coverage, sum.0)?;
        Ok(report.ticket(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gpubench::catalog::{DType, Tolerance};

    use super::*;
    use crate::cpu::CpuDriver;
    use crate::cpu::executor::ScheduleSeed;
    use crate::faulty::FaultyDriver;
    use crate::harness::PoisonPlace;

    const BYTES: u64 = 64;

    /// Returns the CPU device with a stream, the harness, and memory with noise of key 3.
    fn device() -> (CpuDriver, Stream, Harness, DevicePtr) {
        let threads = std::num::NonZeroUsize::new(2);
        let mut driver = CpuDriver::new(threads, ScheduleSeed::default()).expect("a C++ compiler when this was built");
        let harness = Harness::load(&mut driver).unwrap();
        let stream = driver.stream().unwrap();
        let memory = driver.alloc(BYTES).unwrap();
        harness.noise(&mut driver, stream, memory, BYTES, 3, 0).unwrap();
        (driver, stream, harness, memory)
    }

    fn equal_bytes(got: DevicePtr, expected: DevicePtr) -> Comparison {
        Comparison {
            got,
            expected,
            len: BYTES,
            dtype: DType::U8,
            tolerance: Tolerance::Exact,
            poison_key: 0,
            poison: PoisonPlace::default(),
            order_key: 0,
        }
    }

    #[test]
    fn probes_of_every_kind_work_in_one_batch() {
        let (mut driver, stream, mut harness, memory) = device();
        let mut batch = harness.begin(&mut driver, stream, 8).unwrap();
        let before = harness.stamp(&mut driver, &mut batch).unwrap();
        let keys = harness
            .hand_in_keys(&mut driver, &mut batch, &[[1, 2], [1, 2], [5, 2]])
            .unwrap();
        let digests: Vec<_> = keys
            .into_iter()
            .map(|slot| harness.keyed_digest(&mut driver, &mut batch, slot, memory, BYTES, Coverage::Whole))
            .collect();
        let noise = [3, 4].map(|key| harness.check_noise(&mut driver, &mut batch, memory, BYTES, key, 0));
        let check = harness
            .check(&mut driver, &mut batch, &equal_bytes(memory, memory))
            .unwrap();
        let after = harness.stamp(&mut driver, &mut batch).unwrap();
        let found = harness.collect(&mut driver, batch).unwrap();

        let digests: Vec<DigestSum> = digests
            .into_iter()
            .map(|digest| found.get(digest.unwrap()).unwrap())
            .collect();
        assert_eq!(digests[0], digests[1]);
        assert_ne!(digests[0], digests[2]);
        let [own, other] = noise.map(|noise| found.get(noise.unwrap()).unwrap());
        assert!(own.is_untouched() && !other.is_untouched());
        assert!(found.get(check).unwrap().all_match());
        assert!(found.get(before).unwrap().0 <= found.get(after).unwrap().0);
    }

    #[test]
    fn only_begin_allocates_for_the_probes_of_a_batch() {
        const LARGE: u64 = 1 << 20;
        let (driver, _, mut harness, _) = device();
        let seen = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&seen);
        let mut driver = FaultyDriver::watched(driver, move |_, call| {
            let allocates = ["alloc", "prepare"].contains(&&*call.name);
            counter.fetch_add(usize::from(allocates), Ordering::Relaxed);
        });
        let (stream, memory) = (driver.stream().unwrap(), driver.alloc(LARGE).unwrap());
        harness.noise(&mut driver, stream, memory, LARGE, 3, 0).unwrap();
        for probes in [1, 40, 2, 40] {
            let mut batch = harness.begin(&mut driver, stream, probes).unwrap();
            let before = seen.load(Ordering::Relaxed);
            let same = Comparison {
                len: LARGE,
                ..equal_bytes(memory, memory)
            };
            let tickets: Vec<_> = (0..probes)
                .map(|_| harness.check(&mut driver, &mut batch, &same).unwrap())
                .collect();
            assert_eq!(seen.load(Ordering::Relaxed), before);
            let found = harness.collect(&mut driver, batch).unwrap();
            tickets
                .into_iter()
                .for_each(|ticket| assert!(found.get(ticket).unwrap().all_match()));
        }
        // One allocation for the memory, then two report buffers, each with a `prepare` of every
        // kernel.
        assert_eq!(seen.load(Ordering::Relaxed), 1 + 2 * (1 + Kernel::ALL.len()));
    }

    #[test]
    fn one_probe_too_many_is_refused() {
        let (mut driver, stream, mut harness, memory) = device();
        let mut batch = harness.begin(&mut driver, stream, 1).unwrap();
        let probes = (0..1 << 16).map(|_| harness.check(&mut driver, &mut batch, &equal_bytes(memory, memory)));
        let refused = probes.into_iter().find_map(Result::err).unwrap();
        assert!(refused.to_string().contains("more probes"), "{refused}");
        harness.collect(&mut driver, batch).unwrap();
    }

    #[test]
    fn only_the_batch_of_a_probe_returns_its_result() {
        let (mut driver, stream, mut harness, memory) = device();
        let [mut first, mut second] = [(); 2].map(|()| harness.begin(&mut driver, stream, 3).unwrap());
        let key = harness
            .hand_in_keys(&mut driver, &mut first, &[[1, 2]])
            .unwrap()
            .remove(0);
        let digest = harness.keyed_digest(&mut driver, &mut second, key, memory, BYTES, Coverage::Whole);
        assert!(matches!(digest, Err(DeviceError::Unsupported(_))));
        let own = harness.stamp(&mut driver, &mut second).unwrap();
        let foreign = harness.stamp(&mut driver, &mut first).unwrap();
        harness.collect(&mut driver, first).unwrap();
        let found = harness.collect(&mut driver, second).unwrap();
        assert!(matches!(found.get(foreign), Err(DeviceError::Unsupported(_))));
        assert_ne!(found.get(own).unwrap(), Nanoseconds(0));
    }
}
