//! Reads a profile of callgrind: <https://valgrind.org/docs/manual/cl-format.html>.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

/// Whose code a shared object has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The kernels, and libraries that only they use.
    Kernel,
    /// The tool, which runs the kernels.
    Tool,
    /// Libraries that the tool and the kernels may use.
    Shared,
}

/// The objects that were there before any kernel was loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnObjects {
    /// The tool's executable.
    pub(super) program: String,
    /// The libraries of the tool.
    pub(super) libraries: BTreeSet<String>,
}

impl OwnObjects {
    fn owner(&self, object: &str) -> Owner {
        match object {
            program if program == self.program => Owner::Tool,
            library if self.libraries.contains(library) => Owner::Shared,
            _ => Owner::Kernel,
        }
    }
}

/// Why a profile could not be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ProfileError {
    /// The profile has other columns than a position and the instructions.
    #[error("line {line} of callgrind's profile is not understood: `{text}`")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// The profile ends before its totals.
    #[error("callgrind's profile is incomplete")]
    Incomplete,
}

/// Returns the instructions of each function of the kernels, largest first. A library function that
/// a kernel calls counts with everything below it. What the tool does around the kernels does not
/// count, nor do the functions of its headers that a kernel's library contains: both stand for
/// hardware.
///
/// # Errors
/// When the profile is incomplete or has an unknown format.
pub(super) fn instructions_by_function(profile: &str, own: &OwnObjects) -> Result<Vec<(String, u64)>, ProfileError> {
    let mut reader = Reader {
        own,
        place: Place::default(),
        callee: Place::default(),
        costs: BTreeMap::new(),
    };
    let mut is_complete = false;
    let mut of_a_call = false;
    for (number, line) in (1..).zip(profile.lines()) {
        let wrong = || ProfileError::Line {
            line: number,
            text: line.to_owned(),
        };
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| is_key(key)) {
            of_a_call = key == "calls";
            reader.note(key, value);
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let (_, cost) = line.split_once(' ').ok_or_else(wrong)?;
            let cost = cost.trim().parse().map_err(|_| wrong())?;
            if of_a_call {
                reader.add_call(cost)
            } else {
                reader.add_own(cost)
            }
            of_a_call = false;
        } else {
            is_complete |= line.starts_with("totals:");
        }
    }
    if !is_complete {
        return Err(ProfileError::Incomplete);
    }
    let mut functions: Vec<(String, u64)> = reader.costs.into_iter().filter(|(_, cost)| *cost > 0).collect();
    functions.sort_by(|(one, less), (other, more)| more.cmp(less).then_with(|| one.cmp(other)));
    Ok(functions)
}

fn is_key(key: &str) -> bool {
    matches!(
        key,
        "ob" | "fl" | "fi" | "fe" | "fn" | "cob" | "cfi" | "cfl" | "cfn" | "calls" | "jump" | "jcnd"
    )
}

/// The function of the tool's headers that writes down which block runs.
const BLOCK_SETUP: &str = "gb_unit_block(unsigned int, unsigned int, unsigned int)";

/// Whether a function of a C library finds a thread's variables. The tool's headers keep the
/// numbers of block and thread in such variables. How many instructions that takes depends on the
/// other variables of the library, such as the `__shared__` ones of kernels that nobody launches.
fn finds_variables(library_function: &str) -> bool {
    library_function.starts_with("_dl_tlsdesc_") || library_function.starts_with("__tls_get_addr")
}

/// Returns a function's name without callgrind's number for recursive calls, as in `f'2`. The code
/// that the tool's headers generate around the threads of a kernel has the kernel's name.
fn plain(name: &str) -> &str {
    let numbered = name
        .rsplit_once('\'')
        .filter(|(_, number)| number.parse::<u32>().is_ok());
    let name = numbered.map_or(name, |(name, _)| name);
    let threads = name.strip_prefix("gb_run<&").and_then(|rest| rest.rsplit_once(", "));
    match threads {
        Some((rest, _)) if rest.contains("::gb_run_threads") => {
            let kernel = rest.rsplit_once(", ").map_or(name, |(kernel, _)| kernel);
            let inner = kernel.strip_prefix('(').and_then(|kernel| kernel.strip_suffix(')'));
            inner.unwrap_or(kernel)
        }
        _ => name,
    }
}

/// A function of an object.
#[derive(Clone, Default)]
struct Place {
    object: String,
    function: String,
}

struct Reader<'a> {
    own: &'a OwnObjects,
    place: Place,
    /// The target of the next call. Its object is the caller's unless the profile names another.
    callee: Place,
    costs: BTreeMap<String, u64>,
}

