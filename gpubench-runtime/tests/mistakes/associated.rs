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

mod inner {
    use super::*;

    #[gpubench]
    fn in_a_module(cx: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

fn main() {}
