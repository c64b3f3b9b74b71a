//! Kernels of the crate that fill tensors.

use gpubench::catalog::{Fill, Role, Tensor};
use gpubench::plan::KernelRef;

use super::{AddressSpace, Operand, ReplayError};
use crate::wire::Generate;
use gpubench_device::{DeviceError, DevicePtr, Driver, Function, LaunchConfig, Module, Stream};

/// Threads per block of a generator.
const THREADS: u32 = 256;

/// The loaded generator kernels `(T *out, size_t len, unsigned long long seed)` of a case, with
/// their tensors.
#[derive(Debug)]
pub struct Generators(Vec<Generator>);

#[derive(Debug)]
struct Generator {
    kernel: String,
    function: Function,
    /// Position of the tensor.
    position: u64,
    role: Role,
    elements: u64,
    target: DevicePtr,
}

impl Generators {
    /// Finds the kernels in loaded modules.
    ///
    /// # Errors
    /// If a module, a kernel or a tensor's memory is missing.
    pub fn bind(
        driver: &mut dyn Driver,
        tensors: &[Tensor],
        operands: &[Operand],
        modules: &[(u32, Module)],
    ) -> Result<Generators, ReplayError> {
        let space = AddressSpace {
            tensors: &[],
            scratch: &[],
            modules,
        };
        let mut generators = Vec::new();
        for (position, (tensor, operand)) in tensors.iter().zip(operands).enumerate() {
            if let Fill::Kernel(kernel) = &tensor.fill {
                generators.push(Generator {
                    kernel: kernel.to_string(),
                    function: find(driver, kernel, &space)?,
                    position: position as u64,
                    role: tensor.role,
                    elements: tensor.items(),
                    target: operand.contents.ok_or(ReplayError::Missing("a buffer"))?,
                });
            }
        }
        Ok(Generators(generators))
    }

    /// Fills the tensors for a window, and waits for it.
    ///
    /// # Errors
    /// If a kernel fails.
    pub fn run(&self, driver: &mut dyn Driver, stream: Stream, order: &Generate) -> Result<(), ReplayError> {
        for generator in &self.0 {
            generator
                .run(driver, stream, order)
                .map_err(|source| ReplayError::Kernel {
                    kernel: generator.kernel.clone(),
                    source,
                })?;
        }
        Ok(())
    }
}

fn find(driver: &mut dyn Driver, kernel: &KernelRef, space: &AddressSpace<'_>) -> Result<Function, ReplayError> {
    let function = space.function(driver, kernel)?;
    let parameters = driver.parameter_sizes(function);
    if let Some(parameters) = parameters.filter(|parameters| *parameters != [8, 8, 8]) {
        return Err(ReplayError::Mismatch(format!(
            "kernel `{kernel}` fills a tensor, so it must take `(T *out, size_t len, unsigned long long seed)`, but its parameters have {parameters:?} bytes"
        )));
    }
    Ok(function)
}

impl Generator {
    fn run(&self, driver: &mut dyn Driver, stream: Stream, order: &Generate) -> Result<(), DeviceError> {
        let Some(seed) = self.seed(order) else { return Ok(()) };
        let blocks = u32::try_from(self.elements.div_ceil(THREADS.into()).max(1));
        let blocks = blocks.map_err(|_| DeviceError::Unsupported("launch that many blocks".to_owned()))?;
        let arguments = [self.target.0, self.elements, seed].map(u64::to_le_bytes);
        let arguments: Vec<&[u8]> = arguments.iter().map(|argument| argument.as_slice()).collect();
        let config = LaunchConfig::linear(blocks, THREADS);
        driver.launch(stream, self.function, &config, &arguments)?;
        driver.synchronize(stream)
    }

    /// Returns the seed for a window, or `None` for a constant that window 0 has filled.
    fn seed(&self, order: &Generate) -> Option<u64> {
        let seed = match (self.role, order.window) {
            (Role::Constant, 0) => order.constant_seed,
            (Role::Constant, _) => return None,
            _ => order.seed,
        };
        // Each tensor of a window has another seed.
        Some(seed.wrapping_add(self.position.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}
