//! The tensors of a case: names, shapes, fills and comparisons.

mod answer;
mod comparison;
mod cpu_data;
mod fill;
mod rng;
mod stored;

pub use answer::{Answer, CheckData};
pub(crate) use answer::{CheckedTensor, Ignored};
pub(crate) use comparison::Comparison;
pub use cpu_data::CpuData;
pub(crate) use cpu_data::CpuTensor;
pub(crate) use fill::check_fill;
pub use fill::{Bits, Bound, ByCpu, ByKernel, DeclaredFill, Integers, IntoFill, Normal, Uniform};
pub use rng::Rng;
pub use stored::{FileFill, FileTensor, TensorFile};

use crate::catalog::{Fill, Mismatched, Record, Role, Tensor, Tolerance};
use crate::element::{RecordType, Shape};
use crate::error::{Error, Outcome, Result};
use crate::plan::KernelRef;
use crate::plan::record::no_check_of_structs;
use crate::plan::rules::check_tensor;
use crate::source::Kernel;
use std::fmt;

/// The tensors of a case, in order. The `tensors = ..` function of a benchmark returns them.
///
/// ```
/// use gpubench::prelude::*;
///
/// fn rgb_image(width: usize, height: usize) -> Tensors {
///     Tensors::new()
///         .input("rgb", f32::shape([height, width, 3]), Uniform(0.0..1.0))
///         .output("gray", f32::shape([height, width]))
/// }
/// # rgb_image(4, 4);
/// ```
///
/// The function declares the tensors; it does not fill them. The tool fills the inputs again before
/// every call, as declared. For inputs that depend on each other, declare [`ByCpu`] and fill them
/// with [`generate`](Tensors::generate).
#[derive(Default)]
#[must_use]
pub struct Tensors {
    declared: Vec<Declared>,
    generators: Vec<Generator>,
    /// The first wrong declaration, reported when the tensors are used.
    mistake: Option<Error>,
}

struct Declared {
    name: String,
    shape: Shape,
    role: Role,
    fill: DeclaredFill,
    tolerance: Option<Tolerance>,
}

