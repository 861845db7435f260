//! The checksums of rows, computed anew from what their format says. CRC-32 as in zip files; shares no code with the store.

use rusqlite::types::Value;

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { (rest >> 1) ^ 0xEDB8_8320 } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

/// A checksum that grows piece by piece.
pub(super) struct Crc(u32);

impl Crc {
    pub(super) fn new() -> Self {
        Self(u32::MAX)
    }

    pub(super) fn add(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 >> 8) ^ TABLE[usize::from((self.0 as u8) ^ byte)];
        }
        self
    }

    pub(super) fn done(self) -> i64 {
        i64::from(!self.0)
    }
}

/// Which sort of row a checksum is for; the first byte that goes into it.
#[derive(Clone, Copy)]
pub(super) enum Row {
    Session = 1,
    Turn = 2,
    Log = 6,
}

/// The checksum of a row of the log.
pub(super) fn of_log(session: i64, first: i64, last: i64, records: &[u8]) -> i64 {
    let crc = Crc::new().add(&[Row::Log as u8]);
    let crc = [session, first, last].iter().fold(crc, |crc, number| crc.add(&number.to_le_bytes()));
    crc.add(records).done()
}

/// The checksum of any other row, over all its cells but the checksum itself.
pub(super) fn of_cells(row: Row, cells: &[Value]) -> i64 {
    let crc = cells.iter().fold(Crc::new().add(&[row as u8]), |crc, cell| match cell {
        Value::Null => crc.add(&[0]),
        Value::Integer(number) => crc.add(&[1]).add(&number.to_le_bytes()),
        Value::Real(number) => crc.add(&number.to_le_bytes()),
        Value::Text(text) => crc.add(&[2]).add(&(text.len() as u64).to_le_bytes()).add(text.as_bytes()),
        Value::Blob(bytes) => crc.add(bytes),
    });
    crc.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        // The check value that every description of CRC-32 names.
        assert_eq!(Crc::new().add(b"1234").add(b"56789").done(), 0xCBF4_3926);
    }
}
