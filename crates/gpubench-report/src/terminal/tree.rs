//! Cases as a tree: packages, modules, benchmarks, axis values.

use std::collections::HashMap;

use gpubench_contract::{BenchmarkStarted, Params};
use gpubench_diagnostic::layout::width;
use gpubench_diagnostic::printable_line;

/// All lines of the tree in order. They are known before the first case runs, so the branches are
/// right as results arrive.
#[derive(Debug, Default)]
pub(super) struct Tree {
    lines: Vec<Line>,
    /// The line of each result, by the result's position in the run.
    of_result: HashMap<u64, usize>,
}

/// A line of the tree.
#[derive(Debug)]
pub(super) struct Line {
    /// Branches before the name.
    pub branches: String,
    /// Branches before the second line of an entry.
    pub continued: String,
    /// Name of the package, module or benchmark, or the axis values.
    pub name: String,
    parent: Option<usize>,
    shown: bool,
}

/// The lines to print for a result.
pub(super) struct Revealed<'a> {
    /// Lines above the case.
    pub above: Vec<&'a Line>,
    /// The line of the case.
    pub own: &'a Line,
    /// Whether the line of the case was printed before, for another mode.
    pub is_repeated: bool,
}

/// A node from which the lines are made.
#[derive(Default)]
struct Node {
    name: String,
    results: Vec<u64>,
    children: Vec<Node>,
}

impl Tree {
    /// Returns the tree of these cases, in their order.
    pub(super) fn from_cases(cases: &[BenchmarkStarted]) -> Tree {
        let mut root = Node::default();
        for case in cases {
            root.insert(&path_of(case), case.index);
        }
        let mut tree = Tree::default();
        for package in &root.children {
            tree.add(package, None, "", "");
        }
        tree
    }

    /// Returns all lines.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the lines to print for a result: lines of its package, modules and benchmark that
    /// are not printed yet, then the line of its case. `None` if the result is not in the tree.
    pub(super) fn reveal(&mut self, result: u64) -> Option<Revealed<'_>> {
        let own = *self.of_result.get(&result)?;
        let is_repeated = std::mem::replace(&mut self.lines[own].shown, true);
        let mut above = Vec::new();
        let mut next = self.lines[own].parent;
        while let Some(position) = next {
            let line = &mut self.lines[position];
            if !std::mem::replace(&mut line.shown, true) {
                above.push(position);
            }
            next = line.parent;
        }
        Some(Revealed {
            above: above.into_iter().rev().map(|position| &self.lines[position]).collect(),
            own: &self.lines[own],
            is_repeated,
        })
    }

    /// Adds a node after its branches, and its children after `below`.
    fn add(&mut self, node: &Node, parent: Option<usize>, branches: &str, below: &str) {
        let position = self.lines.len();
        let has_children = !node.children.is_empty();
        self.lines.push(Line {
            branches: branches.to_owned(),
            continued: format!("{below}{}", if has_children { "│  " } else { "" }),
            name: printable_line(&node.name),
            parent,
            shown: false,
        });
        let results = node.results.iter().map(|result| (*result, position));
        self.of_result.extend(results);
        for (index, child) in node.children.iter().enumerate() {
            let added = if index + 1 == node.children.len() {
                LAST
            } else {
                BETWEEN
            };
            let [own, below] = added.map(|added| format!("{below}{added}"));
            self.add(child, Some(position), &own, &below);
        }
    }
}

impl Line {
    /// Returns the width of the name with its branches.
    pub(super) fn width(&self) -> usize {
        width(&self.branches) + width(&self.name)
    }

    /// Returns whether the line is a package.
    pub(super) fn is_package(&self) -> bool {
        self.parent.is_none()
    }
}

impl Node {
    fn insert(&mut self, path: &[String], result: u64) {
        let Some((first, rest)) = path.split_first() else {
            self.results.push(result);
            return;
        };
        let known = self.children.iter().position(|child| child.name == *first);
        let position = known.unwrap_or_else(|| {
            self.children.push(Node {
                name: first.clone(),
                ..Node::default()
            });
            self.children.len() - 1
        });
        self.children[position].insert(rest, result);
    }
}

/// Branches of a node and of its children, for a node in the middle and for the last one.
const BETWEEN: [&str; 2] = ["├─ ", "│  "];
const LAST: [&str; 2] = ["╰─ ", "   "];

/// Returns the package, the modules, the benchmark and, if it has axes, their values.
fn path_of(case: &BenchmarkStarted) -> Vec<String> {
    let mut path = vec![case.package.clone()];
    path.extend(case.benchmark.split("::").map(str::to_owned));
    if !case.params.0.is_empty() {
        path.push(axis_values(&case.params));
    }
    path
}

/// `width=1024 height=4096`.
fn axis_values(params: &Params) -> String {
    let values = params.0.iter().map(|(name, value)| format!("{name}={value}"));
    values.collect::<Vec<_>>().join(" ")
}
