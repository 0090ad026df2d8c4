"""Many random programs: what disagrees is reduced to the shortest program that shows it.

python -m fuzz.campaign tensor 20000                   engine 2 beside the reference, in tests/
python -m fuzz.campaign netcl 5000                     engine 3
python -m fuzz.campaign tensor 20000 --peer torch      engine 2 beside PyTorch, where it is installed
"""

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field, replace

from fuzz.engines import is_ill_conditioned, run
from fuzz.programs import generate, source

OF_NUMBERS = ("value", "gradient", "shape", "dtype", "requires_grad")  # kinds, whatever the variable

# -- reduction -------------------------------------------------------------------------------------


def without(program, index):
    """Programs without a statement: with all that needs its variable gone, or with an earlier variable in its place."""
    target = program[index].target
    gone, kept = {target} - {""}, program[:index]
    for statement in program[index + 1 :]:
        if gone & set(statement.operands):
            gone |= {statement.target} - {""}
        else:
            kept = [*kept, statement]
    yield kept
    for other in [each.target for each in program[:index] if target and each.target]:
        names = lambda operands: tuple(other if name == target else name for name in operands)
        after = [replace(each, operands=names(each.operands)) for each in program[index + 1 :]]
        yield program[:index] + after
        yield program[:index] + [with_no_upstream(each) if other in each.operands else each for each in after]


def with_no_upstream(statement):
    """The statement, and None for ∂L/∂(its operand), which may have another shape now."""
    settings = tuple((key, "None" if key == "up" else value) for key, value in statement.settings)
    return replace(statement, settings=settings)


def reduced(found, engine, peer="reference", faults=None):
    """The shortest disagreement of the same kind that deleting statements one by one leads to."""
    best = replace(found, program=found.program[: found.index + 1])
    index = len(best.program)
    while index:
        index -= 1
        for program in without(best.program, index):
            again, _ = run(program, engine, peer, faults)
            same = again and again.kind == best.kind and (again.kind in OF_NUMBERS or again.about == best.about)
            if same and not is_ill_conditioned(again, engine):
                best = replace(again, program=again.program[: again.index + 1])
                index = len(best.program)
                break
    return best


# -- many programs -----------------------------------------------------------------------------------


@dataclass
class Count:
    """What came out of many programs: how many, their statements, and the disagreements that no one explains."""

    programs: int = 0
    statements: int = 0
    found: list = field(default_factory=list)
    explained: Counter = field(default_factory=Counter)


def campaign(engine, seeds, peer="reference", explain=lambda found: "", most=20, odd=None):
    """Generate and run a program for each seed; what is found is reduced, unless explain(found) names why it may be.

    most   stop after so many disagreements
    """
    count = Count()
    engines = [engine] + [peer] * (peer != "reference")
    for seed in seeds:
        found, ran = run(generate(seed, engines, odd), engine, peer)
        count.programs += 1
        count.statements += ran
        if not found or is_ill_conditioned(found, engine):
            continue
        found = reduced(found, engine, peer)
        reason = explain(found)
        if reason:
            count.explained[reason] += 1
            continue
        count.found.append(replace(found, detail=f"{found.detail}\nseed {seed}:\n\n{source(found.program, engine)}"))
        if len(count.found) >= most:
            break
    return count


def main():
    parser = argparse.ArgumentParser(prog="fuzz.campaign", description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=["tensor", "netcl"])
    parser.add_argument("programs", type=int)
    parser.add_argument("--peer", default="reference", choices=["reference", "tensor", "torch"])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--most", type=int, default=20, help="stop after so many disagreements")
    options = parser.parse_args()
    from fuzz.differences import explain  # it needs this module

    seeds = range(options.first, options.first + options.programs)
    began = time.perf_counter()
    count = campaign(options.engine, seeds, options.peer, explain(options.engine, options.peer), options.most)
    for found in count.found:
        print(found, end="\n\n")
    for reason, times in count.explained.most_common():
        print(f"{times:6}  {reason}")
    kinds = dict(Counter(found.kind for found in count.found))
    print(
        f"{count.programs} programs, {count.statements} statements, {time.perf_counter() - began:.0f} s, disagreements: {kinds}"
    )


if __name__ == "__main__":
    main()