impl Reader<'_> {
    fn note(&mut self, key: &str, value: &str) {
        match key {
            "ob" => value.clone_into(&mut self.place.object),
            "fn" => {
                plain(value).clone_into(&mut self.place.function);
                self.callee.object.clone_from(&self.place.object);
            }
            "cob" => value.clone_into(&mut self.callee.object),
            "cfn" => plain(value).clone_into(&mut self.callee.function),
            _ => {}
        }
    }

    fn add_own(&mut self, cost: u64) {
        if self.own.owner(&self.place.object) == Owner::Kernel && self.place.function != BLOCK_SETUP {
            *self.costs.entry(self.place.function.clone()).or_default() += cost;
        }
    }

    fn add_call(&mut self, cost: u64) {
        let [caller, callee] = [&self.place, &self.callee].map(|place| self.own.owner(&place.object));
        if (caller, callee) == (Owner::Kernel, Owner::Shared) && !finds_variables(&self.callee.function) {
            *self.costs.entry(self.callee.function.clone()).or_default() += cost;
        }
        self.callee.object.clone_from(&self.place.object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> OwnObjects {
        OwnObjects {
            program: "/bin/tool".to_owned(),
            libraries: BTreeSet::from(["/lib/libc.so.6".to_owned()]),
        }
    }

    fn counted(body: &str) -> Result<Vec<(String, u64)>, ProfileError> {
        instructions_by_function(&format!("version: 1\nevents: Ir\n{body}"), &own())
    }

    #[test]
    fn functions_of_kernels_and_the_library_functions_they_call_count() {
        let counted = counted(
            "ob=/tmp/k.so\nfl=k.cu\nfn=scale\n3 40\n4 2\ncob=/lib/libc.so.6\ncfi=exp.c\ncfn=expf\ncalls=8 0\n4 160\n\
             fn=helper\n9 5\n\ntotals: 207\n",
        );
        let expected = [("expf", 160), ("scale", 42), ("helper", 5)];
        assert_eq!(counted.unwrap(), expected.map(|(name, cost)| (name.to_owned(), cost)));
    }

    #[test]
    fn what_the_tool_does_and_the_library_functions_it_calls_do_not_count() {
        let counted = counted(
            "ob=/bin/tool\nfn=work\n0 900\ncob=/tmp/k.so\ncfn=scale\ncalls=1 0\n0 42\ncob=/lib/libc.so.6\ncfn=memset\n\
             calls=1 0\n0 77\n\nob=/lib/libc.so.6\nfn=memset\n0 77\n\nob=/tmp/k.so\nfn=scale\n3 42\ncob=/bin/tool\n\
             cfn=barrier\ncalls=1 0\n3 500\ncfn=helper\ncalls=2 0\n3 6\n\nfn=helper\n9 6\n\ntotals: 1\n",
        );
        let expected = [("scale", 42), ("helper", 6)];
        assert_eq!(counted.unwrap(), expected.map(|(name, cost)| (name.to_owned(), cost)));
    }

    #[test]
    fn the_setup_of_a_block_and_of_a_threads_variables_does_not_count() {
        let counted = counted(
            "ob=/tmp/k.so\nfn=gb_unit_block(unsigned int, unsigned int, unsigned int)\n3 9\ncob=/lib/libc.so.6\n\
             cfn=_dl_tlsdesc_dynamic\ncalls=1 0\n3 51\nfn=scale\n3 40\ncob=/lib/libc.so.6\ncfn=_dl_tlsdesc_return\n\
             calls=2 0\n4 6\ncob=/lib/libc.so.6\ncfn=__tls_get_addr\ncalls=2 0\n4 22\n\
             fn=_dl_tlsdesc_return\n9 5\n\ntotals: 207\n",
        );
        // A function of a kernel that has such a name is the kernel's.
        let expected = [("scale", 40), ("_dl_tlsdesc_return", 5)];
        assert_eq!(counted.unwrap(), expected.map(|(name, cost)| (name.to_owned(), cost)));
    }

    #[test]
    fn generated_and_recursive_functions_have_the_name_in_the_source() {
        for (name, expected) in [
            (
                "gb_run<&bump, false>::gb_run_threads(unsigned int, unsigned int)",
                "bump",
            ),
            (
                "gb_run<&(reduce<256, true>), true>::gb_run_threads(unsigned int, unsigned int)'2",
                "reduce<256, true>",
            ),
            ("fibonacci(int)'12", "fibonacci(int)"),
            ("it's", "it's"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn a_cut_off_profile_is_an_error() {
        assert_eq!(counted("ob=/tmp/k.so\nfn=scale\n3 40\n"), Err(ProfileError::Incomplete));
    }

    #[test]
    fn a_profile_with_other_columns_is_an_error() {
        let error = counted("ob=/tmp/k.so\nfn=scale\n3 40 7\n\ntotals: 40 7\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 5 of callgrind's profile is not understood: `3 40 7`"
        );
    }
}
