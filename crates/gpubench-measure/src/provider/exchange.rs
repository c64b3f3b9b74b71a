//! The files that a command reads and writes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use super::ProviderError;
use super::command::shown;
use gpubench::bits_of;
use gpubench::catalog::{AxisValue, DType, Provider};
use gpubench::tensor_file::{self, StoredTensor, WrongFile, safetensors};
use gpubench_diagnostic::{Purpose, TemporaryFolder, open_regular_link_refused};

/// Bytes that are copied or checked at once.
const CHUNK: u64 = 1 << 20;

/// A tensor that a file has for some sets of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetTensor {
    /// Its name.
    pub(crate) name: String,
    /// Type of its elements.
    pub(crate) dtype: DType,
    /// Its extents, with the number of sets as the outermost if each set has one.
    pub(crate) shape: Vec<u64>,
}

impl SetTensor {
    fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.dtype.size() as u64
    }
}

/// A private folder with the files of one run of a command.
#[derive(Debug)]
pub(crate) struct Exchange<'p> {
    provider: &'p Provider,
    folder: TemporaryFolder,
    inputs: File,
    /// Where the data of each input begins.
    starts: Vec<u64>,
}

impl<'p> Exchange<'p> {
    /// Makes the folder and the file of inputs, which has their header so far.
    ///
    /// # Errors
    /// They cannot be made.
    pub(crate) fn begin(
        provider: &'p Provider,
        tensors: &[SetTensor],
        sets: u64,
    ) -> Result<Exchange<'p>, ProviderError> {
        let failed = |source| files(provider, "making a file of inputs", source);
        let folder = TemporaryFolder::new(Purpose::Exchange).map_err(failed)?;
        let values = provider
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), text_of(value)));
        let mut metadata: Vec<(&str, String)> = values.collect();
        metadata.push(("gpubench_sets", sets.to_string()));
        let metadata: Vec<(&str, &str)> = metadata.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let listed = tensors
            .iter()
            .map(|tensor| (&*tensor.name, tensor.dtype, &*tensor.shape));
        let header = safetensors::header(&listed.collect::<Vec<_>>(), &metadata);
        let inputs = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.path().join("inputs.safetensors"));
        let inputs = inputs.map_err(failed)?;
        inputs.write_all_at(&header, 0).map_err(failed)?;
        let mut end = header.len() as u64;
        let starts = tensors.iter().map(|tensor| {
            let start = end;
            end += tensor.bytes();
            start
        });
        let starts = starts.collect();
        inputs.set_len(end).map_err(failed)?;
        Ok(Exchange {
            provider,
            folder,
            inputs,
            starts,
        })
    }

    /// Writes the part of an input that begins `before` bytes after its first, from the bytes of
    /// `memory` at `start`.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub(crate) fn put(
        &self,
        input: usize,
        before: u64,
        memory: &File,
        start: u64,
        bytes: u64,
    ) -> Result<(), ProviderError> {
        let failed = |source| files(self.provider, "writing its inputs", source);
        copy(memory, start, &self.inputs, self.starts[input] + before, bytes).map_err(failed)
    }

    /// Returns the file of inputs and where the data of each begins.
    pub(crate) fn inputs(&self) -> (&File, &[u64]) {
        (&self.inputs, &self.starts)
    }

    /// Returns the paths of the inputs and of the outputs.
    pub(crate) fn paths(&self) -> [PathBuf; 2] {
        ["inputs.safetensors", "outputs.safetensors"].map(|name| self.folder.path().join(name))
    }

    /// Opens the file of outputs, which the command has written, and checks it. Returns the file
    /// and where the data of each output begins. `sets` is the number of sets in each, and `said`
    /// the end of what the command wrote.
    ///
    /// # Errors
    /// The file is missing or damaged, lacks an output, or has one of another type or shape, or
    /// with a NaN.
    pub(crate) fn outputs(
        &self,
        outputs: &[SetTensor],
        sets: u64,
        said: &str,
    ) -> Result<(File, Vec<u64>), ProviderError> {
        let failed = |source| files(self.provider, "reading its outputs", source);
        let [_, path] = self.paths();
        // Not opened through a link, which could name any file of the user.
        let opened = open_regular_link_refused(&path);
        let file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ProviderError::NoOutputs {
                command: shown(self.provider),
                output: said.to_owned(),
            },
            _ => failed(source),
        })?;
        let wrong = |tensor: Option<&SetTensor>| {
            let tensor = tensor.map(|tensor| tensor.name.clone());
            |source| ProviderError::Outputs {
                command: shown(self.provider),
                tensor,
                source,
            }
        };
        let stored = stored_tensors(&file).map_err(failed)?.map_err(wrong(None))?;
        let mut starts = Vec::new();
        for output in outputs {
            let found = tensor_file::named(&stored, &output.name).map_err(wrong(None))?;
            tensor_file::check(found, output.dtype, &output.shape).map_err(wrong(Some(output)))?;
            if let Some(element) = first_nan(&file, found, output.dtype).map_err(failed)? {
                let of_set = (output.shape.iter().product::<u64>() / sets.max(1)).max(1);
                return Err(ProviderError::NotANumber {
                    command: shown(self.provider),
                    tensor: output.name.clone(),
                    set: element / of_set,
                    element: element % of_set,
                });
            }
            starts.push(found.start);
        }
        Ok((file, starts))
    }
}

