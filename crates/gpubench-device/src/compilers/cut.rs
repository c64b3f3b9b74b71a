//! Removes the parts of a source that a device does not need: host code, and code that only
//! unwanted kernels use.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use super::items::{Item, Kind, Word};
use super::refusal::{LAUNCH, Refusal, constructs_in, is_of_host};

/// How much of a source is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All device code, so that errors anywhere are found.
    AllKernels,
    /// Of the functions, only those that the wanted kernels need.
    WantedKernels,
}

/// How to change a source for the CPU device.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The bytes to remove.
    pub(super) removed: Vec<Range<usize>>,
    /// The unsupported constructs that wanted kernels use.
    pub(super) refusals: Vec<Refusal>,
}

/// The items of a source and their mentions of each other.
struct Parts<'t, 'a> {
    words: &'t [Word<'a>],
    items: &'t [Item<'a>],
    macros: &'t Macros<'a>,
    /// Whether each item is host code: it launches kernels or calls the CUDA runtime.
    host_only: Vec<bool>,
}

/// Cuts a source for the CPU device. Code that `names` reach must not use unsupported constructs;
/// other code may.
pub(super) fn for_cpu(words: &[Word<'_>], items: &[Item<'_>], names: &[String], extent: Extent) -> Cut {
    let parts = Parts::new(words, items);
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    let is_defined = |word: &str| {
        let is_function = |item: &&Item<'_>| matches!(item.kind, Kind::Kernel | Kind::Device | Kind::Host);
        items.iter().filter(is_function).any(|item| item.name == Some(word))
    };
    let found: Vec<Vec<Refusal>> = items
        .iter()
        .map(|item| {
            let constructs = item.own.iter().flat_map(|own| constructs_in(words, &texts, own));
            constructs.filter(|refusal| !is_defined(&refusal.word)).collect()
        })
        .collect();
    let mentions_of_names: Vec<&str> = names.iter().flat_map(|name| words_of(name)).collect();
    let reached = parts.reached(mentions_of_names.into_iter());
    let mut refusals: Vec<Refusal> = (0..items.len())
        .filter(|&at| reached[at])
        .flat_map(|at| found[at].iter().cloned())
        .collect();
    let tainted = parts.tainted(&found);
    // A tainted item without a name: items that mention it cannot be found.
    let nameless = (0..items.len()).filter(|&at| !found[at].is_empty() && !parts.host_only[at]);
    let nameless = nameless.filter(|&at| items[at].name.is_none() && items[at].kind != Kind::Declaration);
    refusals.extend(nameless.flat_map(|at| found[at].iter().cloned()));
    let removed = (0..items.len()).filter(|&at| tainted[at] && !reached[at]);
    let mut removed: BTreeSet<usize> = removed.chain(parts.host_code()).collect();
    if extent == Extent::WantedKernels {
        removed.extend(parts.unneeded(&removed, names));
    }
    Cut {
        removed: parts.bytes(removed.into_iter()),
        refusals,
    }
}

/// Functions that code calls without naming them.
const IMPLIED: &[&str] = &["begin", "end", "get"];

/// The macros of a source: each with its name and the words of its expansion.
pub(super) type Macros<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Returns the bytes that no device code reaches. NVRTC compiles no host code.
pub(super) fn not_of_device(words: &[Word<'_>], items: &[Item<'_>], macros: &Macros<'_>) -> Vec<Range<usize>> {
    let parts = Parts {
        macros,
        ..Parts::new(words, items)
    };
    let is_marked = |item: &&Item<'_>| {
        let mut own = item
            .own
            .iter()
            .flat_map(|own| words.get(own.clone()).unwrap_or_default());
        own.any(|word| MEMORY_SPACES.contains(&word.text))
    };
    let is_root = |item: &&Item<'_>| match item.kind {
        Kind::Kernel | Kind::Device => true,
        Kind::Declaration | Kind::Prototype => is_marked(item),
        Kind::Host | Kind::Type => false,
    };
    let roots = items.iter().filter(is_root);
    let roots = roots.flat_map(|item| mentioned(words, item).chain(item.name));
    let reached = parts.reached(roots);
    let is_gone = parts.gone_names();
    let stays = |at: usize| {
        let item = &items[at];
        if item.kind == Kind::Prototype && item.name.is_some_and(&is_gone) {
            return false;
        }
        is_root(&item)
            || reached[at]
            || item.name.is_none()
            || (item.of_type.is_some() && item.kind == Kind::Declaration)
    };
    parts.bytes((0..items.len()).filter(|&at| parts.host_only[at] || !stays(at)))
}

