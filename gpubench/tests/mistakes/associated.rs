//! Attributes inside `impl` and traits.
#![allow(unused)]
use gpubench::prelude::*;

struct Image;

impl Image {
    #[gpubench]
    fn benchmark(launcher: &mut Launcher) -> Result<()> {
        Ok(())
    }

    #[problem(axes(n = [1]))]
    fn reference(n: usize) {}
}

trait Filter {
    #[gpubench]
    fn in_a_trait(launcher: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

#[rustfmt::skip]
impl Image {
#[gpubench]
fn not_indented(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}
}

impl Image { #[gpubench] fn in_a_line(launcher: &mut Launcher) -> Result<()> { Ok(()) } }

mod inner {
    use super::*;

    #[gpubench]
    fn in_a_module(launcher: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

fn main() {}
