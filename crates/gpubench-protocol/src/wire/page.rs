//! The page that referee and worker share: *go*, *done*, the output digests and their keys.
//!
//! The referee writes *go* and the keys; the worker's device writes *done* and the output digests.
//! Both sides can write any word at any time, so each word is read once, through an atomic, and
//! copied.

#![allow(unsafe_code)]

use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::{MAX_OUTPUTS, WIRE_VERSION};

/// Size of the page in bytes.
pub const PAGE_BYTES: usize = 4096;

/// Number of pages of a worker that is compared with another process. Its windows use them in
/// rotation. The position of a page in host memory makes all of its windows up to 2 µs longer or
/// shorter; the rotation averages this.
pub const PLACES: u32 = 8;

/// The words of the page. *Go* and *done* have their own cache lines.
#[repr(C)]
#[derive(Debug)]
pub struct PageLayout {
    version: AtomicU32,
    pad0: [AtomicU32; 15],
    /// Number of the window that may start.
    pub go: AtomicU32,
    pad1: [AtomicU32; 15],
    /// Number of the window whose call has returned, with all its work. Only for calls that a host
    /// holds back.
    pub returned: AtomicU32,
    pad2: [AtomicU32; 15],
    /// Number of the window that has ended.
    pub done: AtomicU32,
    pad3: [AtomicU32; 15],
    /// Digest key and order key of the window's output digests. They arrive with *go*.
    pub keys: [AtomicU64; 2],
    /// The output digest of every output. The worker's device adds its parts.
    pub digests: [AtomicU64; MAX_OUTPUTS],
}

const _: () = assert!(size_of::<PageLayout>() <= PAGE_BYTES);

/// A mapping of the page, or of the pages that a worker's windows use in rotation.
#[derive(Debug)]
pub struct SharedPage {
    descriptor: OwnedFd,
    address: *mut PageLayout,
    places: u32,
}

// SAFETY: the mapping is owned, and every word in it is atomic.
unsafe impl Send for SharedPage {}
// SAFETY: as above.
unsafe impl Sync for SharedPage {}

impl SharedPage {
    /// Makes `places` pages with a fixed size. Truncating a page would kill the other process.
    ///
    /// # Errors
    /// If the operating system has no memory or descriptors left.
    pub fn create(places: u32) -> std::io::Result<SharedPage> {
        let descriptor = memfd_create("gpubench-page", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, u64::from(places) * PAGE_BYTES as u64)?;
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let page = SharedPage::map(descriptor, places)?;
        page.in_window(0).version.store(WIRE_VERSION, Ordering::Relaxed);
        Ok(page)
    }

    /// Maps a page that another process made.
    ///
    /// # Errors
    /// If it has another version or size, or cannot be mapped.
    pub fn open(descriptor: OwnedFd) -> std::io::Result<SharedPage> {
        let bytes = rustix::fs::fstat(&descriptor)?.st_size;
        let places = [1, PLACES]
            .into_iter()
            .find(|places| i64::from(*places) * PAGE_BYTES as i64 == bytes);
        let places = places.ok_or_else(|| std::io::Error::other("the shared page has an unexpected size"))?;
        let page = SharedPage::map(descriptor, places)?;
        match page.in_window(0).version.load(Ordering::Relaxed) {
            WIRE_VERSION => Ok(page),
            other => Err(std::io::Error::other(format!("the shared page has version `{other}`"))),
        }
    }

    fn map(descriptor: OwnedFd, places: u32) -> std::io::Result<SharedPage> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping of a whole memfd at an address that the kernel chooses overlaps
        // nothing.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                places as usize * PAGE_BYTES,
                protection,
                MapFlags::SHARED,
                &descriptor,
                0,
            )
        }?;
        Ok(SharedPage {
            descriptor,
            address: address.cast(),
            places,
        })
    }

    /// Returns the words of a window's page.
    pub fn in_window(&self, window: u32) -> &PageLayout {
        let page = self.on_host().in_window(window).base() as *const PageLayout;
        // SAFETY: the mapping lives as long as `self`, and each of its pages holds a `PageLayout`,
        // all of whose words are atomic.
        unsafe { &*page }
    }

    /// Returns the size of all pages in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.places) * PAGE_BYTES as u64
    }

    /// Returns the addresses of the words on the host.
    pub fn on_host(&self) -> PageAddresses {
        self.mapped_at(self.address as u64)
    }

    /// Returns the addresses of the words in a mapping at `base`.
    pub fn mapped_at(&self, base: u64) -> PageAddresses {
        PageAddresses {
            base,
            places: self.places,
        }
    }
}

