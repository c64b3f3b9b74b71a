//! Files of NumPy.

use camino::Utf8Path;

/// A file of `numpy.save`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// NumPy's name of the type of the elements.
    pub descr: String,
    /// The extents in Python's syntax: `(30, 20)`.
    pub shape: String,
    /// The elements in C order.
    pub contents: Vec<u8>,
}

impl Npy {
    /// Reads a file of version 1.0.
    ///
    /// # Panics
    /// If it is not one.
    pub fn read(path: impl AsRef<Utf8Path>) -> Npy {
        let path = path.as_ref();
        let file = std::fs::read(path).unwrap_or_else(|error| panic!("`{path}`: {error}"));
        let (start, rest) = file.split_at(10);
        assert_eq!(start[..8], *b"\x93NUMPY\x01\x00", "`{path}`");
        let (header, contents) = rest.split_at(u16::from_le_bytes([start[8], start[9]]).into());
        assert_eq!((start.len() + header.len()) % 64, 0, "`{path}`");
        let header = std::str::from_utf8(header).expect("ASCII");
        let between = |before: &str, after: &str| {
            let (_, rest) = header.split_once(before).expect("a key");
            rest.split_once(after).expect("a value").0.to_owned()
        };
        let fields = header.trim_end_matches(' ').trim_end_matches('\n');
        assert!(header.ends_with('\n') && fields.trim_end().ends_with('}'), "{header:?}");
        assert!(header.contains("'fortran_order': False"), "{header}");
        Npy {
            descr: between("'descr': '", "'"),
            shape: between("'shape': ", ", }"),
            contents: contents.to_vec(),
        }
    }

    /// Returns the elements, made from their bytes.
    ///
    /// # Panics
    /// If their type is another.
    pub fn elements<const N: usize, T>(&self, descr: &str, from: fn([u8; N]) -> T) -> Vec<T> {
        assert_eq!(self.descr, descr);
        let elements = self.contents.chunks_exact(N);
        elements
            .map(|element| from(element.try_into().expect("its size")))
            .collect()
    }
}
