"""reaction"""
BENCHMARKS = {}
