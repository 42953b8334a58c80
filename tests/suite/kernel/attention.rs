//! Bands of query-key pairs.

use flex::kernel::attention::Band;

#[test]
fn a_band_and_the_transposed_one_are_the_same_pairs() {
    let bands = [
        (Band::ALL, None, None, 0),
        (Band::new(0, None, Some(0)), None, Some(0), 0),
        (Band::new(-3, Some(1), Some(2)), Some(1), Some(2), -3),
        (Band::new(5, Some(0), Some(0)), Some(0), Some(0), 5),
        (
            Band::new(2, Some(usize::MAX), Some(1)),
            Some(usize::MAX),
            Some(1),
            2,
        ),
    ];
    for (band, before, after, shift) in bands {
        for queries in 1..9usize {
            for keys in 0..9usize {
                let mut tile = vec![1; queries * keys];
                let mut transposed = tile.clone();
                if keys > 0 {
                    band.confine(&mut tile, keys, 0..queries, 0..keys, 0);
                    band.t()
                        .confine(&mut transposed, queries, 0..keys, 0..queries, 0);
                }
                for i in 0..queries {
                    for j in 0..keys {
                        let at = j as isize - (i as isize + shift);
                        let sees = before.is_none_or(|n| at >= -(n.min(99) as isize))
                            && after.is_none_or(|n| at <= n as isize);
                        assert_eq!(band.of(i, keys).contains(&j), sees);
                        assert_eq!(tile[i * keys + j] == 1, sees);
                        assert_eq!(transposed[j * queries + i] == 1, sees);
                        assert!(!sees || band.over(0..queries, keys).contains(&j));
                    }
                }
            }
        }
    }
    assert!(Band::ALL.over(3..3, 5).is_empty());
}
