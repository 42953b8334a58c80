//! Counts of integers.

/// Tables that neighbours are counted in by turns: where many are equal, the next count would wait for
/// the last one to be stored.
pub const TABLES: usize = 4;

/// Counts how often each integer occurs in `x`: as many tables as the length of `tables` has of `count`
/// numbers. Integers from `count` on, or below 0, are left out.
pub fn count(x: &[i64], count: usize, tables: &mut [i64]) {
    let several = tables.len() >= TABLES * count;
    let (fours, rest) = if several { x.as_chunks() } else { (&[][..], x) };
    let mut add = |x: i64, table: usize| {
        let inside = usize::try_from(x).ok().filter(|k| *k < count);
        if let Some(n) = inside.and_then(|k| tables.get_mut(table * count + k)) {
            *n += 1;
        }
    };
    for four in fours {
        let four: &[i64; TABLES] = four;
        for (table, x) in four.iter().enumerate() {
            add(*x, table);
        }
    }
    for x in rest {
        add(*x, 0);
    }
    if several && count > 0 {
        let (first, others) = tables.split_at_mut(count);
        for table in others.chunks_exact(count) {
            for (n, more) in first.iter_mut().zip(table) {
                *n += more;
            }
        }
    }
}
