//! One error in a log.

use gpubench_contract::{Cause, SanitizerFinding};

use super::place::{Place, coordinates};

/// Longest text of a finding, in characters. Names of template instantiations can be very long.
const LONGEST: usize = 400;

/// The lines of one error.
#[derive(Debug)]
pub(super) struct LogRecord<'a> {
    /// The first line.
    pub(super) head: &'a str,
    /// The indented lines after it.
    pub(super) details: Vec<&'a str>,
}

impl LogRecord<'_> {
    /// Returns the finding, or nothing if the lines do not describe an error in a kernel.
    pub(super) fn finding(&self) -> Option<SanitizerFinding> {
        let cause = self.cause()?;
        let place = self.place();
        let by = || self.details.iter().chain([&self.head]);
        Some(SanitizerFinding {
            cause,
            message: short(&self.message()),
            kernel: self.kernel(&place).map(|kernel| short(&kernel)),
            block: by().find_map(|line| coordinates(line, "block ")),
            thread: by().find_map(|line| coordinates(line, "thread ").or_else(|| coordinates(line, "Thread "))),
            file: place.file.map(|file| short(&file)),
            line: place.line,
            count: 1,
        })
    }

    fn cause(&self) -> Option<Cause> {
        let head = self.head;
        let has = |text: &str| self.details.iter().any(|line| line.contains(text));
        Some(match head {
            _ if head.contains("Race reported between") || head.contains(" hazard detected at ") => Cause::DataRace,
            _ if head.starts_with("Invalid __") && has("is misaligned") => Cause::MisalignedAccess,
            _ if head.starts_with("Invalid __") || head.starts_with("Potential invalid __") => Cause::OutOfBounds,
            _ if head.starts_with("Uninitialized __") => Cause::UninitializedRead,
            _ if head.starts_with("Barrier error detected") && head.contains("Divergent") => Cause::BarrierDivergence,
            // Other errors have a place, too. Remarks have none.
            _ if self.details.iter().any(|line| line.starts_with("at ")) => Cause::SanitizerFinding,
            _ => return None,
        })
    }

    /// Returns where the error happened. In an inlined function without line information, that of
    /// its caller.
    fn place(&self) -> Place {
        let mut places = self.places();
        let first = places.next().unwrap_or_default();
        match first.line {
            Some(_) => first,
            None => places.find(|place| place.line.is_some()).unwrap_or(first),
        }
    }

    /// Returns the kernel: the outermost function.
    fn kernel(&self, place: &Place) -> Option<String> {
        let outermost = self.frames().last().and_then(|frame| frame.function);
        outermost.or_else(|| {
            self.places()
                .find_map(|place| place.function)
                .or(place.function.clone())
        })
    }

    /// Returns the places in the order of the log, innermost first.
    fn places(&self) -> impl Iterator<Item = Place> {
        let direct = self.details.iter().filter_map(|line| line.strip_prefix("at "));
        let lines = std::iter::once(&self.head).chain(&self.details);
        let of_access = lines.filter_map(|line| access(line));
        direct.chain(of_access).map(Place::parse).chain(self.frames())
    }

    /// Returns the callers of the function with the error.
    fn frames(&self) -> impl Iterator<Item = Place> {
        let frames = self
            .details
            .iter()
            .filter_map(|line| line.strip_prefix("Device Frame:"));
        frames.map(|frame| Place::parse(frame.split(" [0x").next().unwrap_or(frame)))
    }

    /// Returns the first line with the lines that describe the memory or the accesses.
    fn message(&self) -> String {
        let head = self.head.trim_end_matches([' ', ':', '.']);
        let described = ["Address ", "and ", "Write Thread", "Read Thread", "Atomic Thread"];
        let described = |line: &&&str| described.iter().any(|begins| line.starts_with(begins));
        let details = self.details.iter().filter(described).copied();
        let all: Vec<&str> = std::iter::once(head).chain(details).collect();
        all.join("; ").replace("; and ", " and ")
    }
}

/// Returns the place in the description of an access: `Write Thread (0,0,0) at PLACE`, or `and Read
/// access at PLACE [4 hazards]`.
fn access(line: &str) -> Option<&str> {
    let (_, place) = line
        .split_once(" access at ")
        .or_else(|| line.split_once(" Thread ")?.1.split_once(" at "))?;
    Some(place.split(" [").next().unwrap_or(place))
}

/// Cuts a text to [`LONGEST`] characters.
fn short(text: &str) -> String {
    let printable: String = text.chars().filter(|character| !character.is_control()).collect();
    if printable.chars().count() > LONGEST {
        printable.chars().take(LONGEST - 1).chain(['…']).collect()
    } else {
        printable
    }
}
