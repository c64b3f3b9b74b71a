//! The counts of a window, as a worker sends them after its claim.

use gpubench_device::Count;

use super::Claim;

/// Most bytes of the counts, so that they fit in a worker's message of 4 KiB with the claim and the
/// entry for the rest.
const CAPACITY: usize = 4096 - size_of::<Claim>() - 64;

/// Most bytes of a name. Longer names are cut off.
const LONGEST: usize = 240;

/// The name of the entry for all counts that do not fit.
const REST: &str = "(other functions)";

/// Encodes counts, those with the largest values first. The last entry of a range sums up those
/// that do not fit.
pub fn encode_counts(counts: &[Count]) -> Vec<u8> {
    let mut sorted: Vec<&Count> = counts.iter().collect();
    sorted.sort_by(|one, other| other.value.total_cmp(&one.value));
    let mut bytes = Vec::new();
    let mut rest = 0.0;
    for count in sorted {
        let entry = encode(count);
        if bytes.len() + entry.len() <= CAPACITY {
            bytes.extend(entry)
        } else {
            rest += count.value
        }
    }
    if rest > 0.0 {
        bytes.extend(encode(&Count {
            range: String::new(),
            of: REST.to_owned(),
            value: rest,
        }));
    }
    bytes
}

/// Decodes counts. Returns `None` if they are damaged. Names are safe to print.
pub fn decode_counts(mut bytes: &[u8]) -> Option<Vec<Count>> {
    let mut counts = Vec::new();
    while !bytes.is_empty() {
        let value = f64::from_le_bytes(bytes.split_off(..8)?.try_into().ok()?);
        let [range, of] = [name(&mut bytes)?, name(&mut bytes)?];
        counts.push(Count { range, of, value });
    }
    Some(counts)
}

fn encode(count: &Count) -> Vec<u8> {
    let mut bytes = count.value.to_le_bytes().to_vec();
    for name in [&count.range, &count.of] {
        let ends = (0..=name.len().min(LONGEST)).rev();
        let end = ends.into_iter().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        bytes.push(end as u8);
        bytes.extend(&name.as_bytes()[..end]);
    }
    bytes
}

fn name(bytes: &mut &[u8]) -> Option<String> {
    let length = bytes.split_off_first()?;
    let text = bytes.split_off(..usize::from(*length))?;
    Some(gpubench_diagnostic::printable_line(&String::from_utf8_lossy(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(of: &str, value: f64) -> Count {
        Count {
            range: "scale".to_owned(),
            of: of.to_owned(),
            value,
        }
    }

    #[test]
    fn counts_round_trip_with_the_largest_first() {
        let counts = [count("small", 2.0), count("large", 40.0)];
        let decoded = decode_counts(&encode_counts(&counts)).unwrap();
        assert_eq!(decoded, [count("large", 40.0), count("small", 2.0)]);
        assert_eq!(decode_counts(&[]), Some(Vec::new()));
    }

    #[test]
    fn counts_that_do_not_fit_are_summed_up() {
        let counts: Vec<Count> = (0..200)
            .map(|number| count(&"x".repeat(300), f64::from(number)))
            .collect();
        let encoded = encode_counts(&counts);
        assert!(encoded.len() <= 4096 - size_of::<Claim>(), "{}", encoded.len());
        let decoded = decode_counts(&encoded).unwrap();
        assert_eq!(decoded.last().unwrap().of, REST);
        let total: f64 = decoded.iter().map(|count| count.value).sum();
        assert_eq!(total, 199.0 * 200.0 / 2.0);
    }

    #[test]
    fn damaged_counts_are_refused_and_names_are_printable() {
        let encoded = encode_counts(&[count("a\u{1b}[2Jb", 1.0)]);
        assert_eq!(decode_counts(&encoded[..encoded.len() - 1]), None);
        assert!(!decode_counts(&encoded).unwrap()[0].of.contains('\u{1b}'));
    }
}
