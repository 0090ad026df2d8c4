"""Engine 1: an MLP built and back-propagated, beside micrograd; gradients measured on the device, beside the host.

    python benchmarks/scalar.py [--rounds 15]

Each contender has a process of its own, because micrograd's cyclic garbage would slow down what shares its process.
They take turns with a short nap between; figures are medians, ratios are medians of the ratios within a round.
micrograd takes part where it is installed (pip install micrograd).
"""

import argparse
import gc
import importlib.util
import multiprocessing
import os
import platform
import random
import statistics
import sys
import time

import numpy as np

from tinygrad_cl.gradcheck import device_gradient, numerical_gradient
from tinygrad_cl.opencl import NoDeviceError, default_device
from tinygrad_cl.scalar import Value, topological_order

SIZES, SAMPLES, NAP = [3, 16, 16, 1], 50, 0.04
ENGINES = ["tinygrad_cl.scalar", "micrograd.engine"]


def mlp_loss(value_class):
    """The squared error of a ReLU network, summed over the samples; the same numbers at every call."""
    rng = random.Random(0)
    layers = [[([value_class(rng.uniform(-1, 1)) for _ in range(n)], value_class(0.0)) for _ in range(m)]
              for n, m in zip(SIZES, SIZES[1:])]
    loss = value_class(0.0)
    for _ in range(SAMPLES):
        activations = [rng.uniform(-1, 1) for _ in range(SIZES[0])]
        for layer in layers:
            sums = [sum((w * x for w, x in zip(weights, activations)), bias) for weights, bias in layer]
            activations = [s.relu() for s in sums] if layer is not layers[-1] else sums
        loss = loss + (activations[0] - rng.choice([-1.0, 1.0])) ** 2
    return loss


def mlp_turn(engine, collect):
    """(seconds to build, seconds for backward, the loss) of one engine, with the garbage collector on or off."""
    value_class = importlib.import_module(engine).Value
    gc.collect()
    (gc.enable if collect else gc.disable)()
    start = time.perf_counter()
    loss = mlp_loss(value_class)
    built = time.perf_counter()
    loss.backward()
    return built - start, time.perf_counter() - built, loss.data


def serve(connection, engine):
    """A contender's process: one turn for each message, until None."""
    while (collect := connection.recv()) is not None:
        connection.send(mlp_turn(engine, collect))


def compare_engines(rounds):
    """Print the medians of each engine that is installed, and its ratio to ours."""
    engines = [engine for engine in ENGINES if importlib.util.find_spec(engine.split(".")[0])]
    spawn = multiprocessing.get_context("spawn")
    ends, processes = {}, []
    for engine in engines:
        ends[engine], theirs = spawn.Pipe()
        processes.append(spawn.Process(target=serve, args=(theirs, engine)))
        processes[-1].start()
    print(f"MLP {'-'.join(map(str, SIZES))} on {SAMPLES} samples, {len(topological_order(mlp_loss(Value))):,} nodes")
    for collect in (True, False):
        turns = {engine: [] for engine in engines}
        for turn in range(rounds + 2):
            for engine in engines:
                time.sleep(NAP)
                ends[engine].send(collect)
                result = ends[engine].recv()
                if turn >= 2:  # the first two warm up
                    turns[engine].append(result)
        for engine in engines:
            build, backward = (1e3 * statistics.median(turn[k] for turn in turns[engine]) for k in (0, 1))
            ratios = sorted(sum(a[:2]) / sum(b[:2]) for a, b in zip(turns[engine], turns[engines[0]]))
            print(f"  {engine:20} collector {'on ' if collect else 'off'}  build {build:6.1f} ms"
                  f"   backward {backward:6.1f} ms   {statistics.median(ratios):5.2f} times ours ({ratios[0]:.2f} to {ratios[-1]:.2f})"
                  f"   loss {turns[engine][0][2]:.6f}")
    for engine, process in zip(engines, processes):
        ends[engine].send(None)
        process.join()


def ring(*x):
    """A function of any number of inputs, three operations and a sum for each."""
    return sum((a * b).tanh() * a for a, b in zip(x, x[1:] + x[:1]))


def median_ms(f, rounds):
    f()
    times = []
    for _ in range(rounds):
        time.sleep(NAP)
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def compare_measured_gradients(rounds):
    """Print the time of one launch over all perturbed points beside 2N evaluations on the host."""
    try:
        device = default_device()
    except NoDeviceError as error:
        print(f"no measured gradients: {error}")
        return
    print(f"gradients by central differences, all of N inputs; device: {device.name} ({device.platform}),"
          f" {'float64' if device.fp64 else 'float32'}")
    for n in (3, 10, 30, 100, 300):
        inputs = np.random.default_rng(n).standard_normal(n).tolist()

        def on_host():
            return numerical_gradient(lambda *x: ring(*map(Value, map(float, x))).data, inputs)

        host, launch = median_ms(on_host, rounds), median_ms(lambda: device_gradient(ring, inputs), rounds)
        apart = np.max(np.abs(np.array(on_host()) - device_gradient(ring, inputs)[1]))
        print(f"  N = {n:3}   one launch {launch:8.2f} ms   {2 * n:3} runs of engine 1 {host:8.2f} ms"
              f"   ratio {host / launch:6.2f}   largest difference {apart:.0e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="turns that count (default 15)")
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} CPUs, {sys.platform},"
          f" {rounds} rounds")
    compare_engines(rounds)
    compare_measured_gradients(rounds)


if __name__ == "__main__":
    main()