/// Addresses of a page's words, on the host or on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAddresses {
    base: u64,
    places: u32,
}

impl PageAddresses {
    /// Returns the addresses of a window's page.
    pub fn in_window(self, window: u32) -> PageAddresses {
        PageAddresses {
            base: self.base + u64::from(window % self.places) * PAGE_BYTES as u64,
            places: 1,
        }
    }

    /// Returns the address of the page.
    pub fn base(self) -> u64 {
        self.base
    }

    /// Returns the address of *go*.
    pub fn go(self) -> u64 {
        self.base + offset_of!(PageLayout, go) as u64
    }

    /// Returns the address of *returned*.
    pub fn returned(self) -> u64 {
        self.base + offset_of!(PageLayout, returned) as u64
    }

    /// Returns the address of *done*. A copy of the worker's words begins here and has
    /// [`PageLeft::BYTES`] bytes.
    pub fn done(self) -> u64 {
        self.base + offset_of!(PageLayout, done) as u64
    }

    /// Returns the address of the first key.
    pub fn keys(self) -> u64 {
        self.base + offset_of!(PageLayout, keys) as u64
    }

    /// Returns the address of an output's output digest.
    ///
    /// # Panics
    /// If `output` is not below [`MAX_OUTPUTS`].
    pub fn digest(self, output: usize) -> u64 {
        assert!(output < MAX_OUTPUTS, "output {output} has no digest");
        self.base + (offset_of!(PageLayout, digests) + output * size_of::<AtomicU64>()) as u64
    }
}

/// A copy of the words that a worker writes.
#[derive(Clone, Copy, Debug)]
pub struct PageLeft {
    /// *Done*.
    pub done: u32,
    /// The output digests.
    pub digests: [u64; MAX_OUTPUTS],
}

impl PageLeft {
    /// Bytes from *done* to the last output digest.
    pub const BYTES: u64 = (size_of::<PageLayout>() - offset_of!(PageLayout, done)) as u64;

    /// Reads the words from copied bytes.
    pub fn from_bytes(copied: &[u8]) -> Option<PageLeft> {
        let digests = copied.get(offset_of!(PageLayout, digests) - offset_of!(PageLayout, done)..)?;
        Some(PageLeft {
            done: bytemuck::try_pod_read_unaligned(copied.get(..4)?).ok()?,
            digests: bytemuck::try_pod_read_unaligned(digests.get(..size_of::<[u64; MAX_OUTPUTS]>())?).ok()?,
        })
    }
}

/// Returns the words to write to the page before *go*: the keys, and zeroed output digests.
pub fn opening_words(keys: [u64; 2]) -> [u64; 2 + MAX_OUTPUTS] {
    let mut words = [0; 2 + MAX_OUTPUTS];
    words[..2].copy_from_slice(&keys);
    words
}

const _: () = assert!(offset_of!(PageLayout, digests) == offset_of!(PageLayout, keys) + 16);

impl AsFd for SharedPage {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: `map` made the mapping with this length, and nothing refers to it any more.
        let unmapped = unsafe { munmap(self.address.cast(), self.places as usize * PAGE_BYTES) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::WindowKind;

    #[test]
    fn a_word_written_through_one_mapping_is_seen_through_the_other() {
        for places in [1, PLACES] {
            let page = SharedPage::create(places).unwrap();
            let other = SharedPage::open(page.as_fd().try_clone_to_owned().unwrap()).unwrap();
            let windows = WindowKind::control_window(3)..WindowKind::control_window(3) + places;
            for window in windows.clone() {
                page.in_window(window).go.store(window, Ordering::Release);
            }
            for window in windows {
                assert_eq!(other.in_window(window).go.load(Ordering::Acquire), window);
            }
        }
    }

    #[test]
    fn a_page_cannot_be_truncated_under_its_other_user() {
        let page = SharedPage::create(1).unwrap();
        assert!(ftruncate(&page, 0).is_err());
    }

    #[test]
    fn a_foreign_descriptor_is_rejected() {
        let foreign = memfd_create("foreign", MemfdFlags::CLOEXEC).unwrap();
        assert!(SharedPage::open(foreign).is_err());
    }
}
