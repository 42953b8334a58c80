//! Strided kernels that read elements several times, whose images are sorted by stride phase.

use super::*;

#[test]
fn large_strided_kernels_match_the_sum_over_taps() {
    let mut random = Rng(9);
    let images: [&[usize]; 9] = [
        &[31, 40],
        &[9, 150],
        &[17, 33],
        &[20, 64],
        &[12, 261],
        &[15, 15],
        &[301],
        &[64],
        &[5, 14, 15],
    ];
    for (round, image) in images.into_iter().enumerate() {
        let rank = image.len();
        let axes = |f: &mut dyn FnMut() -> usize| (0..rank).map(|_| f()).collect::<Vec<_>>();
        let groups = 1 + round % 2;
        let mut case = Case {
            batch: 1 + round % 3,
            channels: groups * (2 + random.below(3)),
            image: image.to_vec(),
            outputs: groups * (9 + random.below(9)),
            kernel: axes(&mut || [7, 5, 6, 3][random.below(4)]),
            stride: axes(&mut || 1 + random.below(2)),
            padding: axes(&mut || 3).into_iter().map(|n| (n, n - 1)).collect(),
            dilation: axes(&mut || 1),
            groups,
        };
        if rank == 1 {
            case.kernel = vec![[24, 31][round % 2]];
            case.padding = vec![(16, 11)];
        }
        case.stride[rank - 1] = 2 + round % 2;
        case.dilation[rank - 1] = 1 + random.below(2);
        if rank == 3 {
            case.dilation[2] = 1;
        }
        check(&case, DType::F32, round % 4);
        let other = [DType::F64, DType::BF16, DType::I32][round % 3];
        if other.is_available() {
            check(&case, other, (round + 1) % 4);
        }
    }
}
