//! NVRTC, in a separate process, because it may crash or hang on a source.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpubench::catalog::Source;

use super::super::error::KernelBuildError;
use super::super::process::{Finished, describe};
use super::super::readable::Readable;
use super::super::refusal::angled_includes;
use super::front_end::is_for_kernels;
use super::headers::{FIRST, FIRST_HEADERS, HEADERS, INCLUDED_BY_NVCC, STANDARD_HEADERS};
use super::image::end_ptx;
use super::job::Job;
use super::options::Dialect;
use super::request::{Description, Order, Reply, Request};
use super::store::Maker;
use super::tool::Tool;
use crate::cuda::KernelImage;
use gpubench_diagnostic::{Purpose, TemporaryFolder};

/// The hidden subcommand of this tool that serves requests.
const VERB: &str = "__nvrtc";

/// A working NVRTC.
#[derive(Clone, Debug)]
pub(super) struct NvrtcCompiler {
    /// This tool's executable.
    tool: PathBuf,
    library: Description,
    headers: Vec<PathBuf>,
    /// What the process that loads the library may need.
    readable: Readable,
}

impl NvrtcCompiler {
    /// Returns the first of these libraries that works.
    ///
    /// # Errors
    /// The reason for each.
    pub(super) fn find(tool: &Path, libraries: Vec<PathBuf>) -> Result<NvrtcCompiler, String> {
        let readable = Readable::by(tool).and(libraries.iter().flat_map(|library| files_of(library)));
        let request = Request {
            libraries,
            order: Order::Describe,
        };
        let folder = TemporaryFolder::new(Purpose::Toolkit).map_err(|error| error.to_string())?;
        let (mut command, input) =
            ask(tool, &request, folder.path(), folder.path()).map_err(|error| error.to_string())?;
        let finished = describe(&mut command, input, folder.path(), &readable).map_err(|error| error.to_string())?;
        match serde_json::from_slice(&finished.stdout) {
            Ok(Reply::Described(library)) => Ok(NvrtcCompiler {
                tool: tool.to_owned(),
                headers: crate::toolkits::headers_of(&library.path),
                library,
                readable,
            }),
            Ok(Reply::Failed(reason)) => Err(reason),
            _ => Err(how_it_ended(&finished)),
        }
    }

    /// Adds headers from elsewhere if the library has none.
    pub(super) fn or_headers(mut self, headers: impl FnOnce() -> Vec<PathBuf>) -> NvrtcCompiler {
        if !self
            .headers
            .iter()
            .any(|folder| folder.join("cuda_runtime.h").is_file())
        {
            self.headers.extend(headers());
        }
        self
    }
}

/// Returns a library and its companions in the same folder, which can have anything else.
fn files_of(library: &Path) -> Vec<PathBuf> {
    let folder = library.parent().unwrap_or(Path::new(""));
    let mut files = crate::toolkits::entries(folder, |name| name.starts_with("libnvrtc"));
    files.push(library.to_owned());
    files
}

impl Tool for NvrtcCompiler {
    fn dialect(&self) -> Dialect {
        Dialect::Nvrtc
    }

    /// Returns `NVRTC 12.9`, for example.
    fn version(&self) -> String {
        let (major, minor) = self.library.version;
        format!("NVRTC {major}.{minor}")
    }

    fn path(&self) -> &Path {
        &self.library.path
    }

    fn capabilities(&self) -> &[u32] {
        &self.library.capabilities
    }

    fn compile(&self, job: &Job<'_>) -> Result<KernelImage, KernelBuildError> {
        for headers in [FIRST_HEADERS, HEADERS, STANDARD_HEADERS] {
            job.scratch.add_headers(headers)?;
        }
        self.add_empty_host_headers(job)?;
        let request = Request {
            libraries: vec![self.library.path.clone()],
            order: Order::Compile {
                file: job
                    .wanted
                    .source
                    .files
                    .first()
                    .map_or_else(String::new, |file| file.path.clone()),
                options: self.options(job),
                names: job.wanted.names.to_vec(),
            },
        };
        let readable = self.readable.clone().and(self.headers.iter().cloned());
        let asked = ask(&self.tool, &request, job.scratch.root(), job.scratch.directory());
        let (mut command, input) = asked.map_err(KernelBuildError::io("run", &self.tool))?;
        let finished = job.run(Dialect::Nvrtc, &readable, &mut command, input)?;
        match serde_json::from_slice(&finished.stdout) {
            Ok(Reply::Compiled(mut image)) => {
                end_ptx(&mut image.image);
                Ok(image)
            }
            Ok(Reply::Rejected(log)) => Err(job.rejection(&log)),
            Ok(Reply::Failed(reason)) => Err(job.crash(Dialect::Nvrtc, reason)),
            Ok(Reply::Described(_)) | Err(_) => Err(job.crash(Dialect::Nvrtc, how_it_ended(&finished))),
        }
    }
}

