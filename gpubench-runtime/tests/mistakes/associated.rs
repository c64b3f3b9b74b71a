//! Attributes inside `impl` and traits.
#![allow(unused)]
use gpubench::prelude::*;

struct Image;

impl Image {
    #[gpubench]
    fn benchmark(cx: &mut Launcher) -> Result<()> {
        Ok(())
    }

    #[problem(axes(n = [1]))]
    fn reference(n: usize) {}
}

trait Filter {
    #[gpubench]
    fn in_a_trait(cx: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

#[rustfmt::skip]
impl Image {
#[gpubench]
fn not_indented(cx: &mut Launcher) -> Result<()> {
    Ok(())
}
}

impl Image { #[gpubench] fn in_a_line(cx: &mut Launcher) -> Result<()> { Ok(()) } }

mod inner {
    use super::*;

    #[gpubench]
    fn in_a_module(cx: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

fn main() {}
