//! Finds where a JSON object or list ends, a byte at a time, without reading it. Brackets within strings do not count.

/// Where a scan is.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    depth: u32,
    begun: bool,
    within_string: bool,
    after_backslash: bool,
}

impl Scan {
    /// Goes on by one byte; whether the value ends with it.
    pub(super) fn byte(&mut self, byte: u8) -> bool {
        if self.within_string {
            match byte {
                _ if self.after_backslash => self.after_backslash = false,
                b'\\' => self.after_backslash = true,
                b'"' => self.within_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.within_string = true,
            b'{' | b'[' => (self.begun, self.depth) = (true, self.depth.saturating_add(1)),
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.is_whole();
            }
            _ => {}
        }
        false
    }

    /// Whether as much has ended as has begun.
    pub(super) fn is_whole(&self) -> bool {
        self.begun && self.depth == 0 && !self.within_string
    }
}
