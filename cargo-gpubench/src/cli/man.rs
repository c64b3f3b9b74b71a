//! `cargo gpubench man`: the manual.

use camino::Utf8PathBuf;
use clap::{Command, ValueHint};
use clap_mangen::Man;

use crate::config::settings;
use gpubench_report::{Output, OutputError, OutputTarget};

settings! {
    /// The options of `cargo gpubench man`.
    pub(super) struct ManArguments {
        /// Write the pages of all commands to this folder
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, help_heading = "Output")]
        output_dir: Option<Utf8PathBuf> => Line "--output-dir ~/.local/share/man/man1", common;
    }
}

/// The manual.
#[derive(Debug)]
pub enum Manual {
    /// The page of `cargo gpubench`, for standard output.
    Page(String),
    /// All pages by file name, for a folder.
    Pages {
        /// The folder.
        folder: Utf8PathBuf,
        /// File names and pages.
        pages: Vec<(String, String)>,
    },
}

impl ManArguments {
    /// Returns the page of `cargo gpubench`, or all pages if a folder is given.
    pub(super) fn into_manual(self, gpubench: &Command) -> Manual {
        let command = gpubench.clone().name("cargo-gpubench").bin_name("cargo gpubench");
        let Some(folder) = self.output_dir else {
            return Manual::Page(page(command));
        };
        let mut pages = vec![("cargo-gpubench.1".to_owned(), page(command))];
        pages.extend(gpubench.get_subcommands().map(|subcommand| {
            let name = format!("cargo-gpubench-{}", subcommand.get_name());
            let bin = format!("cargo gpubench {}", subcommand.get_name());
            (format!("{name}.1"), page(subcommand.clone().name(name).bin_name(bin)))
        }));
        Manual::Pages { folder, pages }
    }
}

impl Manual {
    /// Writes the page to standard output, or the files.
    ///
    /// # Errors
    /// Standard output or a file cannot be written.
    pub fn publish(&self) -> Result<(), OutputError> {
        match self {
            Manual::Page(page) => Output::stdout().print(page),
            Manual::Pages { folder, pages } => pages
                .iter()
                .try_for_each(|(name, page)| OutputTarget::File(folder.join(name)).write(page)),
        }
    }
}

fn page(command: Command) -> String {
    let mut roff = Vec::new();
    // Writing to a vector does not fail.
    let _ = Man::new(command.disable_help_subcommand(true)).render(&mut roff);
    String::from_utf8_lossy(&roff).into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use super::*;
    use crate::cli::description::described_verb;

    fn manual(output_dir: Option<Utf8PathBuf>) -> Manual {
        ManArguments { output_dir }.into_manual(&described_verb())
    }

    fn pages_in(folder: Utf8PathBuf) -> Manual {
        manual(Some(folder))
    }

    #[test]
    fn groff_accepts_the_manual_pages_of_all_commands() {
        gpubench_diagnostic::testing::need("groff");
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("man1")).expect("UTF-8");
        pages_in(path.clone()).publish().expect("written");
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
    fn the_error_names_a_folder_that_cannot_be_created() {
        let error = pages_in("/dev/null/man1".into()).publish().expect_err("no folder");
        assert_eq!(error.to_string(), "could not write `/dev/null/man1/cargo-gpubench.1`");
    }

    #[test]
    fn the_page_of_the_command_goes_to_standard_output() {
        let Manual::Page(page) = manual(None) else {
            panic!("no page");
        };
        assert!(
            page.contains(".TH cargo-gpubench 1") && page.contains("\\-\\-max\\-time"),
            "{page:.400}"
        );
    }
}
