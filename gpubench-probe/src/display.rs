//! What a person sees while the observation lasts.

use super::options::Liveliness;
use super::output_lines::OutputLines;
use super::pseudo_terminal::PseudoTerminal;
use super::screen::{Block, Stream};
use gpubench_contract::{ProbeSample, ProbeStarted};
use gpubench_report::{ScreenSize, probe_line, probe_screen};

/// Output of the command that is shown before the next look at events, in bytes. A command that
/// prints faster waits, and nothing piles up here.
const AT_ONCE: usize = 64 * 1024;
/// Output that is shown at the end: more than a terminal keeps. Processes of the command may go on
/// and never stop printing.
const AT_THE_END: usize = 1024 * 1024;

/// What a person sees.
#[derive(Debug)]
pub(super) enum Display {
    /// A screen, with the output of the command above it.
    Screen(Box<Screen>),
    /// A line for each interval.
    Lines(Stream),
    /// Nothing.
    Nothing,
}

/// A screen at the bottom of a terminal.
#[derive(Debug)]
pub(super) struct Screen {
    stream: Stream,
    block: Block,
    terminal: Option<PseudoTerminal>,
    output: OutputLines,
    latest: Option<ProbeSample>,
}

impl Display {
    /// Returns the display for a stream. `terminal` is that of the command.
    pub(super) fn on(stream: Stream, liveliness: Liveliness, terminal: Option<PseudoTerminal>) -> Self {
        match liveliness {
            Liveliness::Quiet => Display::Nothing,
            Liveliness::Live if stream.terminal().is_some() => Display::Screen(Box::new(Screen {
                stream,
                block: Block::on(stream),
                terminal,
                output: OutputLines::default(),
                latest: None,
            })),
            Liveliness::Live | Liveliness::Lines => Display::Lines(stream),
        }
    }

    /// Returns the terminal whose output is shown, to wait for it.
    pub(super) fn terminal(&self) -> Option<&PseudoTerminal> {
        match self {
            Display::Screen(screen) => screen.terminal.as_ref(),
            Display::Lines(_) | Display::Nothing => None,
        }
    }

    /// Shows a sample.
    pub(super) fn show(&mut self, started: &ProbeStarted, sample: &ProbeSample) {
        match self {
            Display::Screen(screen) => {
                screen.latest = Some(sample.clone());
                screen.draw(started);
            }
            Display::Lines(stream) => stream.write(&probe_line(sample)),
            Display::Nothing => {}
        }
    }

    /// Shows the output that the command wrote meanwhile.
    pub(super) fn pump(&mut self, started: &ProbeStarted) {
        if let Display::Screen(screen) = self {
            screen.pump(started, AT_ONCE);
        }
    }

    /// Removes the screen. The output of the command stays.
    pub(super) fn end(&mut self, started: &ProbeStarted) {
        if let Display::Screen(screen) = self {
            screen.pump(started, AT_THE_END);
            screen.block.clear();
            let rest: Vec<String> = screen.output.begun().into_iter().collect();
            screen.block.print_above(&rest);
        }
    }
}

impl Screen {
    fn draw(&mut self, started: &ProbeStarted) {
        let (Some(sample), Some(size)) = (&self.latest, self.stream.terminal()) else {
            return;
        };
        if let Some(terminal) = &self.terminal {
            terminal.resize();
        }
        let begun = self.output.begun();
        // The last line of a terminal stays empty: the cursor is there.
        let taken = 1 + usize::from(begun.is_some());
        let size = ScreenSize {
            rows: size.rows.saturating_sub(taken),
            ..size
        };
        let begun = begun.map(|line| gpubench_diagnostic::layout::in_one_line(&line, size.columns));
        let lines = begun.into_iter().chain(probe_screen(started, sample, size));
        self.block.draw(lines.collect());
    }

    /// Shows output, at most `most` bytes.
    fn pump(&mut self, started: &ProbeStarted, most: usize) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let written = terminal.read(most);
        if !written.is_empty() {
            let lines = self.output.add(&written);
            self.block.print_above(&lines);
            self.draw(started);
        }
    }
}
