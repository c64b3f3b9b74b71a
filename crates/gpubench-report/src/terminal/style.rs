//! Colours.

use anstyle::{AnsiColor, Style};

/// The use of colours. A terminal has colours unless `NO_COLOR` or `TERM=dumb` is set.
/// `CLICOLOR_FORCE` enables them everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Applies the choice to all streams of this process.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The colours of cargo's help, for the help of both programs.
#[cfg(feature = "clap")]
pub const HELP_STYLES: clap::builder::Styles = clap::builder::Styles::styled()
    .header(AnsiColor::BrightGreen.on_default().bold())
    .usage(AnsiColor::BrightGreen.on_default().bold())
    .literal(AnsiColor::BrightCyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default())
    .error(AnsiColor::BrightRed.on_default().bold())
    .valid(AnsiColor::BrightCyan.on_default().bold())
    .invalid(AnsiColor::Yellow.on_default().bold());

/// Whether text has escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Styling {
    /// No escape sequences.
    Plain,
    /// Escape sequences.
    Ansi,
}

impl Styling {
    /// Returns the styling of a stream for this choice.
    pub(super) fn new(color: Color, stream: &impl anstream::stream::RawStream) -> Styling {
        Styling::resolve(color, anstream::AutoStream::choice(stream))
    }

    fn resolve(color: Color, detected: anstream::ColorChoice) -> Styling {
        match color {
            Color::Always => Styling::Ansi,
            Color::Never => Styling::Plain,
            Color::Auto if detected == anstream::ColorChoice::Never => Styling::Plain,
            Color::Auto => Styling::Ansi,
        }
    }

    /// Returns a text in a style, if styles are enabled.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        match self {
            Styling::Ansi if style != PLAIN && !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }
}

/// Normal text.
pub(super) const PLAIN: Style = Style::new();
/// Titles and important text.
pub(super) const TITLE: Style = Style::new().bold();
/// Branches of the tree, units and minor text.
pub(super) const FAINT: Style = Style::new().dimmed();
/// Passed cases.
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
/// Failed cases.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Skipped cases, and unverified times.
pub(super) const DOUBTFUL: Style = AnsiColor::Yellow.on_default();

#[cfg(test)]
mod tests {
    use anstream::ColorChoice;

    use super::*;

    #[test]
    fn colours_follow_the_option_and_then_the_stream() {
        assert_eq!(Styling::resolve(Color::Always, ColorChoice::Never), Styling::Ansi);
        assert_eq!(Styling::resolve(Color::Never, ColorChoice::Always), Styling::Plain);
        assert_eq!(Styling::resolve(Color::Auto, ColorChoice::Always), Styling::Ansi);
        assert_eq!(Styling::resolve(Color::Auto, ColorChoice::Never), Styling::Plain);
    }

    #[test]
    fn plain_text_and_empty_text_carry_no_escapes() {
        assert_eq!(Styling::Plain.paint(BAD, "x"), "x");
        assert_eq!(Styling::Ansi.paint(PLAIN, "x"), "x");
        assert_eq!(Styling::Ansi.paint(BAD, ""), "");
        assert_eq!(Styling::Ansi.paint(GOOD, "x"), "\x1b[32mx\x1b[0m");
    }
}
