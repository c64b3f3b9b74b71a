//! Solutions: a submission's sources, and how to build and call them.

use std::collections::HashSet;
use std::path::{Component, Path as FilePath};

use serde::{Deserialize, Serialize};

use crate::json::{Checked, Fault, Path, WrongDocument, empty_if_null, name, read_one};

/// Most files of a solution.
const MOST_SOURCES: usize = 1024;

/// A submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// Unique name.
    pub name: String,
    /// Name of the definition that it solves.
    pub definition: String,
    /// Who wrote it.
    pub author: String,
    /// How it is built and called.
    pub spec: BuildSpec,
    /// Its files.
    pub sources: Vec<SourceFile>,
    /// Text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How a submission is built and called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildSpec {
    /// Its language, as FlashInfer-Bench writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// Its languages, as SOL-ExecBench writes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "empty_if_null")]
    pub languages: Vec<Language>,
    /// Devices that it is for. Neither format checks them.
    pub target_hardware: Vec<String>,
    /// File and function: `kernel.cu::run`.
    pub entry_point: String,
    /// Libraries or packages that it needs, such as `cublas`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "empty_if_null")]
    pub dependencies: Vec<String>,
    /// Whether the function gets its outputs as the last arguments. Otherwise it returns them.
    #[serde(default = "yes")]
    pub destination_passing_style: bool,
    /// How the function of a library is called. Without one, `tvm-ffi` in FlashInfer-Bench and
    /// `torch` in SOL-ExecBench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<Binding>,
    /// Options of the compilers. Of SOL-ExecBench only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_options: Option<CompileOptions>,
}

const fn yes() -> bool {
    true
}

/// The languages that the formats name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Language {
    Python,
    Triton,
    Cpp,
    Cuda,
    Tilelang,
    Pytorch,
    CuteDsl,
    Cutile,
    CudnnFrontend,
    Cutlass,
    Cudnn,
    Cublas,
    CudaCpp,
}

impl Language {
    /// Returns the name that the formats give it.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Triton => "triton",
            Language::Cpp => "cpp",
            Language::Cuda => "cuda",
            Language::Tilelang => "tilelang",
            Language::Pytorch => "pytorch",
            Language::CuteDsl => "cute_dsl",
            Language::Cutile => "cutile",
            Language::CudnnFrontend => "cudnn_frontend",
            Language::Cutlass => "cutlass",
            Language::Cudnn => "cudnn",
            Language::Cublas => "cublas",
            Language::CudaCpp => "cuda_cpp",
        }
    }
}

/// How the function of a compiled library is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    /// The C interface of TVM-FFI, on DLPack tensors.
    TvmFfi,
    /// An extension module of PyTorch.
    Torch,
}

/// Options of the compilers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompileOptions {
    /// For the C++ compiler.
    pub cflags: Vec<String>,
    /// For nvcc. `None` stands for the format's own, `-O3` and `--use_fast_math`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda_cflags: Option<Vec<String>>,
    /// For the linker. `None` stands for the format's own, `-lcuda`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ld_flags: Option<Vec<String>>,
}

/// A file of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative path with `/`, within the folder of the submission.
    pub path: String,
    /// Contents.
    pub content: String,
}

impl Solution {
    /// Reads a solution from JSON.
    ///
    /// # Errors
    /// The text is longer than [`MOST_DOCUMENT_BYTES`](crate::MOST_DOCUMENT_BYTES), no JSON, lacks
    /// a field, or breaks a rule: the entry point is no `FILE::FUNCTION` of one of its files, a
    /// path leaves the folder of the submission or occurs twice, or a name is empty or has control
    /// characters.
    pub fn parse(text: &str) -> Result<Solution, WrongDocument> {
        read_one(text)
    }
}

impl BuildSpec {
    /// Returns its languages, however they are written.
    pub fn all_languages(&self) -> impl Iterator<Item = Language> {
        self.language.into_iter().chain(self.languages.iter().copied())
    }

    /// Returns the file and the function of the entry point. `None` if it is no `FILE::FUNCTION`.
    pub fn entry(&self) -> Option<(&str, &str)> {
        let (file, function) = self.entry_point.split_once("::")?;
        let is_one = !file.is_empty() && !function.is_empty() && !function.contains("::");
        is_one.then_some((file, function))
    }
}

impl Checked for Solution {
    fn check(&self) -> Result<(), Fault> {
        for (field, value) in [
            ("name", &self.name),
            ("definition", &self.definition),
            ("author", &self.author),
        ] {
            name(Path::key(field), value)?;
        }
        let files = self.check_sources()?;
        self.spec.check().map_err(|fault| fault.below("spec"))?;
        let entry = self.spec.entry().map_or("", |(file, _)| file);
        if !files.contains(entry) {
            let path = Path::key("spec").then("entry_point");
            return Err(Fault::new(path, "its file is not among the sources"));
        }
        Ok(())
    }
}

impl Solution {
    /// Checks the files. Returns their paths.
    fn check_sources(&self) -> Result<HashSet<&str>, Fault> {
        let sources = || Path::key("sources");
        if self.sources.is_empty() || self.sources.len() > MOST_SOURCES {
            let what = format!("it has {} files, not 1 to {MOST_SOURCES}", self.sources.len());
            return Err(Fault::new(sources(), what));
        }
        let (mut files, mut folders, mut places) = (HashSet::new(), HashSet::new(), HashSet::new());
        for (position, source) in self.sources.iter().enumerate() {
            let path = || sources().at(position).then("path");
            name(path(), &source.path)?;
            let inside = inside(&source.path);
            let parts = inside.ok_or_else(|| Fault::new(path(), "it leaves the folder of the solution"))?;
            // Another spelling, such as `a//b`, is the same file.
            let place = parts.join("/");
            let mut folder = place.as_str();
            while let Some((above, _)) = folder.rsplit_once('/') {
                folders.insert(above.to_owned());
                folder = above;
            }
            if !places.insert(place) {
                return Err(Fault::new(path(), "it occurs twice"));
            }
            if source.content.is_empty() {
                return Err(Fault::new(sources().at(position).then("content"), "it is empty"));
            }
            files.insert(source.path.as_str());
        }
        match places.intersection(&folders).next() {
            Some(_) => Err(Fault::new(sources(), "a file has the path of a folder")),
            None => Ok(files),
        }
    }
}

/// Returns the parts of a path within a folder. `None` if it leaves the folder, or names none of
/// its files.
pub(crate) fn inside(path: &str) -> Option<Vec<&str>> {
    // A backslash separates folders elsewhere.
    if path.contains('\\') || path.ends_with('/') {
        return None;
    }
    let parts = FilePath::new(path)
        .components()
        .filter(|part| *part != Component::CurDir);
    let parts: Option<Vec<&str>> = parts
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect();
    parts.filter(|parts| !parts.is_empty())
}

impl Checked for BuildSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.language.is_some() != self.languages.is_empty() {
            return Err(Fault::new(
                Path::default(),
                "it needs either `language`, as FlashInfer-Bench has it, or `languages`, as SOL-ExecBench has it",
            ));
        }
        if self.target_hardware.is_empty() {
            return Err(Fault::new(Path::key("target_hardware"), "it is empty"));
        }
        name(Path::key("entry_point"), &self.entry_point)?;
        if self.entry().is_none() {
            return Err(Fault::new(Path::key("entry_point"), "it is not `FILE::FUNCTION`"));
        }
        for (position, dependency) in self.dependencies.iter().enumerate() {
            name(Path::key("dependencies").at(position), dependency)?;
        }
        Ok(())
    }
}
