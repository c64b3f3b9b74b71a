//! Blocks of a console: commands, and what they print.

/// A command and the lines under it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) printed: String,
}

/// The steps of a block. A command goes on to the next line where a quotation or a backslash at the
/// end of its line asks for it.
///
/// # Panics
/// When the block does not begin with a command.
pub(crate) fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        if let Some(last) = steps.last_mut().filter(|step| is_open(&step.command)) {
            last.command = format!("{}\n{line}", last.command);
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                command: command.to_owned(),
                printed: String::new(),
            });
        } else {
            let last = steps.last_mut().expect("a command comes first");
            last.printed += &format!("{line}\n");
        }
    }
    steps
}

/// The words of the simple commands of a line for a shell, without comments and redirections.
pub(crate) fn commands(line: &str) -> Vec<Vec<String>> {
    lexed(line).0
}

fn is_open(command: &str) -> bool {
    lexed(command).1
}

/// The words of each simple command, and whether the line goes on.
fn lexed(line: &str) -> (Vec<Vec<String>>, bool) {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars().peekable();
    let mut goes_on = false;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => match letters.next() {
                Some('\n') => {}
                Some(letter) => word.get_or_insert_default().push(letter),
                None => goes_on = true,
            },
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\n') => commands.last_mut().expect("one").extend(word.take()),
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')') => {
                commands.last_mut().expect("one").extend(word.take());
                if letter == '<' || letter == '>' {
                    // The file's name is a command of its own here, which nobody looks at.
                    if commands.last().expect("one").last().is_some_and(|word| word == "2") {
                        commands.last_mut().expect("one").pop();
                    }
                }
                commands.push(Vec::new());
            }
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    commands.last_mut().expect("one").extend(word);
    commands.retain(|words| !words.is_empty());
    (commands, goes_on || quote.is_some())
}

#[test]
fn a_block_is_taken_apart_into_commands_and_what_they_print() {
    let block = "$ git add -A && git commit -m 'row sums'   # first\n$ a 'b\nc' | d\nout\n";
    let steps = steps(block);
    assert_eq!(steps.len(), 2);
    assert_eq!(
        commands(&steps[0].command),
        [vec!["git", "add", "-A"], vec!["git", "commit", "-m", "row sums"]]
    );
    assert_eq!(commands(&steps[1].command), [vec!["a", "b\nc"], vec!["d"]]);
    assert_eq!(steps[1].printed, "out\n");
    assert_eq!(commands("a 2>/dev/null")[0], ["a"]);
}
