use super::*;
use crate::cli::description::{described, described_verb};
use crate::cli::examples::tests::words;
use crate::cli::{Environment, Unresolved, resolve};

fn app(width: usize) -> Command {
    let mut app = described().term_width(width);
    app.build();
    app
}

/// Returns the help of a command. The name of `cargo gpubench` itself is empty.
fn page(command: &str, option: &str, width: usize) -> String {
    let words = ["cargo-gpubench", GPUBENCH, command, option];
    let words = words.iter().filter(|word| !word.is_empty()).map(OsString::from);
    shown(app(width), &words.collect::<Vec<_>>()).to_string()
}

fn topic_page(topic: &Topic, width: usize) -> String {
    of_topic(app(width), Some(&topic.name.to_owned())).to_string()
}

fn commands() -> Vec<String> {
    let gpubench = described_verb();
    let names = gpubench.get_subcommands().map(|command| command.get_name().to_owned());
    std::iter::once(String::new()).chain(names).collect()
}

fn every_long_page(width: usize) -> Vec<String> {
    let topics = TOPICS.iter().map(|topic| topic_page(topic, width));
    let commands = commands().into_iter().map(|command| page(&command, "--help", width));
    commands.chain(topics).collect()
}

/// Returns the help or error of a command line. Reading a configuration panics.
fn refusal(words: &[&str]) -> String {
    let words: Vec<_> = ["cargo-gpubench"].iter().chain(words).map(OsString::from).collect();
    let without_workspace = |_: crate::cli::ConfigurationOf<'_>| panic!("help reads no configuration");
    match resolve(&words, &Environment::default(), &without_workspace) {
        Err(Unresolved::CommandLine(error)) => error.to_string(),
        other => panic!("no help: {other:?}"),
    }
}

#[test]
fn short_help_of_every_command_fits_24_lines_of_80_columns() {
    for command in commands() {
        let text = page(&command, "-h", 80);
        assert!(text.lines().count() <= 24, "{command}: {text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{command}: {text}");
    }
}

#[test]
fn long_help_fits_80_columns() {
    for text in every_long_page(80) {
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn every_option_is_in_exactly_one_group() {
    let long = page("", "--help", 80);
    let topics: Vec<_> = TOPICS.iter().map(|topic| topic_page(topic, 80)).collect();
    let gpubench = described_verb();
    for option in gpubench.get_arguments().filter(|option| !option.is_hide_set()) {
        let name = match option.get_long() {
            Some(name) => format!("--{name}"),
            None => format!("\\[{}\\]", option.get_id().as_str().to_uppercase()),
        };
        let line =
            regex::Regex::new(&format!(r"(?m)^  (   )? ?(-\w, )?{name}( |\[=|\.\.\.|$)")).expect("an expression");
        assert_eq!(line.find_iter(&long).count(), 1, "{name}: {long}");
        let topics = topics.iter().filter(|text| line.is_match(text));
        assert_eq!(topics.count(), 1, "{name}");
    }
}

#[test]
fn every_example_parses() {
    let mut count = 0;
    for text in every_long_page(400) {
        for line in text.lines() {
            let line = line.trim_start().trim_start_matches("Example: ");
            if !line.starts_with("cargo gpubench ") || line.contains('<') || line.contains("[OPTIONS]") {
                continue;
            }
            let mut line = words(line.split("   ").next().unwrap_or(line));
            line[0] = "cargo-gpubench".to_owned();
            if let Err(error) = described().try_get_matches_from(&line) {
                panic!("{line:?}: {error}");
            }
            count += 1;
        }
    }
    assert!(count > TOPICS.len(), "{count}");
}

#[test]
fn help_pages() {
    insta::assert_snapshot!("short_help", page("", "-h", 80));
    insta::assert_snapshot!("long_help", page("", "--help", 80));
    insta::assert_snapshot!("short_help_of_compare", page("compare", "-h", 80));
    insta::assert_snapshot!("help_of_a_topic", topic_page(&TOPICS[2], 80));
}

#[test]
fn help_names_a_topic_or_a_command() {
    assert!(refusal(&["help", "comparing"]).starts_with("Compare:\n"));
    assert_eq!(refusal(&["help", "compare"]), refusal(&["compare", "--help"]));
    assert_eq!(refusal(&["gpubench", "help"]), refusal(&["--help"]));
}

#[test]
fn an_unknown_topic_lists_the_topics() {
    let error = refusal(&["help", "comparng"]);
    for topic in &TOPICS {
        assert!(error.contains(topic.name), "{error}");
    }
    assert!(error.contains("a similar value exists: 'comparing'"), "{error}");
}