impl NvrtcCompiler {
    /// If the host code was removed, adds empty files for the headers that only it needed: those in
    /// angle brackets that exist nowhere else.
    fn add_empty_host_headers(&self, job: &Job<'_>) -> Result<(), KernelBuildError> {
        let source = job.wanted.source;
        if !matches!(job.maker, Maker::NvrtcOfDevice | Maker::NvrtcAsMarked) {
            return Ok(());
        }
        let shim = job.scratch.shim();
        for file in &source.files {
            let text = file.text();
            let missing = angled_includes(&text)
                .filter(|header| !header.contains("..") && !header.starts_with('/') && !shim.join(header).exists());
            let empty: Vec<(&str, &str)> = missing.map(|header| (header, "#pragma once\n")).collect();
            job.scratch.add_headers(&empty)?;
        }
        Ok(())
    }

    /// Returns the first header of CUDA for kernels that a source includes and that is not here.
    /// Headers for host code are not needed.
    pub(super) fn missing_header(&self, source: &Source) -> Option<String> {
        let texts: Vec<_> = source.files.iter().map(|file| file.text()).collect();
        let mut included = texts.iter().flat_map(|text| angled_includes(text));
        let own = [FIRST_HEADERS, HEADERS, STANDARD_HEADERS].concat();
        let is_there = |header: &str| {
            let of_package = || source.files.iter().any(|file| file.path.ends_with(header));
            !is_for_kernels(header)
                || own.iter().any(|(path, _)| *path == header)
                || self.headers.iter().any(|folder| folder.join(header).is_file())
                || of_package()
        };
        included.find(|header| !is_there(header)).map(str::to_owned)
    }

    fn options(&self, job: &Job<'_>) -> Vec<String> {
        let mut options = job.options();
        let folder = |path: &Path| format!("--include-path={}", path.display());
        options.push("--include-path=.".to_owned());
        options.push(folder(&job.scratch.shim().join(FIRST)));
        options.extend(self.headers.iter().map(|path| folder(path)));
        options.push(folder(&job.scratch.shim()));
        let mentions = |word: &&str| job.wanted.source.files.iter().any(|file| file.text().contains(word));
        let needed = INCLUDED_BY_NVCC.iter().filter(|(_, words)| words.iter().any(mentions));
        options.extend(needed.map(|(header, _)| format!("--pre-include={header}")));
        options
    }
}

/// Returns the command that starts this tool as a server of one request, and its standard input.
/// `folder` is the base of the paths in the request.
fn ask(tool: &Path, request: &Request, folder: &Path, scratch: &Path) -> io::Result<(Command, Stdio)> {
    let file = scratch.join("request");
    fs_err::write(&file, serde_json::to_vec(request)?)?;
    let input = Stdio::from(fs_err::File::open(&file)?.into_file());
    let mut command = Command::new(tool);
    command.arg(VERB).current_dir(folder);
    Ok((command, input))
}

fn how_it_ended(finished: &Finished) -> String {
    let last = finished.stderr.lines().rfind(|line| !line.trim().is_empty());
    let end = finished.status;
    match last {
        Some(line) => format!("it ended with {end} after `{}`", line.trim()),
        None => format!("it ended with {end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_in_a_home_folder_does_not_open_the_folder() {
        let home = tempfile::tempdir().expect("a directory");
        for name in ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0", ".netrc", "other.so"] {
            std::fs::write(home.path().join(name), "").expect("a file");
        }
        let opened = |library: &str| {
            let mut files = files_of(&home.path().join(library));
            files.sort();
            files.dedup();
            files
        };
        let named = |names: &[&str]| names.iter().map(|name| home.path().join(name)).collect::<Vec<_>>();
        let both = ["libnvrtc-builtins.so.13.0", "libnvrtc.so.13"];
        assert_eq!(opened("libnvrtc.so.13"), named(&both));
        assert_eq!(opened("other.so"), named(&[both[0], both[1], "other.so"]));
    }
}
