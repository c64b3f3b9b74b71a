//! `cargo gpubench man`: the manual.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write};

use camino::Utf8PathBuf;
use clap::{Command, ValueHint};
use clap_mangen::Man;

use crate::config::settings;
use crate::error::ExpectedError;

settings! {
    /// What `cargo gpubench man` is asked for.
    pub(super) struct ManArguments {
        /// Write a page for the command and one for each of its subcommands to this folder
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, help_heading = "Output options")]
        output_dir: Option<Utf8PathBuf> => Line "--output-dir ~/.local/share/man/man1";
    }
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

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use super::*;
    use crate::cli::app::described_verb;

    fn manual(output_dir: Option<Utf8PathBuf>) -> Manual {
        ManArguments { output_dir }.into_manual(&described_verb())
    }

    #[test]
    fn the_manual_has_a_page_for_the_command_and_each_subcommand_that_groff_accepts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("man1")).expect("UTF-8");
        manual(Some(path.clone())).publish(&mut io::sink()).expect("written");
        let mut names = Vec::new();
        for entry in path.read_dir_utf8().expect("a folder") {
            let entry = entry.expect("an entry");
            names.push(entry.file_name().to_owned());
            let groff = Process::new("groff")
                .args(["-Kutf8", "-man", "-Tutf8", "-ww", "-z", entry.path().as_str()])
                .output()
                .expect("groff starts");
            let complaints = String::from_utf8_lossy(&groff.stderr).into_owned();
            assert!(
                groff.status.success() && complaints.is_empty(),
                "{}: {complaints}",
                entry.path()
            );
        }
        assert!(names.contains(&"cargo-gpubench.1".to_owned()), "{names:?}");
        assert!(names.contains(&"cargo-gpubench-archive.1".to_owned()), "{names:?}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = manual(Some("/dev/null/man1".into()))
            .publish(&mut io::sink())
            .expect_err("no folder");
        assert_eq!(error.to_string(), "could not write `/dev/null/man1`");
    }

    #[test]
    fn the_page_of_the_command_goes_to_standard_output() {
        let mut page = Vec::new();
        manual(None).publish(&mut page).expect("printed");
        let page = String::from_utf8(page).expect("UTF-8");
        assert!(
            page.contains(".TH cargo-gpubench 1") && page.contains("\\-\\-max\\-time"),
            "{page:.400}"
        );
    }
}
