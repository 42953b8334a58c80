"""What compare.py measures (workloads), and how one library does it in a process of its own (worker)."""
