"""The workloads that compare.py measures, and the worker process of one library."""
