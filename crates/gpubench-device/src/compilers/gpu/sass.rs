//! The machine code of kernels, read by NVIDIA's `nvdisasm`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::super::process::{Patience, Unfinished, run};
use super::super::readable::Readable;
use super::compiler::NamedCompilers;
use super::opcodes::machine_code;
use crate::cuda::{ImageForm, KernelImage};
use crate::toolkits::{Surroundings, program_next_to};
use gpubench_contract::MachineCode;
use gpubench_diagnostic::{Purpose, TemporaryFolder};

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

/// Why the machine code of an image cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The image is PTX.
    #[error("it is PTX, which the driver compiles where it runs")]
    Ptx,
    /// The image is a fatbin.
    #[error("it is a fatbin, which only NVIDIA's `cuobjdump` can unpack")]
    Fatbin,
    /// The disassembler failed.
    #[error("`{}` could not read the machine code: {reason}", .program.display())]
    Disassembler {
        /// The program.
        program: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
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
    ) -> Result<Vec<MachineCode>, Unreadable> {
        match image.form() {
            ImageForm::Cubin => {}
            ImageForm::Ptx => return Err(Unreadable::Ptx),
            ImageForm::Fatbin => return Err(Unreadable::Fatbin),
        }
        let text = self.disassemble(&image.image, interrupt)?;
        let sections: BTreeMap<&str, &str> = sections(&text).collect();
        let of_kernel = |kernel: &String| Some(machine_code(kernel, sections.get(image.symbol(kernel))?));
        Ok(kernels.iter().filter_map(of_kernel).collect())
    }

    /// Returns the program's output for a cubin.
    fn disassemble(&self, cubin: &[u8], interrupt: &AtomicBool) -> Result<String, Unreadable> {
        let failed = |reason: String| Unreadable::Disassembler {
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
            Unfinished::Interrupted => Unreadable::Interrupted,
            unfinished => failed(unfinished.to_string()),
        })?;
        if !finished.status.success() {
            return Err(failed(format!("{}: {}", finished.status, finished.stderr.trim())));
        }
        Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
    }
}

/// Returns the symbol and the code of each function.
fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(SECTION).skip(1).map(|section| {
        let (head, code) = section.split_once('\n').unwrap_or((section, ""));
        (head.split(',').next().unwrap_or(head), code)
    })
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
    fn each_function_has_its_code_under_its_symbol() {
        let sections: Vec<(&str, &str)> = sections(PRINTED).collect();
        let [(reduce, code), (plain, _)] = sections[..] else {
            panic!("two functions: {sections:?}");
        };
        assert_eq!((reduce, plain), ("_Z6reduceILi64EEvPf", "plain"));
        assert!(
            code.starts_with("_Z6reduceILi64EEvPf:\n        /*0000*/  EXIT ;\n"),
            "{code}"
        );
    }

    #[test]
    fn a_program_that_fails_is_named_with_its_message() {
        let disassembler = Disassembler {
            program: "/bin/false".into(),
        };
        let error = disassembler.disassemble(b"", &AtomicBool::new(false));
        let text = error.expect_err("it fails").to_string();
        assert!(
            text.starts_with("`/bin/false` could not read the machine code: exit status: 1"),
            "{text}"
        );
    }

    #[test]
    fn ptx_and_fatbins_have_no_machine_code_to_read() {
        let disassembler = Disassembler {
            program: "/bin/false".into(),
        };
        let refused = |image: &[u8]| {
            let image = KernelImage {
                image: image.to_vec(),
                ..KernelImage::default()
            };
            let read = disassembler.machine_code(&image, &[], &AtomicBool::new(false));
            read.expect_err("it is refused").to_string()
        };
        let ptx = "it is PTX, which the driver compiles where it runs";
        assert_eq!(refused(b".version 8.8\n\0"), ptx);
        let fatbin = "it is a fatbin, which only NVIDIA's `cuobjdump` can unpack";
        assert_eq!(refused(b"\x50\xed\x55\xba"), fatbin);
    }
}
