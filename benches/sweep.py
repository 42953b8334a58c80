"""Shows whether two threads are ever slower than one: the microseconds of a call on one thread, and the speed-up of two.

    python benches/sweep.py [--rounds 9] [OPERATION ..]

Vectors of 2^8 to 2^24 float32, products of square matrices of size 16 to 512. One and two threads alternate, so that other load on the
machine affects both; of nine rounds the fourth fastest counts. `benches/threads.rs` does the same without Python, and times
fork-joins.
"""

import argparse
import time

import flex

OPERATIONS = {
    "add": lambda x: x + x,
    "exp": flex.exp,
    "sum": flex.sum,
    "greater": lambda x: x > 0.5,
    "to float64": lambda x: x.astype(flex.float64),
    "cumulative_sum": flex.cumulative_sum,
}


def one_and_two(call, rounds):
    """Nanoseconds of a call on one and on two threads."""
    start = time.perf_counter_ns()
    call()
    reps = min(max(2_000_000 // (time.perf_counter_ns() - start), 1), 3000)
    times = {1: [], 2: []}
    for _ in range(rounds):
        for n, found in times.items():
            with flex.threads(n):
                for _ in range(-(-reps // 4)):
                    call()
                start = time.perf_counter_ns()
                for _ in range(reps):
                    call()
                found.append((time.perf_counter_ns() - start) / reps)
    return [sorted(found)[rounds // 3] for found in times.values()]


def row(name, calls, rounds):
    cells = []
    for call in calls:
        one, two = one_and_two(call, rounds)
        cells.append(f"{one / 1e3:.1f} ({one / two:.2f})")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def head(first, names):
    print(f"\n| {first} | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "operations", nargs="*", help=f"some of: {', '.join([*OPERATIONS, 'matmul'])}"
    )
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    names = [name for name in OPERATIONS if not args.operations or name in args.operations]
    if names:
        head("length", names)
    for log in range(8, 25) if names else ():
        x = flex.linspace(0, 1, 1 << log, dtype=flex.float32)
        row(f"2^{log}", [lambda f=OPERATIONS[name], x=x: f(x) for name in names], args.rounds)
    if not args.operations or "matmul" in args.operations:
        head("n", ["matmul"])
        for n in (16, 32, 48, 64, 96, 128, 192, 256, 384, 512):
            a = flex.reshape(flex.linspace(0, 1, n * n, dtype=flex.float32), (n, n))
            row(n, [lambda a=a: a @ a], args.rounds)


if __name__ == "__main__":
    main()
