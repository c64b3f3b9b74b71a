//! The machine code of kernels as text, by NVIDIA's `nvdisasm`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::process::{Patience, Unfinished, run};
use super::super::readable::Readable;
use super::compiler::NamedCompilers;
use super::listing::{Kernels, NoListing};
use super::opcodes::machine_code;
use crate::cuda::{ImageForm, KernelImage};
use crate::toolkits::{Surroundings, program_next_to};
use gpubench_contract::MachineCode;
use gpubench_diagnostic::{ExitCode, Expected, Purpose, TemporaryFolder};

/// The program.
const PROGRAM: &str = "nvdisasm";

/// The time limit for one cubin.
const LIMIT: Duration = Duration::from_secs(300);

/// What the program prints before the code of each function.
const SECTION: &str = "\t.section\t.text.";

/// NVIDIA's disassembler.
#[derive(Clone, Debug)]
pub struct Disassembler {
    program: PathBuf,
}

/// This machine has no `nvdisasm`.
#[derive(Debug, thiserror::Error)]
#[error("found no `{PROGRAM}`, which turns machine code into SASS")]
pub struct NoDisassembler;

impl Expected for NoDisassembler {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        let hint =
            "it is part of the CUDA toolkit; `pip install nvidia-cuda-nvdisasm` installs it alone; `--ptx` needs none";
        Some(hint.to_owned())
    }
}

impl Disassembler {
    /// Finds the program: next to the compilers that the user named, on the path, in toolkits, in
    /// Python packages.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(compilers: &NamedCompilers) -> Result<Disassembler, NoDisassembler> {
        let named = [&compilers.nvcc, &compilers.nvrtc].into_iter().flatten();
        let nearby: Vec<PathBuf> = named.flat_map(|path| program_next_to(PROGRAM, path)).collect();
        let mut programs = nearby
            .into_iter()
            .chain(Surroundings::of_this_process().programs(PROGRAM));
        let program = programs.next().ok_or(NoDisassembler)?;
        Ok(Disassembler { program })
    }

    /// Returns the code of the wanted kernels in a cubin, each below a comment with its name, with
    /// the source lines if the cubin has them.
    pub(super) fn print(
        &self,
        kernels: &Kernels<'_>,
        cubin: &[u8],
        interrupt: &AtomicBool,
    ) -> Result<String, NoListing> {
        Ok(only(kernels, &self.disassemble(cubin, interrupt)?))
    }

    /// Returns the machine code of kernels, in short. Kernels that the image does not have are left
    /// out.
    ///
    /// # Errors
    /// When the image has no machine code, or the program fails.
    pub fn machine_code(
        &self,
        image: &KernelImage,
        kernels: &[String],
        interrupt: &AtomicBool,
    ) -> Result<Vec<MachineCode>, NoListing> {
        match image.form() {
            ImageForm::Cubin => {}
            ImageForm::Ptx => return Err(NoListing::Ptx),
            ImageForm::Fatbin => return Err(NoListing::Fatbin),
        }
        let text = self.disassemble(&image.image, interrupt)?;
        let sections: BTreeMap<&str, &str> = sections(&text).collect();
        let of_kernel = |kernel: &String| Some(machine_code(kernel, sections.get(image.symbol(kernel))?));
        Ok(kernels.iter().filter_map(of_kernel).collect())
    }

    /// Returns the program's output for a cubin.
    fn disassemble(&self, cubin: &[u8], interrupt: &AtomicBool) -> Result<String, NoListing> {
        let failed = |reason: String| NoListing::Disassembler {
            program: self.program.clone(),
            reason,
        };
        let unwritten = |error: std::io::Error| failed(error.to_string());
        let folder = TemporaryFolder::new(Purpose::Toolkit).map_err(unwritten)?;
        let file = folder.path().join("kernels.cubin");
        fs_err::write(&file, cubin).map_err(unwritten)?;
        let mut command = Command::new(&self.program);
        command.args(["--print-code", "--print-line-info"]).arg(&file);
        let patience = Patience {
            limit: LIMIT,
            interrupt,
        };
        let finished = run(
            &mut command,
            Stdio::null(),
            folder.path(),
            &Readable::by(&self.program),
            patience,
        )
        .map_err(|unfinished| match unfinished {
            Unfinished::Interrupted => NoListing::Interrupted,
            unfinished => failed(unfinished.to_string()),
        })?;
        if !finished.status.success() {
            return Err(failed(format!("{}: {}", finished.status, finished.stderr.trim())));
        }
        Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Returns the symbol and the code of each function.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(SECTION).skip(1).map(|section| {
        let (head, code) = section.split_once('\n').unwrap_or((section, ""));
        (head.split(',').next().unwrap_or(head), code)
    })
}

/// Returns the code of the wanted kernels.
fn only(kernels: &Kernels<'_>, text: &str) -> String {
    let mut kept = String::new();
    for (symbol, code) in sections(text) {
        if !kernels.wants(symbol) {
            continue;
        }
        // A rule announces the next section.
        let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("//-----")).collect();
        let code = code.join("\n");
        let needs = kernels.needs_of(symbol).unwrap_or_default();
        kept.extend(["// ", kernels.name_of(symbol), &needs, "\n", code.trim_end(), "\n\n"]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\t.headerflags\t@\"EF_CUDA_SM90\"\n\n\
        //--------------------- .text._Z6reduceILi64EEvPf --------------------------\n\
        \t.section\t.text._Z6reduceILi64EEvPf,\"ax\",@progbits\n\
        _Z6reduceILi64EEvPf:\n        /*0000*/  EXIT ;\n\n\n\
        //--------------------- .text.plain --------------------------\n\
        \t.section\t.text.plain,\"ax\",@progbits\n\
        plain:\n        /*0000*/  NOP ;\n";

    #[test]
    fn only_the_wanted_kernels_are_printed_each_below_its_name() {
        let names = [("reduce<64>".to_owned(), "_Z6reduceILi64EEvPf".to_owned())];
        let wanted = ["reduce<64>".to_owned()];
        let reduce = "// reduce<64>\n_Z6reduceILi64EEvPf:\n        /*0000*/  EXIT ;\n\n";
        assert_eq!(only(&Kernels::of(&names, Some(&wanted)), PRINTED), reduce);
        let plain = "// plain\nplain:\n        /*0000*/  NOP ;\n\n";
        assert_eq!(only(&Kernels::of(&names, None), PRINTED), format!("{reduce}{plain}"));
    }

    #[test]
    fn a_program_that_fails_is_named_with_its_message() {
        let disassembler = Disassembler {
            program: "/bin/false".into(),
        };
        let error = disassembler.print(&Kernels::of(&[], None), b"", &AtomicBool::new(false));
        let text = error.expect_err("it fails").to_string();
        assert!(
            text.starts_with("`/bin/false` could not read the machine code: exit status: 1"),
            "{text}"
        );
    }
}