fn files(provider: &Provider, doing: &'static str, source: io::Error) -> ProviderError {
    ProviderError::Files {
        command: shown(provider),
        doing,
        source,
    }
}

fn text_of(value: &AxisValue) -> String {
    match value {
        AxisValue::Int(value) => value.to_string(),
        AxisValue::Float(value) => value.to_string(),
        AxisValue::Text(value) => value.clone(),
        AxisValue::Bool(value) => value.to_string(),
    }
}

fn stored_tensors(file: &File) -> io::Result<Result<Vec<StoredTensor>, WrongFile>> {
    let file_bytes = file.metadata()?.len();
    let mut length = [0; safetensors::LENGTH_BYTES];
    if file_bytes < length.len() as u64 {
        let mut short = vec![0; file_bytes as usize];
        file.read_exact_at(&mut short, 0)?;
        return Ok(safetensors::tensors_of(&short));
    }
    file.read_exact_at(&mut length, 0)?;
    Ok(match safetensors::header_bytes(length, file_bytes) {
        Err(wrong) => Err(wrong),
        Ok(bytes) => {
            let mut header = vec![0; bytes as usize];
            file.read_exact_at(&mut header, length.len() as u64)?;
            safetensors::tensors(&header, file_bytes)
        }
    })
}

/// Copies bytes of a file to a place in another.
pub(crate) fn copy(from: &File, start: u64, to: &File, target: u64, bytes: u64) -> io::Result<()> {
    let mut chunk = vec![0; bytes.min(CHUNK) as usize];
    let mut done = 0;
    while done < bytes {
        let part = &mut chunk[..(bytes - done).min(CHUNK) as usize];
        from.read_exact_at(part, start + done)?;
        to.write_all_at(part, target + done)?;
        done += part.len() as u64;
    }
    Ok(())
}

/// Returns the position of the first element of a tensor that is a NaN.
fn first_nan(file: &File, tensor: &StoredTensor, dtype: DType) -> io::Result<Option<u64>> {
    if !dtype.is_float() {
        return Ok(None);
    }
    let (part_type, _) = dtype.parts();
    let is_nan = |part: &[u8]| part_type.number(bits_of(part)).is_nan();
    let size = part_type.size();
    let mut chunk = vec![0; tensor.bytes.min(CHUNK) as usize];
    let mut done = 0;
    while done < tensor.bytes {
        let part = &mut chunk[..(tensor.bytes - done).min(CHUNK) as usize];
        file.read_exact_at(part, tensor.start + done)?;
        if let Some(position) = part.chunks_exact(size).position(is_nan) {
            return Ok(Some((done + (position * size) as u64) / dtype.size() as u64));
        }
        done += part.len() as u64;
    }
    Ok(None)
}
