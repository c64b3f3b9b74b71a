//! The tensors of safetensors files, in one frozen copy.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::DType;
use gpubench::tensor_file::{StoredTensor, StoredType, WrongFile, check, named, safetensors};

use gpubench_device::FrozenFile;
use gpubench_diagnostic::{chain, open_regular, printable_line};
use gpubench_trace::{Case, ElementType, InputFile};

/// Most bytes of all stored tensors. They are kept in memory.
const MOST_BYTES: u64 = 16 << 30;

/// Places of tensors in files, to be copied one after another.
#[derive(Debug)]
pub(super) struct Stored {
    /// The root of the data set.
    root: Utf8PathBuf,
    parts: Vec<Part>,
    bytes: u64,
    /// Where a tensor of a file begins in the copy.
    starts: BTreeMap<(String, String), (u64, StoredTensor)>,
}

#[derive(Debug)]
struct Part {
    path: Utf8PathBuf,
    start: u64,
    bytes: u64,
}

/// Why a stored tensor cannot be used.
#[derive(Debug, thiserror::Error)]
enum StoredError {
    #[error("cannot read it")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Wrong(#[from] WrongFile),
    #[error("all stored tensors together have more than {} GiB", MOST_BYTES >> 30)]
    Large,
}

impl Stored {
    /// Returns none so far. Paths begin at the data set's root.
    pub(super) fn below(root: &Utf8Path) -> Stored {
        Stored {
            root: root.to_owned(),
            parts: Vec::new(),
            bytes: 0,
            starts: BTreeMap::new(),
        }
    }

    /// Adds the tensors of a case. Returns where each begins in the copy.
    ///
    /// # Errors
    /// A file or a tensor is missing, or has another type or shape. The text says which.
    pub(super) fn add(&mut self, case: &Case) -> Result<Vec<u64>, String> {
        let added = case.files.iter().map(|file| {
            self.one(file, case).map_err(|error| {
                let (name, path) = (&case.tensors[file.tensor].name, self.root.join(&file.path));
                let (name, path) = (printable_line(name), printable_line(path.as_str()));
                format!(
                    "the file `{path}` of the input `{name}` cannot be used: {}",
                    chain(&error)
                )
            })
        });
        added.collect()
    }

    fn one(&mut self, file: &InputFile, case: &Case) -> Result<u64, StoredError> {
        let key = (file.path.clone(), file.tensor_key.clone());
        let is_bool = case.element_types[file.tensor] == ElementType::Bool;
        let tensor = &case.tensors[file.tensor];
        let fits = |found: &StoredTensor| check(found, tensor.dtype, &tensor.shape);
        if let Some((start, found)) = self.starts.get(&key) {
            fits(found)?;
            return Ok(*start);
        }
        let path = self.root.join(&file.path);
        let mut found = named(&tensors_of(&path)?, &file.tensor_key)?.clone();
        if is_bool && found.dtype == StoredType::Other("BOOL".to_owned()) {
            found.dtype = StoredType::Known(DType::U8);
        }
        fits(&found)?;
        if self.bytes + found.bytes > MOST_BYTES {
            return Err(StoredError::Large);
        }
        let start = self.bytes;
        self.bytes += found.bytes;
        self.parts.push(Part {
            path,
            start: found.start,
            bytes: found.bytes,
        });
        self.starts.insert(key, (start, found));
        Ok(start)
    }

    /// Whether a tensor is in this file, by any of its names.
    pub(super) fn is_in(&self, file: &Utf8Path) -> bool {
        let identity = |path: &Utf8Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
        let written = identity(file);
        written.is_some() && self.parts.iter().any(|part| identity(&part.path) == written)
    }

    /// Copies all tensors, one after another.
    ///
    /// # Errors
    /// A file has changed, or there is no memory.
    pub(super) fn frozen(self) -> io::Result<FrozenFile> {
        let parts = Parts {
            rest: self.parts.into_iter(),
            current: None,
        };
        FrozenFile::of_contents("stored tensors", parts)
    }
}

fn tensors_of(path: &Utf8Path) -> Result<Vec<StoredTensor>, StoredError> {
    let file = open_regular(path)?;
    let bytes = file.metadata()?.len();
    let mut length = [0; safetensors::LENGTH_BYTES];
    file.read_exact_at(&mut length, 0)?;
    let mut header = vec![0; safetensors::header_bytes(length, bytes)? as usize];
    file.read_exact_at(&mut header, safetensors::LENGTH_BYTES as u64)?;
    Ok(safetensors::tensors(&header, bytes)?)
}

/// The parts of files, read one after another.
struct Parts {
    rest: std::vec::IntoIter<Part>,
    current: Option<io::Take<File>>,
}

impl Read for Parts {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(current) = &mut self.current {
                let read = current.read(into)?;
                if read > 0 {
                    return Ok(read);
                }
                if current.limit() > 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let Some(part) = self.rest.next() else { return Ok(0) };
            let mut file = open_regular(&part.path)?;
            file.seek(SeekFrom::Start(part.start))?;
            self.current = Some(file.take(part.bytes));
        }
    }
}
