//! Digits, and the layers of a network.

use flex::Tensor;

/// Eight rows of eight pixels, each 0 to 16.
pub type Pixels = [u8; 64];

pub struct Layer {
    pub weight: Tensor,
    pub bias: Tensor,
    /// The scales of an int8 weight, one per row.
    pub scales: Option<Tensor>,
}

/// A held-out digit and its probabilities, computed in float64.
pub struct Record {
    pub pixels: Pixels,
    pub probabilities: [f32; 10],
    pub digit: usize,
}
impl Record {
    /// The size of a record in held_out.bin; the last three bytes are padding.
    pub const BYTES: usize = 108;
    /// The tolerance of the probabilities: any two programs then differ by at most 1e-5.
    const TOLERANCE: f32 = 5e-6;

    pub fn parse(bytes: &[u8; Self::BYTES]) -> Record {
        let mut record = Record {
            pixels: [0; 64],
            probabilities: [0.0; 10],
            digit: bytes[104].into(),
        };
        record.pixels.copy_from_slice(&bytes[..64]);
        for (p, bytes) in record
            .probabilities
            .iter_mut()
            .zip(bytes[64..104].as_chunks().0)
        {
            *p = f32::from_le_bytes(*bytes);
        }
        record
    }
    /// Whether both the digit and the probabilities agree.
    pub fn agrees(&self, probabilities: &[f32]) -> bool {
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= Self::TOLERANCE;
        probabilities.len() == 10
            && probabilities.iter().zip(&self.probabilities).all(near)
            && self.is_predicted(probabilities)
    }
    /// Whether the most likely digit is the same.
    pub fn is_predicted(&self, probabilities: &[f32]) -> bool {
        most_likely(probabilities) == most_likely(&self.probabilities)
    }
}

pub fn most_likely(probabilities: &[f32]) -> usize {
    (0..probabilities.len()).fold(0, |best, k| {
        if probabilities[k] > probabilities[best] {
            k
        } else {
            best
        }
    })
}
