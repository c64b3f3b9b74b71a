//! The command and its verbs.
#![forbid(unsafe_code)]

use clap::{
    Parser, Subcommand,
    builder::styling::{AnsiColor, Styles},
};

use super::GpubenchArguments;

/// As cargo colours its own help.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::BrightGreen.on_default().bold())
    .usage(AnsiColor::BrightGreen.on_default().bold())
    .literal(AnsiColor::BrightCyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::BrightRed.on_default().bold())
    .valid(AnsiColor::BrightCyan.on_default().bold())
    .invalid(AnsiColor::Yellow.on_default().bold());

/// What the executable `cargo-gpubench` is started with.
///
/// Cargo starts it as `cargo-gpubench gpubench …`, so its help is that of `cargo`.
#[derive(Debug, Parser)]
#[command(name = "cargo-gpubench", bin_name = "cargo", styles = STYLES, max_term_width = 100)]
#[command(
    about = "Benchmarks of GPU kernels, every output checked",
    disable_help_subcommand = true
)]
pub struct App {
    /// The role this process has.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The role this process has.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Benchmark GPU kernels: every call with fresh inputs, every output checked
    ///
    /// Builds the library of every selected package, finds its `#[gpubench]` functions and measures each of their cases in a fresh
    /// process. Cargo's options mean what they mean to `cargo bench`. Measurement and output options can also be given by environment
    /// variables, which the command line overrides.
    Gpubench(Box<GpubenchArguments>),
    /// Runs a crate's host code; the socket to the broker is standard input
    #[command(name = "__author", hide = true)]
    Author,
    /// Generates inputs and checks outputs; the socket to the broker is standard input
    #[command(name = "__referee", hide = true)]
    Referee,
    /// Runs one case; the socket to the broker is standard input
    #[command(name = "__worker", hide = true)]
    Worker,
    /// Compiles one source with NVRTC; the request is on standard input, the answer on standard output
    #[command(name = "__nvrtc", hide = true)]
    Nvrtc,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// The help of `cargo gpubench`, at a fixed width and without the values of this process's environment.
    fn help(render: impl Fn(&mut clap::Command) -> String) -> String {
        let mut app = App::command().term_width(100);
        app.build();
        let gpubench = app.find_subcommand_mut("gpubench").expect("the verb");
        render(gpubench)
    }

    #[test]
    fn verify_app() {
        App::command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen_in_groups() {
        insta::assert_snapshot!(help(|command| command.render_help().to_string()));
    }

    #[test]
    fn long_help_explains_every_option() {
        insta::assert_snapshot!(help(|command| command.render_long_help().to_string()));
    }

    #[test]
    fn every_option_has_a_help_text_and_a_heading() {
        let app = App::command();
        let gpubench = app.find_subcommand("gpubench").expect("the verb");
        for argument in gpubench.get_arguments().filter(|argument| !argument.is_positional()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.is_empty(), "`{}` has no help", argument.get_id());
            assert!(
                argument.get_help_heading().is_some(),
                "`{}` has no heading",
                argument.get_id()
            );
        }
    }

    #[test]
    fn measurement_and_output_options_have_environment_variables_named_after_them() {
        let app = App::command();
        let gpubench = app.find_subcommand("gpubench").expect("the verb");
        let grouped = gpubench.get_arguments().filter(|argument| {
            matches!(
                argument.get_help_heading(),
                Some("Measurement options" | "Output options")
            )
        });
        for argument in grouped.filter(|argument| !matches!(argument.get_id().as_str(), "quiet" | "verbose")) {
            let long = argument.get_long().expect("a long option");
            let expected = format!("GPUBENCH_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(&*expected));
        }
    }
}
