//! Counts how many of the CUDA C++ files in a list compile unchanged.
//!
//! ```console
//! $ cargo run -p gpubench-device --example compile_sources -- LIST FOLDER cpu|nvrtc|gpu [NVRTC]
//! ```
//!
//! Each line of the list has the path of a file below the folder and the name expression of one of
//! its kernels. Without a name, it means the first kernel that is not a template. Headers are
//! searched in `Common` below the folder, and in `inc` next to the file's folder. `NVRTC` is the
//! value of `--nvrtc`; it is used for both GPU compilers.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{
    Compiler, GpuCompiler, GpuCompilers, HostCompiler, NamedCompilers, Wanted, declared_kernels, serve,
};

/// Folders with headers that several sources share.
const SHARED: &str = "Common";

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // NVRTC runs in a process of the tool; here, the tool is this program.
    if arguments.first().is_some_and(|first| first == "__nvrtc") {
        serve(answers()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let [list, folder, how, rest @ ..] = &arguments[..] else {
        eprintln!("usage: compile_sources LIST FOLDER cpu|nvrtc|gpu [NVRTC]");
        return Ok(ExitCode::FAILURE);
    };
    let compiler = compiler(how, rest.first().map(PathBuf::from))?;
    let cache = tempfile::tempdir()?;
    let (mut files, mut good) = (0, 0);
    for line in std::fs::read_to_string(list)?
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let (path, name) = line
            .split_once(' ')
            .map_or((line, None), |(path, name)| (path, Some(name)));
        let source = source(Path::new(folder), Path::new(path))?;
        let names: Vec<String> = match name {
            Some(name) => vec![name.to_owned()],
            None => declared_kernels(&source).into_iter().take(1).collect(),
        };
        let wanted = Wanted {
            source: &source,
            names: &names,
            cache: cache.path(),
            interrupt: &AtomicBool::new(false),
            most: None,
        };
        files += 1;
        match compiler.compile(wanted) {
            Ok(_) => {
                good += 1;
                println!("yes {path} {}", names.join(" "));
            }
            Err(error) => println!("no  {path} {}\n{}", names.join(" "), indented(&error.to_string())),
        }
    }
    println!("{good} of {files} compile by {}", compiler.identity());
    Ok(ExitCode::SUCCESS)
}

fn compiler(how: &str, nvrtc: Option<PathBuf>) -> Result<Box<dyn Compiler>, Box<dyn std::error::Error>> {
    if how == "cpu" {
        return Ok(Box::new(HostCompiler::find()?));
    }
    let named = NamedCompilers { nvrtc, nvcc: None };
    let found = GpuCompilers::find(&std::env::current_exe()?, &named)?;
    let compilers = match how {
        "nvrtc" => found.without_nvcc(),
        _ => found,
    };
    Ok(Box::new(GpuCompiler::new("sm_90".parse()?, compilers)))
}

fn answers() -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().write(true).open("/dev/stdout")
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().take(8).map(|line| format!("      {line}")).collect();
    lines.join("\n")
}

/// Returns a file and its includes from the folder, as `cuda_source!` collects them.
fn source(folder: &Path, main: &Path) -> io::Result<Source> {
    let own = normal(&main.join("../../inc"));
    let folders: Vec<PathBuf> = [PathBuf::from(SHARED), own]
        .into_iter()
        .filter(|path| folder.join(path).is_dir())
        .collect();
    let mut paths = vec![main.to_owned()];
    let mut files = Vec::new();
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        let contents = std::fs::read(folder.join(&path))?;
        let text = String::from_utf8_lossy(&contents).into_owned();
        for line in text.lines() {
            let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
            let Some(included) = directive.and_then(|directive| directive.strip_prefix("include")) else {
                continue;
            };
            let Some(included) = included.split(['"', '<', '>']).nth(1) else {
                continue;
            };
            let nearby = path.parent().unwrap_or(Path::new(""));
            let places = folders.iter().map(PathBuf::as_path);
            let mut places = std::iter::once(nearby)
                .chain(places)
                .map(|place| normal(&place.join(included)));
            if let Some(found) = places.find(|place| folder.join(place).is_file())
                && !paths.contains(&found)
            {
                paths.push(found);
            }
        }
        files.push(SourceFile {
            path: path.display().to_string(),
            contents: text.into_bytes(),
        });
    }
    Ok(Source {
        name: main.display().to_string(),
        form: SourceForm::Cuda,
        files,
        options: folders.iter().map(|folder| format!("-I{}", folder.display())).collect(),
    })
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
