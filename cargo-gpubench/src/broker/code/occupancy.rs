//! Occupancy queries of plans: the kernel is compiled, and the referee asks the device.

use gpubench::catalog::{Occupancy, OccupancyQuery};

use super::kernels::KernelBuild;
use gpubench_contract::Cause;
use gpubench_device::FrozenFile;
use gpubench_measure::clients::RoleFailure;
use gpubench_measure::measurement::CaseFailure;

/// Asks the device for the occupancy of a compiled kernel.
pub(crate) type AskDevice<'a> = dyn FnMut(&FrozenFile, &OccupancyQuery) -> Result<u32, NoAnswer> + 'a;

/// The occupancies of one library's kernels, each queried once.
pub(crate) struct Occupancies<'a> {
    pub(crate) build: KernelBuild<'a>,
    ask_device: &'a mut AskDevice<'a>,
    known: Vec<Occupancy>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The user interrupts.
    Interrupted,
    /// The case cannot be recorded.
    Failed(CaseFailure),
}

impl NoAnswer {
    /// Converts a failure of the referee.
    pub(crate) fn of_referee(query: &OccupancyQuery, failure: RoleFailure) -> NoAnswer {
        match failure {
            RoleFailure::Interrupted => NoAnswer::Interrupted,
            failure => NoAnswer::invalid(query, &gpubench_diagnostic::chain(&failure)),
        }
    }

    fn invalid(query: &OccupancyQuery, why: &str) -> NoAnswer {
        let OccupancyQuery {
            kernel,
            threads,
            dynamic_shared,
        } = query;
        let message = format!(
            "cannot determine the occupancy of kernel `{kernel}` with {threads} threads per block and {dynamic_shared} bytes of dynamic shared memory: {why}"
        );
        NoAnswer::Failed(CaseFailure::error(Cause::PlanInvalid, message))
    }
}

impl<'a> Occupancies<'a> {
    pub(crate) fn new(build: KernelBuild<'a>, ask_device: &'a mut AskDevice<'a>) -> Occupancies<'a> {
        Occupancies {
            build,
            ask_device,
            known: Vec::new(),
        }
    }

    /// Returns the answer to a query.
    pub(crate) fn answer(&mut self, query: &OccupancyQuery) -> Result<Occupancy, NoAnswer> {
        if let Some(known) = self.known.iter().find(|known| known.query == *query) {
            return Ok(known.clone());
        }
        let module = self.build.compile_one(&query.kernel);
        let module = module.map_err(NoAnswer::Failed)?;
        let blocks = (self.ask_device)(&module, query)?;
        let found = Occupancy {
            query: query.clone(),
            blocks,
        };
        self.known.push(found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{Catalog, Source, SourceFile, SourceForm};
    use gpubench::plan::KernelRef;

    use super::*;
    use gpubench_device::compilers::HostCompiler;
    use gpubench_measure::clients::Interrupt;

    #[test]
    fn a_kernel_is_compiled_and_queried_once_and_a_compile_error_fails_its_case() {
        let cache = tempfile::tempdir().expect("a directory");
        let catalog = Catalog {
            sources: vec![Source {
                name: "a.cu".into(),
                form: SourceForm::Cuda,
                files: vec![SourceFile {
                    path: "src/a.cu".into(),
                    contents: b"template <int N> __global__ void blur(float *x) { x[0] = N; }\n".to_vec(),
                }],
                options: Vec::new(),
            }],
            ..Catalog::default()
        };
        let compiler = HostCompiler::find().expect("a C++ compiler");
        let query = |name: &str| OccupancyQuery {
            kernel: KernelRef {
                source: 0,
                name: name.into(),
            },
            threads: 256,
            dynamic_shared: 0,
        };
        let interrupt = Interrupt::catch().expect("signals");
        let mut asked = Vec::new();
        let mut ask = |module: &FrozenFile, query: &OccupancyQuery| {
            assert!(module.path().is_file());
            asked.push(query.kernel.name.clone());
            Ok(6)
        };
        let mut occupancies = Occupancies::new(
            KernelBuild {
                compiler: &compiler,
                catalog: &catalog,
                cache: cache.path(),
                interrupt: &interrupt,
                most: None,
            },
            &mut ask,
        );
        for _ in 0..2 {
            assert_eq!(occupancies.answer(&query("blur<2>")).expect("an answer").blocks, 6);
        }
        let failed = occupancies
            .answer(&query("blur<none>"))
            .expect_err("it does not compile");
        assert!(matches!(failed, NoAnswer::Failed(failure) if failure.message.contains("none")));
        drop(occupancies);
        assert_eq!(asked, ["blur<2>"]);
    }
}
