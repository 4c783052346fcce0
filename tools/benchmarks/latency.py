"""latency"""
BENCHMARKS = {}
