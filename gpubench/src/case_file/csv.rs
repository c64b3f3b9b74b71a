//! CSV, as in RFC 4180: a header, fields between commas, quotes around fields with commas.

use super::{Cell, Row, Wrong, position};

/// Returns a row for each line below the header, with the fields of these names.
pub(super) fn rows(text: &str, names: &[&str]) -> Result<Vec<Row>, Wrong> {
    let mut records = records(text)?.into_iter();
    let Some((line, header)) = records.next() else {
        return Err(Wrong(
            1,
            "the file is empty; expected a line with the names of the columns".to_owned(),
        ));
    };
    let columns = names.iter().map(|name| position(name, &header, "column"));
    let columns = columns
        .collect::<Result<Vec<_>, _>>()
        .map_err(|what| Wrong(line, what))?;
    let row = |(line, fields): (usize, Vec<String>)| {
        if fields.len() != header.len() {
            let (found, expected) = (fields.len(), header.len());
            return Err(Wrong(
                line,
                format!("the number of fields is {found}, but the header has {expected}"),
            ));
        }
        let cells = columns.iter().map(|column| Cell::Field(fields[*column].clone()));
        Ok(Row {
            line,
            cells: cells.collect(),
        })
    };
    records.map(row).collect()
}

/// Returns the fields of every line that is not empty, with the line's number.
fn records(text: &str) -> Result<Vec<(usize, Vec<String>)>, Wrong> {
    let mut records = Vec::new();
    let (mut line, mut rest) = (1, text);
    while !rest.is_empty() {
        let start = line;
        let mut fields = Vec::new();
        loop {
            let (field, after) = field(rest).map_err(|what| Wrong(start, what.to_owned()))?;
            line += rest[..rest.len() - after.len()].matches('\n').count();
            fields.push(field);
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => {
                    rest = after.strip_prefix('\r').unwrap_or(after);
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                    line += 1;
                    break;
                }
            }
        }
        if fields != [""] {
            records.push((start, fields));
        }
    }
    Ok(records)
}

/// Returns the first field, and the text from its comma or the end of its line.
fn field(text: &str) -> Result<(String, &str), &'static str> {
    let blank = [' ', '\t'];
    let Some(quoted) = text.trim_start_matches(blank).strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let (field, after) = text.split_at(end);
        return match field.contains('"') {
            true => Err("a quote in a field that does not begin with one"),
            false => Ok((field.trim().to_owned(), after)),
        };
    };
    let (mut field, mut rest) = (String::new(), quoted);
    loop {
        let end = rest.find('"').ok_or("a quoted field has no end")?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                field.push('"');
                rest = after;
            }
            None => break,
        }
    }
    let rest = rest.trim_start_matches(blank);
    match rest.is_empty() || rest.starts_with([',', '\n']) || rest.starts_with("\r\n") {
        true => Ok((field, rest)),
        false => Err("text after the end of a quoted field"),
    }
}
