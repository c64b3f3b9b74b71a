//! Changed inputs.

use std::ops::Range;

use fastrand::Rng;

/// Numbers at which readers make mistakes, as text.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "-0.0",
    "255",
    "65536",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "1e-320",
    "null",
];

/// Returns one of the inputs with a few changes, at most `longest` bytes.
pub fn mutated(inputs: &[Vec<u8>], longest: usize, random: &mut Rng) -> Vec<u8> {
    let mut data = inputs[random.usize(..inputs.len())].clone();
    for _ in 0..random.usize(1..=4) {
        change(&mut data, inputs, random);
    }
    data.truncate(longest);
    data
}

fn change(data: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Rng) {
    if data.is_empty() {
        data.push(random.u8(..));
    }
    let at = random.usize(..data.len());
    match random.u8(..10) {
        0 => data[at] ^= 1 << random.u8(..8),
        1 => data[at] = random.u8(..),
        2 => {
            data[at] = random
                .choice([0, 1, 0x7f, 0x80, 0xff, b'"', b'\\', b'{', b'\n'])
                .unwrap_or(0)
        }
        3 => data.truncate(at),
        4 => drop(data.drain(part(data.len(), random))),
        5 => {
            let copied = data[part(data.len(), random)].to_vec();
            data.splice(at..at, copied);
        }
        6 => {
            let other = &inputs[random.usize(..inputs.len())];
            if !other.is_empty() {
                let copied = other[part(other.len(), random)].to_vec();
                data.splice(at..at, copied);
            }
        }
        7 => {
            let any = random.u32(..);
            let word = random.choice([0, 1, u32::MAX, 1 << 31, any]).unwrap_or(0).to_le_bytes();
            data.iter_mut().skip(at).zip(word).for_each(|(byte, new)| *byte = new);
        }
        // Another number, in text.
        8 => {
            if let Some(digits) = digits_from(data, at) {
                let number = NUMBERS[random.usize(..NUMBERS.len())];
                data.splice(digits, number.bytes());
            }
        }
        // Two places change their contents.
        _ => {
            let (one, other) = (part(data.len(), random), part(data.len(), random));
            let copied = data[one].to_vec();
            data.splice(other, copied);
        }
    }
}

/// A short range below `length`, which is not zero.
fn part(length: usize, random: &mut Rng) -> Range<usize> {
    let start = random.usize(..length);
    start..(start + random.usize(1..=64)).min(length)
}

/// The first number in a text, from a place on.
fn digits_from(data: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + data[at..].iter().position(u8::is_ascii_digit)?;
    let of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'-' | b'+');
    let length = data[start..].iter().take_while(|byte| of_number(byte)).count();
    Some(start..start + length)
}
