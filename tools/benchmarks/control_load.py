"""control_load"""
BENCHMARKS = {}