/// Returns the bytes of the functions that kernels of these names do not need.
pub(super) fn not_needed(
    words: &[Word<'_>],
    items: &[Item<'_>],
    macros: &Macros<'_>,
    names: &[String],
) -> Vec<Range<usize>> {
    let parts = Parts {
        macros,
        ..Parts::new(words, items)
    };
    parts.bytes(parts.unneeded(&BTreeSet::new(), names).into_iter())
}

/// Parts of C++'s standard library that work only on a host.
const OF_HOSTS: &[&str] = &[
    "cerr",
    "cout",
    "deque",
    "endl",
    "function",
    "list",
    "map",
    "queue",
    "set",
    "shared_ptr",
    "sort",
    "stack",
    "string",
    "to_string",
    "unordered_map",
    "unordered_set",
    "vector",
];

/// Returns the parts of the standard library for hosts that kernels of these names use, as in
/// `std::vector`.
pub(super) fn host_library_used<'a>(
    words: &[Word<'a>],
    items: &[Item<'a>],
    macros: &Macros<'a>,
    names: &[String],
) -> BTreeSet<&'a str> {
    let parts = Parts {
        macros,
        ..Parts::new(words, items)
    };
    let reached = parts.reached(names.iter().flat_map(|name| words_of(name)));
    let reached = (0..items.len()).filter(|&at| reached[at]).map(|at| &items[at]);
    let own = reached.flat_map(|item| item.own.iter().filter_map(|own| words.get(own.clone())));
    let parts = own.flat_map(|own| own.windows(4).filter(|words| words[0].text == "std"));
    let names = parts.filter(|words| words[1].text == ":" && words[2].text == ":");
    names
        .map(|words| words[3].text)
        .filter(|name| OF_HOSTS.contains(name))
        .collect()
}

/// Returns the functions without a mark that kernels of these names call, in order. Functions that
/// constant expressions may use are none of them: GPU compilers take these in kernels.
pub(super) fn host_functions_called<'a>(
    words: &[Word<'a>],
    items: &[Item<'a>],
    macros: &Macros<'a>,
    names: &[String],
) -> Vec<&'a str> {
    let parts = Parts {
        macros,
        ..Parts::new(words, items)
    };
    let reached = parts.reached(names.iter().flat_map(|name| words_of(name)));
    let reached = || (0..items.len()).filter(|&at| reached[at]).map(|at| &items[at]);
    let marks: BTreeSet<&str> = macros
        .iter()
        .filter(|(_, words)| words.iter().any(|word| MEMORY_SPACES.contains(word)))
        .map(|(name, _)| *name)
        .chain(["constexpr", "consteval"])
        .collect();
    let is_marked = |item: &Item<'_>| {
        let own = words.get(item.words.clone()).unwrap_or_default();
        own.iter().any(|word| marks.contains(word.text))
    };
    let text = |at: usize| words.get(at).map_or("", |word| word.text);
    let called: BTreeSet<&str> = reached()
        .flat_map(|item| item.own.iter().cloned().flatten())
        .filter(|&at| text(at + 1) == "(" && !matches!(at.checked_sub(1).map(text), Some("." | ">")))
        .map(text)
        .collect();
    let is_host = |item: &&Item<'_>| {
        let is_the_only_one = || {
            items
                .iter()
                .all(|other| other.name != item.name || other.kind == Kind::Host || other.kind == Kind::Prototype)
        };
        item.kind == Kind::Host && item.of_type.is_none() && !is_marked(item) && is_the_only_one()
    };
    let hosts = reached().filter(is_host).filter_map(|item| item.name);
    let mut hosts: Vec<&str> = hosts.filter(|name| called.contains(name)).collect();
    hosts.dedup();
    hosts
}

