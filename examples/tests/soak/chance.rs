//! Chance that can be repeated.

/// Numbers that follow from a seed (`SplitMix64`; Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// One of many sequences that a seed gives.
    pub(crate) fn new(seed: u64, sequence: u64) -> Self {
        let mut chance = Self(seed);
        let start = chance.next() ^ sequence;
        Self(start)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
