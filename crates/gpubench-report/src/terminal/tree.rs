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
    of_case: HashMap<u64, usize>,
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

/// A node from which the lines are made.
#[derive(Default)]
struct Node {
    name: String,
    case: Option<u64>,
    children: Vec<Node>,
}

impl Tree {
    /// Returns the tree of these cases, in their order.
    pub(super) fn of(cases: &[BenchmarkStarted]) -> Tree {
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

    /// Returns the lines to print for a case: lines of its package, modules and benchmark that are
    /// not printed yet, then the case's line. Empty if the case is not in the tree.
    pub(super) fn reveal(&mut self, case: u64) -> Vec<&Line> {
        let mut chain = Vec::new();
        let mut next = self.of_case.get(&case).copied();
        while let Some(position) = next {
            let line = &mut self.lines[position];
            let is_own = chain.is_empty();
            if is_own || !line.shown {
                chain.push(position);
            }
            line.shown = true;
            next = line.parent;
        }
        chain.reverse();
        chain.into_iter().map(|position| &self.lines[position]).collect()
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
        if let Some(case) = node.case {
            self.of_case.insert(case, position);
        }
        for (index, child) in node.children.iter().enumerate() {
            let added = match index + 1 == node.children.len() {
                true => LAST,
                false => BETWEEN,
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
    fn insert(&mut self, path: &[String], case: u64) {
        let Some((first, rest)) = path.split_first() else {
            self.case = Some(case);
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
        self.children[position].insert(rest, case);
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
    if let Some(last) = path.last_mut() {
        *last = case.reading().label(last);
    }
    path
}

/// `width=1024 height=4096`.
fn axis_values(params: &Params) -> String {
    let values = params.0.iter().map(|(name, value)| format!("{name}={value}"));
    values.collect::<Vec<_>>().join(" ")
}