const MEMORY_SPACES: &[&str] = &["__device__", "__constant__", "__shared__", "__managed__", "__global__"];

impl<'t, 'a> Parts<'t, 'a> {
    fn new(words: &'t [Word<'a>], items: &'t [Item<'a>]) -> Parts<'t, 'a> {
        let host_only = items
            .iter()
            .map(|item| match item.kind {
                Kind::Host => {
                    item.name == Some("main") || mentioned(words, item).any(is_of_host) || launches(words, item)
                }
                _ => false,
            })
            .collect();
        Parts {
            words,
            items,
            macros: const { &Vec::new() },
            host_only,
        }
    }

    /// Marks the items that the words reach, directly or through other items.
    fn reached<'w>(&self, from: impl Iterator<Item = &'w str>) -> Vec<bool> {
        let mut reached = vec![false; self.items.len()];
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut next: VecDeque<String> = from.map(str::to_owned).collect();
        while let Some(name) = next.pop_front() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let of_macros = self.macros.iter().filter(|(of, _)| *of == name);
            next.extend(of_macros.flat_map(|(_, words)| words).map(|word| (*word).to_owned()));
            for (at, item) in self.items.iter().enumerate() {
                let is_member = item.of_type == Some(&*name) && item.kind == Kind::Declaration;
                if (is_member || item.name == Some(&*name)) && !self.host_only[at] && !reached[at] {
                    reached[at] = true;
                    let mentioned = mentioned(self.words, item).filter(|word| !seen.contains(*word));
                    next.extend(mentioned.map(str::to_owned));
                }
            }
        }
        reached
    }

    /// Marks the items with unsupported constructs, and all items that mention them, directly or
    /// not.
    fn tainted(&self, found: &[Vec<Refusal>]) -> Vec<bool> {
        let mut tainted: Vec<bool> = found.iter().map(|found| !found.is_empty()).collect();
        loop {
            let names: BTreeSet<&str> = (0..self.items.len())
                .filter(|&at| tainted[at] && !self.host_only[at])
                .filter_map(|at| self.items[at].name)
                .collect();
            let mut grew = false;
            for (at, item) in self.items.iter().enumerate() {
                if !tainted[at] && mentioned(self.words, item).any(|word| names.contains(word)) {
                    tainted[at] = true;
                    grew = true;
                }
            }
            if !grew {
                return tainted;
            }
        }
    }

    /// Returns the functions that launch kernels or call the CUDA runtime, and the host functions
    /// that no device code and no variable mentions.
    fn host_code(&self) -> impl Iterator<Item = usize> + '_ {
        let is_root =
            |item: &&Item<'_>| matches!(item.kind, Kind::Kernel | Kind::Device | Kind::Declaration | Kind::Type);
        let roots = self.items.iter().filter(is_root);
        // A declaration of a function does not use it.
        let reached = self.reached(roots.flat_map(|item| mentioned(self.words, item)));
        let is_gone = self.gone_names();
        let is_removed = move |&at: &usize| match self.items[at].kind {
            Kind::Prototype if self.items[at].name.is_some_and(&is_gone) => true,
            Kind::Host | Kind::Prototype => self.host_only[at] || (!reached[at] && self.items[at].name.is_some()),
            Kind::Declaration => mentioned(self.words, &self.items[at]).any(is_host_type) && !reached[at],
            Kind::Kernel | Kind::Device | Kind::Type => false,
        };
        (0..self.items.len()).filter(is_removed)
    }

    /// Returns the functions that neither the kernels of these names need, nor anything else that
    /// is not `removed`.
    fn unneeded(&self, removed: &BTreeSet<usize>, names: &[String]) -> Vec<usize> {
        let is_instantiation = |item: &Item<'_>| {
            let [first, second] = [0, 1].map(|after| self.words.get(item.words.start + after).map(|word| word.text));
            first == Some("template") && second != Some("<")
        };
        let is_function = |item: &Item<'_>| match item.kind {
            Kind::Kernel | Kind::Device | Kind::Host => item.name.is_some(),
            Kind::Declaration | Kind::Prototype => is_instantiation(item),
            Kind::Type => false,
        };
        let others = (0..self.items.len()).filter(|at| !removed.contains(at) && !is_function(&self.items[*at]));
        let of_others = others.flat_map(|at| mentioned(self.words, &self.items[at]));
        let of_names = names.iter().flat_map(|name| words_of(name));
        let reached = self.reached(of_names.chain(of_others).chain(IMPLIED.iter().copied()));
        let functions = (0..self.items.len()).filter(|&at| is_function(&self.items[at]));
        functions.filter(|&at| !reached[at]).collect()
    }

    /// Returns whether a name belongs only to functions that launch kernels or call the CUDA
    /// runtime. Their declarations and instantiations are removed, too.
    fn gone_names(&self) -> impl Fn(&str) -> bool + use<'a> {
        let named = |wanted: bool| {
            let of_kind = (0..self.items.len()).filter(move |&at| {
                if wanted {
                    self.host_only[at]
                } else {
                    !self.host_only[at] && self.items[at].kind != Kind::Prototype
                }
            });
            of_kind
                .filter_map(|at| self.items[at].name)
                .collect::<BTreeSet<&'a str>>()
        };
        let (gone, left) = (named(true), named(false));
        move |name| gone.contains(name) && !left.contains(name)
    }

    fn bytes(&self, removed: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let bytes = |at: usize| {
            let Range { start, end } = self.items[at].words.clone();
            let (first, last) = (self.words.get(start)?, self.words.get(end.checked_sub(1)?)?);
            Some(first.start..last.start + last.text.len())
        };
        removed.filter_map(bytes).collect()
    }
}