type Generator = Box<dyn Fn(&mut Rng, &mut CpuData<'_>) -> Result<()>>;

impl Tensors {
    /// Returns an empty list.
    pub fn new() -> Tensors {
        Tensors::default()
    }

    /// Adds a tensor that is read. It is filled again for every call.
    pub fn input(self, name: &str, shape: Shape, fill: impl IntoFill) -> Tensors {
        self.declare(name, shape, Role::Input, fill.into_fill())
    }

    /// Adds a tensor that is read and has the same contents for every call of a case, such as a
    /// filter.
    pub fn constant(self, name: &str, shape: Shape, fill: impl IntoFill) -> Tensors {
        self.declare(name, shape, Role::Constant, fill.into_fill())
    }

    /// Adds a tensor that is written. It holds noise before every call, and every element is
    /// checked afterwards.
    pub fn output(self, name: &str, shape: Shape) -> Tensors {
        self.declare(name, shape, Role::Output, DeclaredFill::Plain(Fill::Poison))
    }

    /// Adds a tensor that is read and overwritten. It is filled again for every call and checked
    /// afterwards.
    pub fn inout(self, name: &str, shape: Shape, fill: impl IntoFill) -> Tensors {
        self.declare(name, shape, Role::InOut, fill.into_fill())
    }

    /// Adds temporary memory for the call. It holds noise before every call and is not checked.
    pub fn scratch(self, name: &str, shape: Shape) -> Tensors {
        self.declare(name, shape, Role::Scratch, DeclaredFill::Plain(Fill::Poison))
    }

    /// Compares the last declared output by `|got - expected| <= atol + rtol * |expected|`. This
    /// overrides the benchmark's option.
    pub fn tolerance(self, rtol: f64, atol: f64) -> Tensors {
        self.compare("tolerance", Tolerance::Close { rtol, atol })
    }

    /// Lets a share of the last declared output's elements differ by more than its
    /// [`tolerance`](Tensors::tolerance), which comes before: `share` of them, below 1, by at most
    /// `cap` times the tolerance. A NaN or an infinity that is not expected is always wrong, and so
    /// is an element that was not written.
    ///
    /// ```
    /// use gpubench::prelude::*;
    ///
    /// fn attention(rows: usize) -> Tensors {
    ///     Tensors::new()
    ///         .input("x", F16::shape([rows, 64]), Normal { mean: 0.0, stddev: 1.0 })
    ///         // One element of a thousand may be up to ten tolerances off.
    ///         .output("y", F16::shape([rows, 64]))
    ///         .tolerance(1e-2, 1e-3)
    ///         .mismatched(0.001, 10.0)
    /// }
    /// # attention(4);
    /// ```
    pub fn mismatched(mut self, share: f64, cap: f64) -> Tensors {
        let last = self.declared.last_mut().and_then(|last| last.tolerance.as_mut());
        match last {
            Some(tolerance @ Tolerance::Close { .. }) => {
                let (rtol, atol) = tolerance.bounds().unwrap_or_default();
                *tolerance = Tolerance::Mostly {
                    rtol,
                    atol,
                    mismatched: Mismatched { share, cap },
                };
            }
            _ => {
                let mistake = Error::new("`.mismatched(..)` must follow a `.tolerance(..)`");
                self.mistake.get_or_insert(mistake);
            }
        }
        self
    }

    /// Compares the last declared output for equality. This overrides the benchmark's option. A NaN
    /// equals a NaN, and zero equals negative zero.
    pub fn exact(self) -> Tensors {
        self.compare("exact", Tolerance::Exact)
    }

    /// Adds a function that fills the [`ByCpu`] tensors. Its random numbers start from a new seed
    /// for every call.
    ///
    /// The data must depend only on the axes and the random numbers, so that the same seed gives
    /// the same data in another process. Take every [`ByCpu`] tensor from `data` at least once. If
    /// there are several functions, they run in order, and each continues the random sequence.
    ///
    /// A sparse matrix in CSR format, with eight entries per row:
    ///
    /// ```
    /// use gpubench::prelude::*;
    ///
    /// fn sparse_matrix(rows: usize, cols: usize) -> Tensors {
    ///     Tensors::new()
    ///         .input("row_start", u32::shape(rows + 1), ByCpu)
    ///         .input("column", u32::shape(rows * 8), ByCpu)
    ///         .input("value", f32::shape(rows * 8), Uniform(-1.0..1.0))
    ///         .input("x", f32::shape(cols), Uniform(-1.0..1.0))
    ///         .output("y", f32::shape(rows))
    ///         .generate(move |rng: &mut Rng, data: &mut CpuData| {
    ///             let row_start = data.slice::<u32>("row_start");
    ///             let column = data.slice::<u32>("column");
    ///             for row in 0..rows {
    ///                 row_start[row + 1] = 8 * (row as u32 + 1);
    ///                 for entry in &mut column[8 * row..8 * (row + 1)] {
    ///                     *entry = rng.index(cols) as u32;
    ///                 }
    ///             }
    ///             row_start[0] = 0;
    ///         })
    /// }
    /// # sparse_matrix(4, 4);
    /// ```
    pub fn generate<F, R>(mut self, generator: F) -> Tensors
    where
        F: Fn(&mut Rng, &mut CpuData<'_>) -> R + 'static,
        R: Outcome,
    {
        self.generators
            .push(Box::new(move |rng, data| generator(rng, data).into_result()));
        self
    }

    fn declare(mut self, name: &str, shape: Shape, role: Role, fill: DeclaredFill) -> Tensors {
        self.declared.push(Declared {
            name: name.to_owned(),
            shape,
            role,
            fill,
            tolerance: None,
        });
        self
    }

    fn compare(mut self, method: &str, tolerance: Tolerance) -> Tensors {
        match self.declared.last_mut() {
            Some(last) if last.role.is_output() => last.tolerance = Some(tolerance),
            _ => {
                let mistake = Error::new(format!("`.{method}(..)` must follow an `.output(..)` or `.inout(..)`"));
                self.mistake.get_or_insert(mistake);
            }
        }
        self
    }

    /// Returns the tensors for the catalog. `comparison` applies to floating-point outputs without
    /// one of their own.
    pub(crate) fn describe(
        &self,
        comparison: Comparison,
        kernel: impl Fn(&Kernel) -> Result<KernelRef>,
    ) -> Result<Vec<Tensor>> {
        if let Some(mistake) = &self.mistake {
            return Err(Error::new(mistake));
        }
        let mut tensors: Vec<Tensor> = Vec::with_capacity(self.declared.len());
        for declared in &self.declared {
            let context = |error: Error| error.context(format!("tensor `{}`", declared.name));
            if tensors.iter().any(|tensor| tensor.name == declared.name) {
                return Err(Error::new(format!("two tensors are named `{}`", declared.name)));
            }
            tensors.push(declared.describe(comparison, &kernel).map_err(context)?);
        }
        self.check_generators()?;
        Ok(tensors)
    }

    fn check_generators(&self) -> Result<()> {
        let is_by_cpu = |declared: &&Declared| matches!(declared.fill, DeclaredFill::Plain(Fill::Cpu));
        let by_cpu = self.declared.iter().find(is_by_cpu);
        match (by_cpu, self.generators.is_empty()) {
            (Some(tensor), true) => Err(Error::new(format!(
                "tensor `{}` is filled `ByCpu`, but there is no `.generate(..)` to fill it",
                tensor.name
            ))),
            (None, false) => Err(Error::new("`.generate(..)` has nothing to fill: no tensor is `ByCpu`")),
            _ => Ok(()),
        }
    }

    /// Fills the tensors of files, then runs the generators on the memory of the [`ByCpu`] tensors.
    pub(crate) fn run_generators(&self, seed: u64, data: &mut CpuData<'_>) -> Result<()> {
        let mut rng = Rng::new(seed);
        let mut untouched: Vec<&str> = data.untouched().collect();
        for declared in &self.declared {
            if let DeclaredFill::File(file) = &declared.fill
                && let Some(elements) = data.elements(&declared.name)
            {
                file.fill(&declared.shape, &mut rng, elements)?;
                untouched.retain(|name| *name != declared.name);
            }
        }
        for generator in &self.generators {
            let mut data = data.reborrow();
            generator(&mut rng, &mut data)?;
            let left: Vec<&str> = data.untouched().collect();
            untouched.retain(|name| left.contains(name));
        }
        match untouched.first() {
            Some(name) => Err(Error::new(format!("no `.generate(..)` fills the tensor `{name}`"))),
            None => Ok(()),
        }
    }
}

impl Declared {
    fn describe(&self, comparison: Comparison, kernel: impl Fn(&Kernel) -> Result<KernelRef>) -> Result<Tensor> {
        let fill = match &self.fill {
            DeclaredFill::Plain(fill) => fill.clone(),
            DeclaredFill::Kernel(user) => Fill::Kernel(kernel(user)?),
            DeclaredFill::File(file) => file.check(self.role, &self.shape)?,
        };
        let (tolerance, record) = match self.shape.record() {
            None => (self.judged(comparison)?, None),
            Some(record) => (Tolerance::Exact, Some(Box::new(self.record(record, comparison)?))),
        };
        let tensor = Tensor {
            name: self.name.clone(),
            dtype: self.shape.dtype(),
            shape: self.shape.extents().to_vec(),
            role: self.role,
            fill,
            tolerance,
            record,
        };
        check_tensor(&tensor)?;
        Ok(tensor)
    }

    /// Returns the structs of the tensor. Each field of an output is compared as an output of its
    /// type would be.
    fn record(&self, record: RecordType, comparison: Comparison) -> Result<Record> {
        if self.tolerance.is_some() {
            return Err(Error::new(format!(
                "each field of `{}` is compared on its own (hint: write `#[tolerance(..)]` or `#[exact]` before the fields)",
                record.name
            )));
        }
        if comparison == Comparison::ByCheck && self.role.is_output() {
            return Err(no_check_of_structs(record.name));
        }
        Ok(record.describe(|dtype, stated| match stated {
            _ if !self.role.is_output() => Tolerance::Exact,
            Some(stated) => stated,
            None if dtype.is_float() => comparison.of(dtype),
            None => Tolerance::Exact,
        }))
    }

    fn judged(&self, comparison: Comparison) -> Result<Tolerance> {
        let dtype = self.shape.dtype();
        match (self.tolerance, comparison) {
            (Some(_), Comparison::ByCheck) => Err(Error::new(
                "there is no reference to compare with, only a check: remove the tolerance, or add `reference = ..`",
            )),
            (None, Comparison::ByCheck) if self.role.is_output() => Ok(Tolerance::ByCheck),
            (Some(own), _) => Ok(own),
            (None, _) if !self.role.is_output() || !dtype.is_float() => Ok(Tolerance::Exact),
            (None, comparison) => Ok(comparison.of(dtype)),
        }
    }
}

impl fmt::Debug for Tensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tensors = self
            .declared
            .iter()
            .map(|tensor| (&tensor.name, &tensor.shape, tensor.role));
        f.debug_list().entries(tensors).finish()
    }
}

#[cfg(test)]
mod tests;
