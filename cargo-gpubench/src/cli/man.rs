//! `cargo gpubench man`: the manual.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write};

use camino::Utf8PathBuf;
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;

use crate::error::ExpectedError;

/// What `cargo gpubench man` is asked for.
#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// Write a page for the command and one for each of its subcommands to this folder
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, help_heading = "Output options")]
    output_dir: Option<Utf8PathBuf>,
}

/// Manual pages.
#[derive(Debug)]
pub enum Manual {
    /// The page of the command, for standard output.
    Page(String),
    /// All pages by the names of their files, for a folder.
    Pages {
        /// The folder.
        folder: Utf8PathBuf,
        /// The pages.
        pages: Vec<(String, String)>,
    },
}

impl ManArguments {
    /// The pages for `gpubench`, the verb with all its options.
    pub(super) fn into_manual(self, gpubench: &Command) -> Manual {
        let command = gpubench.clone().name("cargo-gpubench").bin_name("cargo gpubench");
        let Some(folder) = self.output_dir else {
            return Manual::Page(page(command));
        };
        let below = gpubench
            .get_subcommands()
            .filter(|subcommand| !subcommand.is_hide_set());
        let mut pages: Vec<_> = below
            .map(|subcommand| {
                let (name, verb) = (
                    format!("cargo-gpubench-{}", subcommand.get_name()),
                    subcommand.get_name(),
                );
                let bin = format!("cargo gpubench {verb}");
                (format!("{name}.1"), page(subcommand.clone().name(name).bin_name(bin)))
            })
            .collect();
        pages.insert(0, ("cargo-gpubench.1".to_owned(), page(command)));
        Manual::Pages { folder, pages }
    }
}

impl Manual {
    /// Prints it to `out`, or writes its files.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub fn publish(&self, out: &mut dyn Write) -> Result<(), ExpectedError> {
        match self {
            Manual::Page(page) => {
                let printed = out.write_all(page.as_bytes()).and_then(|()| out.flush());
                printed.map_err(|source| unwritten("the manual".to_owned(), source))
            }
            Manual::Pages { folder, pages } => {
                fs::create_dir_all(folder).map_err(|source| unwritten(format!("`{folder}`"), source))?;
                pages.iter().try_for_each(|(name, page)| {
                    let file = folder.join(name);
                    fs::write(&file, page).map_err(|source| unwritten(format!("`{file}`"), source))
                })
            }
        }
    }
}

fn unwritten(what: String, source: io::Error) -> ExpectedError {
    ExpectedError::Output { what, source }
}

fn page(command: Command) -> String {
    let mut roff = Vec::new();
    // A vector takes everything.
    let _ = Man::new(command.disable_help_subcommand(true)).render(&mut roff);
    String::from_utf8_lossy(&roff).into_owned()
}
