"""The same M/M/1 queue in SimPy (Debian: python3-simpy3): customers per second of processor time.

One line, as bench.h prints it. usage: python3 tests/bench/simpy_mm1.py [CUSTOMERS]
"""
import random
import sys
import time

import simpy


def customer(env, server, service_s):
    with server.request() as turn:
        yield turn
        yield env.timeout(service_s)


def source(env, server, n, rng):
    for _ in range(n):
        yield env.timeout(rng.expovariate(0.8))
        env.process(customer(env, server, rng.expovariate(1.0)))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    env = simpy.Environment()
    server = simpy.Resource(env, capacity=1)
    env.process(source(env, server, n, random.Random(1)))
    start = time.process_time()
    env.run()
    rate = n / (time.process_time() - start) / 1e6
    print(f"{'M/M/1: SimPy ' + simpy.__version__:<44} {rate:12.4g}  {'M customers/s':<14} {'-':>6}")


if __name__ == "__main__":
    main()
