//! What NVIDIA's assembler says of the kernels that it makes.

use serde::{Deserialize, Serialize};

/// The option that makes it say so.
pub(crate) const VERBOSE: &str = "-v";

/// What a kernel needs, by the words of the assembler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssemblerReport {
    /// The kernel's symbol.
    pub symbol: String,
    /// Registers per thread.
    pub registers: u32,
    /// Static shared memory per block in bytes.
    pub static_shared: u32,
    /// Stack per thread in bytes, with arrays and spilled registers.
    pub stack: u32,
    /// Bytes of registers that instructions spill to the stack.
    pub spill_stores: u32,
    /// Bytes of registers that instructions fill from the stack.
    pub spill_loads: u32,
}

impl AssemblerReport {
    /// Returns the report of a symbol from its [`numbers`](Self::numbers).
    pub(crate) fn of_numbers(symbol: String, numbers: [u32; 5]) -> AssemblerReport {
        let [registers, static_shared, stack, spill_stores, spill_loads] = numbers;
        AssemblerReport {
            symbol,
            registers,
            static_shared,
            stack,
            spill_stores,
            spill_loads,
        }
    }

    /// Returns its numbers, in the order of its fields.
    pub(crate) fn numbers(&self) -> [u32; 5] {
        let AssemblerReport {
            symbol: _,
            registers,
            static_shared,
            stack,
            spill_stores,
            spill_loads,
        } = *self;
        [registers, static_shared, stack, spill_stores, spill_loads]
    }
}

/// Returns the reports in a compiler's messages. Functions that kernels call have none.
pub(crate) fn reports(messages: &str) -> Vec<AssemblerReport> {
    let mut reports: Vec<AssemblerReport> = Vec::new();
    let mut is_of_the_kernel = false;
    for line in messages.lines() {
        if let Some((_, kernel)) = line.split_once("Compiling entry function '") {
            reports.push(AssemblerReport {
                symbol: kernel.split('\'').next().unwrap_or(kernel).to_owned(),
                ..AssemblerReport::default()
            });
            continue;
        }
        let Some(report) = reports.last_mut() else { continue };
        if let Some((_, function)) = line.split_once("Function properties for ") {
            is_of_the_kernel = function.trim() == report.symbol;
        } else if let Some(stack) = number(line, " bytes stack frame").filter(|_| is_of_the_kernel) {
            report.stack = stack;
            report.spill_stores = number(line, " bytes spill stores").unwrap_or(0);
            report.spill_loads = number(line, " bytes spill loads").unwrap_or(0);
        } else if let Some(registers) = number(line, " registers, used") {
            report.registers = registers;
            report.static_shared = number(line, " bytes smem").unwrap_or(0);
        }
    }
    reports
}

/// Returns the number before some words.
fn number(line: &str, words: &str) -> Option<u32> {
    let (before, _) = line.split_once(words)?;
    before.rsplit([' ', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From NVRTC 13.5 and nvcc 13.5, which format the second line differently.
    const MESSAGES: &str = "\
ptxas info    : 64 bytes gmem
ptxas info    : Compiling entry function '_Z3bigPf' for 'sm_90'
ptxas info    : Function properties for _Z3bigPf
ptxas         .     256 bytes stack frame, 24 bytes spill stores, 48 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 256 bytes cumulative stack size
ptxas info    : Compile time = 170.634 ms
ptxas info    : Compiling entry function '_Z6reduceILi128EEvPfi' for 'sm_90'
ptxas info    : Function properties for _Z6reduceILi128EEvPfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, used 1 barriers, 512 bytes smem, 372 bytes cmem[0]
ptxas info    : Function properties for _Z6helperf
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
";

    #[test]
    fn each_kernel_has_its_own_numbers() {
        let big = AssemblerReport {
            symbol: "_Z3bigPf".to_owned(),
            registers: 32,
            static_shared: 0,
            stack: 256,
            spill_stores: 24,
            spill_loads: 48,
        };
        let reduce = AssemblerReport {
            symbol: "_Z6reduceILi128EEvPfi".to_owned(),
            registers: 22,
            static_shared: 512,
            ..AssemblerReport::default()
        };
        assert_eq!(reports(MESSAGES), [big, reduce]);
        assert_eq!(reports("a.cu(1): warning: 3 registers, used for nothing"), []);
    }
}