/// Returns the words of an item, except its own name.
fn mentioned<'t, 'a>(words: &'t [Word<'a>], item: &'t Item<'a>) -> impl Iterator<Item = &'a str> + 't {
    let own = item
        .own
        .iter()
        .flat_map(|own| words.get(own.clone()).unwrap_or_default());
    own.map(|word| word.text).filter(|text| Some(*text) != item.name)
}

fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

/// Returns all unsupported constructs of a text that cannot be split into items.
pub(super) fn all_refused(words: &[Word<'_>]) -> Cut {
    let texts: Vec<&str> = words.iter().map(|word| word.text).collect();
    let mut refusals = constructs_in(words, &texts, &(0..words.len()));
    for refusal in &mut refusals {
        if refusal.construct == LAUNCH {
            refusal.construct = "a launch in a file with unbalanced brackets, where host code cannot be recognized";
        }
    }
    Cut {
        removed: Vec::new(),
        refusals,
    }
}

fn launches(words: &[Word<'_>], item: &Item<'_>) -> bool {
    let own = words.get(item.words.clone()).unwrap_or_default();
    own.windows(3).any(|three| three.iter().all(|word| word.text == "<"))
}

/// Host API types that the CPU device declares, so that types and variables that use them can stay.
const DECLARED: &[&str] = &["cudaError_t", "cudaStream_t", "cudaEvent_t", "cudaSuccess", "CUresult"];

fn is_host_type(word: &str) -> bool {
    is_of_host(word) && !DECLARED.contains(&word)
}

/// Returns the text with some bytes replaced by spaces. Line breaks and line markers stay.
pub(super) fn without(text: &str, removed: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in removed {
        let mut at = range.start;
        while at < range.end {
            let end = text[at..range.end].find('\n').map_or(range.end, |found| at + found + 1);
            let begins_line = at == 0 || bytes[at - 1] == b'\n';
            if !(begins_line && text[at..end].starts_with("# ")) {
                bytes[at..end]
                    .iter_mut()
                    .filter(|byte| **byte != b'\n')
                    .for_each(|byte| *byte = b' ');
            }
            at = end;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
