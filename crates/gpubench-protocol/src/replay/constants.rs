//! Values of `__constant__` variables.

use gpubench::plan::ConstantValue;

use super::{AddressSpace, ReplayError};
use gpubench_device::Driver;

/// Writes the values, and waits for it.
pub(super) fn write(
    driver: &mut dyn Driver,
    constants: &[ConstantValue],
    space: &AddressSpace<'_>,
) -> Result<(), ReplayError> {
    for constant in constants {
        let module = space.module(constant.source)?;
        let (address, bytes) = driver.symbol(module, &linker_name(&constant.symbol))?;
        let given = constant.bytes.len() as u64;
        if bytes != given {
            let symbol = &constant.symbol;
            return Err(ReplayError::Mismatch(format!(
                "the variable `{symbol}` has {bytes} bytes, and its value has {given}"
            )));
        }
        driver.write(address, &constant.bytes)?;
    }
    Ok(())
}

/// Returns the name that compilers give a variable in namespaces. At file scope the name stays.
fn linker_name(symbol: &str) -> String {
    let symbol = symbol.trim_start_matches("::");
    if !symbol.contains("::") {
        return symbol.to_owned();
    }
    let parts: String = symbol.split("::").map(|part| format!("{}{part}", part.len())).collect();
    format!("_ZN{parts}E")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_in_namespaces_has_its_mangled_name() {
        assert_eq!(linker_name("taps"), "taps");
        assert_eq!(linker_name("::taps"), "taps");
        assert_eq!(linker_name("image::blur::taps"), "_ZN5image4blur4tapsE");
    }
}
