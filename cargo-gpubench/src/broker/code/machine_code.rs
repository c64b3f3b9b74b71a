//! The machine code of the kernels whose instructions are counted.

use std::collections::BTreeMap;
use std::path::Path;

use gpubench::catalog::Recording;

use super::kernels::{Modules, images, kernels_under_test};
use gpubench_contract::{Counts, MachineCode};
use gpubench_device::compilers::{Disassembler, NoDisassembler};
use gpubench_device::cuda::KernelImage;
use gpubench_diagnostic::{Interrupted, chain};
use gpubench_measure::clients::Interrupt;

/// The machine code of a library's kernels, by the position of their source, or why it is not
/// known. Empty on a device whose kernels have none.
#[derive(Debug, Default)]
pub(crate) struct MachineCodes(BTreeMap<u32, Result<Vec<MachineCode>, String>>);

/// The machine code of a case's kernels.
#[derive(Debug, Default)]
pub(crate) struct CaseMachineCode {
    known: Vec<MachineCode>,
    /// Why some of it is not known.
    unknown: Option<String>,
}

impl MachineCodes {
    /// Reads the machine code of the kernels that some recordings launch.
    pub(crate) fn read<'r>(
        disassembler: &Result<Disassembler, NoDisassembler>,
        modules: &Modules,
        recordings: impl Iterator<Item = &'r Recording>,
        interrupt: &Interrupt,
    ) -> Result<MachineCodes, Interrupted> {
        let mut codes = BTreeMap::new();
        for (source, names, path) in images(modules, recordings) {
            let code = match disassembler {
                Ok(disassembler) => of_file(disassembler, path, &names, interrupt),
                Err(none) => Err(none.to_string()),
            };
            if interrupt.is_set() {
                return Err(Interrupted);
            }
            codes.insert(source, code);
        }
        Ok(MachineCodes(codes))
    }

    /// Returns the machine code of the kernels of a case, in the order of their first launches.
    pub(crate) fn of_case(&self, recording: &Recording) -> CaseMachineCode {
        let mut case = CaseMachineCode::default();
        for kernel in kernels_under_test(recording) {
            match self.0.get(&kernel.source) {
                None => {}
                Some(Err(reason)) => case.unknown = Some(reason.clone()),
                Some(Ok(codes)) => {
                    let code = codes.iter().find(|code| code.kernel == kernel.name);
                    let is_new = |code: &&MachineCode| case.known.iter().all(|known| known.kernel != code.kernel);
                    let code = code.filter(is_new).cloned();
                    case.known.extend(code);
                }
            }
        }
        case
    }
}

impl CaseMachineCode {
    /// Writes it into the counts of a result.
    pub(crate) fn note(&self, counts: &mut Counts) {
        counts.machine_code.clone_from(&self.known);
        counts.no_machine_code.clone_from(&self.unknown);
    }
}

fn of_file(
    disassembler: &Disassembler,
    path: &Path,
    names: &[String],
    interrupt: &Interrupt,
) -> Result<Vec<MachineCode>, String> {
    let bytes = fs_err::read(path).map_err(|error| error.to_string())?;
    let image = KernelImage::decode(&bytes).map_err(|error| error.to_string())?;
    let code = disassembler.machine_code(&image, names, interrupt.flag());
    code.map_err(|error| chain(&error))
}
