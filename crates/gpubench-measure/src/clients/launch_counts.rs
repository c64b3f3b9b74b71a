//! What ncu reports of the launches that it counted: comma-separated values with a line for each
//! launch.

use std::path::Path;

/// The count of one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchCount {
    /// The kernel, as ncu names it.
    pub kernel: String,
    /// The count.
    pub count: f64,
}

/// Reads ncu's log.
///
/// # Errors
/// If it cannot be read, has an error of ncu, or is damaged. The text says which.
pub(super) fn read_launch_counts(log: &Path) -> Result<Vec<LaunchCount>, String> {
    let text = fs_err::read_to_string(log).map_err(|error| error.to_string())?;
    launch_counts(&text)
}

fn launch_counts(text: &str) -> Result<Vec<LaunchCount>, String> {
    if let Some(error) = text.lines().find_map(|line| line.strip_prefix("==ERROR== ")) {
        return Err(error.trim().to_owned());
    }
    let mut lines = text.lines().map(fields).skip_while(|fields| fields[0] != "ID");
    let header = lines.next().ok_or("it counted no launch")?;
    let column = |name: &str| header.iter().position(|field| field == name);
    let (Some(kernel), Some(value)) = (column("Kernel Name"), column("Metric Value")) else {
        return Err("its log lacks a column".to_owned());
    };
    let count_of = |fields: Vec<String>| {
        let value = fields.get(value)?.replace(',', "");
        Some(LaunchCount {
            kernel: fields.get(kernel)?.clone(),
            count: value.parse().ok()?,
        })
    };
    let launches = lines.filter(|fields| fields.len() == header.len()).map(count_of);
    launches
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| "its log has a count that is no number".to_owned())
}

/// Returns the fields of a line, at least one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut is_quoted, mut last) = (false, ' ');
    for character in line.chars() {
        match character {
            '"' => {
                if last == '"' && !is_quoted {
                    // A quote within quotes is written twice.
                    fields.last_mut().into_iter().for_each(|field| field.push('"'));
                }
                is_quoted = !is_quoted;
            }
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut().into_iter().for_each(|field| field.push(other)),
        }
        last = character;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"==PROF== Connected to process 758 (/opt/cargo-gpubench)
==PROF== Profiling "add_one" - 0: 0%....50%....100% - 1 pass
==PROF== Disconnected from process 758
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","758","cargo-gpubench","127.0.0.1","add_one(const float *, float *)","1","13","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","544"
"1","758","cargo-gpubench","127.0.0.1","add_one(const float *, float *)","1","13","(256, 1, 1)","(8192, 1, 1)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","1,114,112"
"#;

    #[test]
    fn each_line_of_ncus_table_is_a_launch() {
        let kernel = "add_one(const float *, float *)";
        let counts = [544.0, 1_114_112.0].map(|count| LaunchCount {
            kernel: kernel.to_owned(),
            count,
        });
        assert_eq!(launch_counts(LOG), Ok(counts.to_vec()));
    }

    #[test]
    fn an_error_of_ncu_is_told() {
        let log = "==PROF== Connected to process 7\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n";
        assert!(launch_counts(log).is_err_and(|why| why.starts_with("ERR_NVGPUCTRPERM - ")));
        let nothing = "==WARNING== No kernels were profiled.\n";
        assert_eq!(launch_counts(nothing), Err("it counted no launch".to_owned()));
        let damaged = LOG.replace("\"544\"", "\"n/a\"");
        assert_eq!(
            launch_counts(&damaged),
            Err("its log has a count that is no number".to_owned())
        );
    }

    #[test]
    fn a_quote_within_quotes_is_written_twice() {
        assert_eq!(fields(r#""a ""b"", c",d,"#), [r#"a "b", c"#, "d", ""]);
    }
}
