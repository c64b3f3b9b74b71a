//! Problems for people.

use gpubench::catalog::{Axis, DeviceKind, Role, Score, StatedProblem, Tolerance};

use super::described::{Comparand, Described, DescribedTensor, Shape};
use super::listed::{Listed, Problems};
use crate::broker::cases::value_text;
use gpubench_contract::units::{size, time};
use gpubench_diagnostic::layout::{width, wrapped};
use gpubench_diagnostic::{printable, printable_line};
use gpubench_measure::verdict::tolerance_in_words;

/// Returns a line for each problem: its name and the beginning of its statement.
pub(super) fn list(problems: &Problems<'_>) -> String {
    let names: Vec<String> = problems.all.iter().map(Listed::name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let lines = names.iter().zip(&problems.all).map(|(name, listed)| {
        let line = format!("{name:width$}  {}", printable_line(&listed.summary()));
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// Returns what a contestant needs to know, for a terminal of a width.
pub(super) fn show(described: &Described<'_>, columns: usize) -> String {
    let (listed, problem) = (described.listed, described.listed.problem);
    let outline = &problem.outline;
    let mut text = format!("{}\n{}:{}\n\n", listed.name(), outline.file, outline.line);
    if !problem.statement.is_empty() {
        text += &(refilled(&printable(&problem.statement), columns) + "\n\n");
    }
    text += &section("tensors", tensor_rows(described));
    text += &section(
        "scalars",
        described.axes().map(|(name, ty)| [name.to_owned(), ty.to_owned()]),
    );
    text += &section("axes", axis_rows(problem));
    let [public, hidden] = [described.public, described.hidden].map(number_of_cases);
    text += &section("cases", [[public, "public".to_owned()], [hidden, "hidden".to_owned()]]);
    text += &section(
        "work",
        problem.work.iter().map(|(name, amount)| [name.clone(), amount.clone()]),
    );
    let (score, limits) = (score_in_words(problem.score), limits_in_words(problem));
    printable(&format!("{text}score: {score}\nlimits: {limits}\n"))
}

/// Fills the lines of paragraphs anew if one is too long. Lists, tables, headings and code keep
/// their lines.
fn refilled(markdown: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut paragraph, mut is_code): (Vec<&str>, bool) = (Vec::new(), false);
    let is_prose = |line: &str| {
        let begins_a_list = || {
            line.split_once(". ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        };
        let is_laid_out = line.starts_with([' ', '-', '*', '+', '|', '#', '>', '$', '<']) || line.starts_with("```");
        !line.is_empty() && !is_laid_out && !begins_a_list()
    };
    let fill =
        |paragraph: &mut Vec<&str>, lines: &mut Vec<String>| match paragraph.iter().any(|line| width(line) > columns) {
            true => lines.extend(wrapped(&std::mem::take(paragraph).join(" "), columns)),
            false => lines.extend(std::mem::take(paragraph).into_iter().map(str::to_owned)),
        };
    for line in markdown.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code && is_prose(line) {
            paragraph.push(line);
        } else {
            fill(&mut paragraph, &mut lines);
            lines.push(line.to_owned());
        }
    }
    fill(&mut paragraph, &mut lines);
    lines.join("\n")
}

/// Returns a title with rows of two columns below it. Empty without rows.
fn section(title: &str, rows: impl IntoIterator<Item = [String; 2]>) -> String {
    let rows: Vec<[String; 2]> = rows.into_iter().collect();
    let width = rows.iter().map(|[name, _]| name.chars().count()).max().unwrap_or(0);
    let lines = rows.iter().map(|[name, rest]| format!("  {name:width$}  {rest}\n"));
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{title}:\n{lines}\n"),
    }
}

fn tensor_rows(described: &Described<'_>) -> Vec<[String; 2]> {
    let tensors = match &described.tensors {
        Ok(tensors) => tensors,
        Err(unrecorded) => {
            let reason = printable_line(&unrecorded.to_string());
            return vec![[
                "?".to_owned(),
                format!("the first case could not be recorded: {reason}"),
            ]];
        }
    };
    let rows = tensors
        .iter()
        .map(|tensor| [tensor.name.clone(), tensor_in_words(tensor)]);
    let mut rows: Vec<_> = rows.collect();
    if tensors
        .iter()
        .any(|tensor| matches!(tensor.shape, Shape::InFirstCase(_)))
    {
        let case = described.first.iter().flatten();
        let case: Vec<_> = case
            .map(|(name, value)| format!("{name}={}", value_text(value)))
            .collect();
        rows.push([
            String::new(),
            format!("shapes without names of axes are those of {}", case_name(&case)),
        ]);
    }
    rows
}

fn case_name(axes: &[String]) -> String {
    match axes.is_empty() {
        true => "its only case".to_owned(),
        false => format!("the case {}", axes.join(",")),
    }
}

fn tensor_in_words(tensor: &DescribedTensor) -> String {
    let DescribedTensor { type_name, shape, .. } = tensor;
    let role = role_in_words(tensor.role);
    match tensor.role.is_output() {
        true => format!("{type_name} {shape}, {role}; {}", rule_in_words(tensor)),
        false => format!("{type_name} {shape}, {role}"),
    }
}

pub(super) fn role_in_words(role: Role) -> &'static str {
    match role {
        Role::Input => "read: new contents for every call",
        Role::Constant => "read: the same contents for every call",
        Role::Output => "written: it holds noise before a call",
        Role::InOut => "read and written: new contents for every call",
        Role::Scratch => "scratch memory: noise, never checked",
    }
}

/// Returns how an output is compared.
pub(super) fn rule_in_words(output: &DescribedTensor) -> String {
    let rule = match (output.tolerance, tolerance_in_words(output.tolerance)) {
        (Tolerance::ByCheck, _) => return "a check of the problem judges it".to_owned(),
        (_, None) => "equal to what is expected".to_owned(),
        (Tolerance::Default { .. }, Some(bounds)) => {
            format!(
                "within atol + rtol * |expected|, {bounds} in the first case (from its type and the terms of its sums)"
            )
        }
        (_, Some(bounds)) => format!("within atol + rtol * |expected|, {bounds}"),
    };
    match output.compared_with {
        Comparand::Reference => rule,
        Comparand::ReferenceAndCheck => format!("{rule}, or as a check of the problem accepts it"),
    }
}

fn axis_rows(problem: &StatedProblem) -> Vec<[String; 2]> {
    let row = |axis: &Axis, of: &str| [axis.title(), values(axis) + of];
    let everywhere = problem.outline.axes.iter().map(|axis| row(axis, ""));
    let of_devices = problem.outline.device_axes.iter().flat_map(|(device, axes)| {
        let of = match device {
            DeviceKind::Cpu => " on the CPU device",
            DeviceKind::Cuda => " on GPUs",
        };
        axes.iter().map(move |axis| row(axis, of))
    });
    everywhere.chain(of_devices).collect()
}

/// Returns the values of an axis, with commas between them.
fn values(axis: &Axis) -> String {
    let value = |values: &Vec<_>| {
        let texts: Vec<_> = values.iter().map(value_text).collect();
        match &texts[..] {
            [text] => text.clone(),
            texts => format!("({})", texts.join(", ")),
        }
    };
    axis.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// Returns the number of cases on GPUs, and that on the CPU device if it differs.
fn number_of_cases([on_gpus, on_cpu]: [usize; 2]) -> String {
    match on_gpus == on_cpu {
        true => on_gpus.to_string(),
        false => format!("{on_gpus} ({on_cpu} on the CPU device)"),
    }
}

fn score_in_words(score: Score) -> &'static str {
    match score {
        Score::GeometricMean => "geometric mean over the cases",
        Score::ArithmeticMean => "arithmetic mean over the cases",
        Score::Last => "the last public case alone",
    }
}

fn limits_in_words(problem: &StatedProblem) -> String {
    let limits = problem.limits;
    let call = limits
        .call_ns
        .map(|nanoseconds| format!("{} for a call", time(nanoseconds as f64)));
    let source = limits.source_bytes.map(|bytes| format!("{} of source", size(bytes)));
    let listed: Vec<String> = call.into_iter().chain(source).collect();
    match listed.is_empty() {
        true => "none".to_owned(),
        false => listed.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{DType, Role, Tolerance};

    use super::{Comparand, DescribedTensor, Shape, refilled, rule_in_words};

    #[test]
    fn the_rule_of_an_output_names_the_check_that_judges_it() {
        let rule = |tolerance, compared_with| {
            rule_in_words(&DescribedTensor {
                name: "indices".to_owned(),
                type_name: "u32".to_owned(),
                dtype: DType::U32,
                role: Role::Output,
                tolerance,
                compared_with,
                shape: Shape::InFirstCase(vec![4]),
            })
        };
        let checked = Comparand::ReferenceAndCheck;
        assert_eq!(
            rule(Tolerance::Exact, Comparand::Reference),
            "equal to what is expected"
        );
        assert_eq!(
            rule(Tolerance::Exact, checked),
            "equal to what is expected, or as a check of the problem accepts it"
        );
        assert_eq!(rule(Tolerance::ByCheck, checked), "a check of the problem judges it");
    }

    #[test]
    fn paragraphs_fit_a_narrow_terminal_and_nothing_else_changes() {
        let statement = "Sums the rows of\na matrix.\n\n- each row\n  `sums[r]`\n\n`y` is long enough to wrap";
        let narrow = "Sums the rows\nof a matrix.\n\n- each row\n  `sums[r]`\n\n`y` is long\nenough to wrap";
        assert_eq!(refilled(statement, 14), narrow);
        assert_eq!(refilled(statement, usize::MAX), statement);
        let code = "```\nlet a = 1; // a long line\n```";
        assert_eq!(refilled(code, 10), code);
    }
}
