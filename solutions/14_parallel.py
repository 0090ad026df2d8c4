# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · Parallel: many processes, one gradient
#
# One machine is too slow. So take four, with one process on each. (A *process* is a program that runs.) Every process
# has the same weights, different rows of the batch, and a tape of its own. An <dfn>all-reduce</dfn> adds up one array
# of each process, and gives the sum to every process. Before every step, the processes do this with their gradients.
# Then all of them make the same step, so their weights stay equal. (Several processes may also run on one machine, as
# in this notebook.)
#
# ```
#              rows 0–2        rows 3–5        rows 6–7        rows 8–9
#                 │               │               │               │
#             process 0       process 1       process 2       process 3     same weights
#               tape            tape            tape            tape
#                 │               │               │               │
#                 ∂₀              ∂₁              ∂₂              ∂₃        different gradients
#                 └───────────────┴── all-reduce ─┴───────────────┘
#                 Σ               Σ               Σ               Σ         same gradient
# ```
#
# The mathematics is one sentence: **the gradient of a sum is the sum of the gradients**. The rest of this lesson is
# about messages: what to send, how rarely, how little, and how to compute at the same time. Sending and receiving
# messages is called *talking* here.

# %% given
import time

import numpy as np

import tinygrad_cl.netcl.autograd as ag
from autograder.notebook import check, predict
from tinygrad_cl.netcl.core.device import manager
from tinygrad_cl.netcl.core.parameter import Parameter
from tinygrad_cl.netcl.core.tensor import Tensor
from tinygrad_cl.netcl.distributed.launch import start
from tinygrad_cl.netcl.distributed.simulated import simulate
from tinygrad_cl.viz import plot_lines, plot_losses, plot_timeline


def on_device(array, dtype=np.float32):
    """A tensor on the default device with the numbers of an array."""
    return Tensor.from_host(manager.default("auto").queue, array, dtype)

# %% [markdown]
# ## One program, several processes
#
# Every process runs **the same program**. It gets `comm`, its connection to the others. The <dfn>rank</dfn> of a
# process is its number, counted from 0. `comm.rank` gives the rank, and `comm.size` says how many processes there are.
#
# <dfn>MPI</dfn> is a standard for messages between processes. mpi4py is a Python library for it, and `mpiexec` is the
# program that starts the processes. `start(program, 3)` starts three real processes by MPI. `simulate(program, 3)`
# imitates them within this notebook, and counts what they send. It returns two lists with an entry for each process:
# what the program returned, and what was sent, as pairs (name of the call, bytes). Both give you a `comm` whose methods
# have the same names as in mpi4py. `comm.Allreduce(mine, total)` adds up the arrays `mine` of all processes, and writes
# the sum into `total` of each. `comm.Barrier()` only waits until all processes have called it:

# %% demo
def hello(comm):
    mine, total = np.array([comm.rank + 1.0]), np.empty(1)
    comm.Allreduce(mine, total)  # what I have, where the sum goes
    return f"process {comm.rank} of {comm.size} has {mine[0]:g}, the sum is {total[0]:g}"


print("\n".join(start(hello, 3)))
results, sent = simulate(hello, 3)
print("simulated:", results[0], "| sent:", sent[0])

# %% [markdown]
# `Allreduce` is a collective call. A <dfn>collective call</dfn> is one that all processes have to make; it returns when
# all of them have made it. If one of them does not, the others wait. What does that look like? The simulation notices
# it and raises an error; real processes wait for ever.

# %% demo
def shy(comm):
    if comm.rank == 1:
        return  # has nothing to say
    comm.Allreduce(np.ones(2), np.empty(2))


try:
    simulate(shy, 3)
except RuntimeError as error:
    print(error)

# %% [markdown]
# ## 1 · A tape in each process
#
# A loss is a mean over rows. Let there be ten rows and four processes: `np.array_split` gives them 3, 3, 2 and 2 rows.
# Suppose each process takes the mean over its own rows, and then the mean of the four means is taken.
#
# ### Predict, then run
#
# In the mean of the means, with what factor does one row of the first process count? And one row of the last? (Both
# should be 1/10.)

# %% predict
mean_guess = predict(row_of_the_first=..., row_of_the_last=...)

# %% demo
shares = np.array_split(np.eye(10), 4)  # row i knows where it came from
mean_of_means = np.mean([share.mean(0) for share in shares], axis=0)
mean_guess.compare(row_of_the_first=mean_of_means[0], row_of_the_last=mean_of_means[-1])

# %% [markdown]
# So a plain mean is wrong wherever the shares are not equal. It passes every test with 8 rows and 4 processes, and then
# somebody has 10 rows.
#
# One more thing: a network has many parameters, and one message for each would be many messages. Put all numbers in
# **one long array**, send it, and take the sum apart again.

# %% exercise="parallel.gradients" own="a user of engine 3, from the shares of a batch to the gradients; the package's all_reduce_gradients is the sum alone, of gradients that are there"
def parallel_gradients(comm, loss_of, parameters, x, y):
    """Leave the gradient of the whole batch in every process; each differentiates its own rows.

    comm         the connection to the others: rank, size, Allreduce(array, room for the sum)
    loss_of      loss_of(parameters, x, y) is the mean loss over the rows it is given, a Node
    parameters   a list of Parameters of any shapes, with equal numbers in all processes; the loss
                 depends on each of them
    x, y         the whole batch, arrays. The rows of this process, one at least, are
                 np.array_split(x, comm.size)[comm.rank], and the same of y

    parameter.grad is afterwards a tensor: the gradient of loss_of(parameters, x, y), whatever was
    there before. Returns the value of loss_of(parameters, x, y), a plain number. One Allreduce,
    for all gradients and the loss together, in float32.

    >>> def loss_of(parameters, x, y):
    ...     return ag.mean(ag.square(ag.mul(on_device(x), parameters[0]) - on_device(y)))
    >>> def program(comm):
    ...     w = Parameter.from_host(manager.default("auto").queue, [2.0])
    ...     loss = parallel_gradients(comm, loss_of, [w], np.ones(3), np.array([0.0, 1.0, 2.0]))
    ...     return round(loss, 4), w.grad.to_host().tolist()
    >>> simulate(program, 2)
    ([(1.6667, [2.0]), (1.6667, [2.0])], [[('Allreduce', 8)], [('Allreduce', 8)]])
    """
    ### BEGIN SOLUTION
    my_x, my_y = (np.array_split(array, comm.size)[comm.rank] for array in (x, y))
    for parameter in parameters:
        parameter.grad = None
    with ag.Tape() as tape:
        loss = loss_of(parameters, my_x, my_y)
    tape.backward(loss)
    gradients = [parameter.grad.to_host() for parameter in parameters]
    row = np.concatenate([loss.to_host().ravel(), *[grad.ravel() for grad in gradients]])
    total = np.empty_like(row)
    comm.Allreduce(row * (len(my_x) / len(x)), total)
    begin = 1
    for parameter, grad in zip(parameters, gradients):
        parameter.grad.write(total[begin:begin + grad.size].reshape(grad.shape))
        begin += grad.size
    return float(total[0])
    ### END SOLUTION

# %% check="parallel.gradients"

# %% [markdown]
# <details><summary>Hint 1</summary>(l₁ + l₂ + l₃) / 3 times <strong>3/10</strong> is (l₁ + l₂ + l₃) / 10. Multiply by
# your share of the rows, then add up: that is the mean over all ten.</details>
# <details><summary>Hint 2</summary>From the device and back: <code>parameter.grad.to_host()</code> is an array,
# <code>parameter.grad.write(array)</code> replaces the numbers. The loss is a Node:
# <code>loss.to_host()</code> as well.</details>
# <details><summary>Hint 3</summary><code>row = np.concatenate([array.ravel(), …])</code> makes the long array. To take
# it apart, let <code>begin</code> grow by <code>grad.size</code> each time, and <code>reshape(grad.shape)</code> each
# piece. The array and the room for the sum need the same dtype, float32: <code>np.empty_like(row)</code>.</details>
#
# Now train with it: in three real processes, and in one process alone. Are the two curves the same?

# %% demo
batch = np.random.default_rng(14).normal(size=(200, 6)).astype(np.float32)
wanted = np.sin(batch[:, :3]).astype(np.float32)


def network_loss(parameters, x, y):
    w1, b1, w2, b2 = parameters
    hidden = ag.tanh(ag.matmul(on_device(x), w1) + b1)
    return ag.mean(ag.square(ag.matmul(hidden, w2) + b2 - on_device(y)))


def train(comm):
    """The losses of 30 steps, and the weights in the end."""
    rng, queue = np.random.default_rng(1), manager.default("auto").queue
    parameters = [Parameter.from_host(queue, 0.5 * rng.normal(size=shape))
                  for shape in [(6, 16), (16,), (16, 3), (3,)]]
    losses = []
    for _ in range(30):
        losses.append(parallel_gradients(comm, network_loss, parameters, batch, wanted))
        for parameter in parameters:
            parameter.write(parameter.to_host() - 0.3 * parameter.grad.to_host())
    return losses, np.concatenate([parameter.to_host().ravel() for parameter in parameters])


print("three processes start: each imports the engine, then they train together …", flush=True)
three = start(train, 3)
print("one process trains alone …", flush=True)
(alone,), _ = simulate(train, 1)
weights = [result[1] for result in three]
print("all three processes have the same bits:", all((w == weights[0]).all() for w in weights))
print(f"largest difference to one process:      {abs(weights[0] - alone[1]).max():.1e}")
plot_losses({"alone": alone[0], "three processes": three[0][0]}, "The same training")

# %% [markdown]
# The curves are the same, except for the last digits: a sum in another order is rounded differently. The three
# processes agree with each other **in every bit**. They have to, since weights are never sent: the weights stay equal
# only because all processes start with equal ones and add the same numbers in every step.

# %% [markdown]
# ## 2 · What is in an all-reduce?
#
# There are p processes with n numbers each. If every process sends all of its numbers to every other one, each sends (p
# − 1)·n numbers. With a thousand processes that is far too much.
#
# In a <dfn>ring all-reduce</dfn>, the processes form a circle, and each sends parts of its array only to its right
# neighbour until all have the sum. Every array is cut in p parts. In the first p − 1 rounds, each process adds its own
# numbers to the part that arrives. In the other p − 1 rounds, the finished sums travel round the circle and are copied.
#
# ```
# 3 processes, parts A B C.  ₀ ₁ ₂: whose numbers are in it         ▸: what is sent to the right next
#
#              process 0            process 1            process 2
# start      ▸A₀   B₀   C₀        A₁  ▸B₁   C₁        A₂   B₂  ▸C₂
# add         A₀   B₀  ▸C₀₂      ▸A₀₁  B₁   C₁        A₂  ▸B₁₂  C₂
# add         A₀  ▸B₀₁₂ C₀₂       A₀₁  B₁  ▸C₀₁₂     ▸A₀₁₂ B₁₂  C₂      each has one part complete
# hand on    ▸A₀₁₂ B₀₁₂ C₀₂       A₀₁ ▸B₀₁₂ C₀₁₂      A₀₁₂ B₁₂ ▸C₀₁₂
# hand on     A₀₁₂ B₀₁₂ C₀₁₂      A₀₁₂ B₀₁₂ C₀₁₂      A₀₁₂ B₀₁₂ C₀₁₂    everybody has all
# ```
#
# Each line shows what is there after its round. Follow part A: it starts in process 0 and collects numbers on its way.
# Who sends which part in round k = 0, 1, …? In the first round, process r sends part r. In each later round, it sends
# on the part that it has just received. In the first p − 1 rounds it first adds its own numbers to this part.

# %% [markdown]
# ### Predict, then run
#
# A million numbers of 4 bytes. How many megabytes (of 10⁶ bytes) does each process **send**, with 4 processes in the
# ring, and with 100?

# %% predict
ring_guess = predict(with_4=..., with_100=...)

# %% exercise="parallel.ring" own="an algorithm that MPI has inside; the package calls MPI's"
def ring_all_reduce(comm, array):
    """The sum of all processes' arrays, by messages to the right neighbour only.

    comm    rank, size, and sendrecv: `got = comm.sendrecv(mine, dest=…, source=…)` sends `mine` to
            process dest, and returns what process source sends to this one. The right neighbour
            of the last process is the first
    array   1-D, equally long in all processes, of any length; it stays as it is

    returns the sum, a new array, with the same bits in all processes. Each process sends
    2 (size − 1) messages of one part each; the parts are np.array_split(array, comm.size).

    >>> simulate(lambda comm: ring_all_reduce(comm, np.array([1, 10, 100]) + comm.rank), 2)[0]
    [array([  3,  21, 201]), array([  3,  21, 201])]
    """
    ### BEGIN SOLUTION
    size, rank = comm.size, comm.rank
    right, left = (rank + 1) % size, (rank - 1) % size
    parts = np.array_split(array, size)
    for step in range(size - 1):
        got = comm.sendrecv(parts[(rank - step) % size], dest=right, source=left)
        here = (rank - step - 1) % size
        parts[here] = parts[here] + got
    for step in range(size - 1):
        got = comm.sendrecv(parts[(rank - step + 1) % size], dest=right, source=left)
        parts[(rank - step) % size] = got
    return np.concatenate(parts)
    ### END SOLUTION

# %% check="parallel.ring"

# %% [markdown]
# <details><summary>Hint 1</summary>Two loops of <code>size - 1</code> rounds: in the first, what arrives is added, in the
# second it replaces what is there.</details>
# <details><summary>Hint 2</summary>In round k of the first loop, process r sends part (r − k) mod p, and so part
# (r − 1 − k) mod p arrives: that is what its left neighbour sends. Python's <code>%</code> is never negative.</details>
# <details><summary>Hint 3</summary>After the first loop, process r has part (r + 1) mod p complete. In the second, it
# sends (r + 1 − k) mod p, and (r − k) mod p arrives.</details>
# <details><summary>Hint 4</summary>The parts of <code>np.array_split</code> are views: <code>parts[i] += got</code>
# would write into the caller's array.</details>

# %% demo
def send_all(comm, array):
    """The sum, if everybody sends everything to everybody."""
    total = array.copy()
    for step in range(1, comm.size):
        total += comm.sendrecv(array, dest=(comm.rank + step) % comm.size,
                               source=(comm.rank - step) % comm.size)
    return total


def megabytes(way, size, numbers=100_000):
    """What process 0 sends when a million numbers are summed; measured with fewer."""
    _, sent = simulate(lambda comm: way(comm, np.ones(numbers, np.float32)), size)
    return sum(nbytes for _, nbytes in sent[0]) / 1e6 * (1_000_000 / numbers)


ring_guess.compare(with_4=megabytes(ring_all_reduce, 4),
                   with_100=megabytes(ring_all_reduce, 100, 1000))
sizes = [2, 4, 8, 16, 32]
plot_lines(sizes, {"everybody to everybody": [megabytes(send_all, p, 1600) for p in sizes],
                   "ring": [megabytes(ring_all_reduce, p, 1600) for p in sizes]},
           "MB that each process sends, for 4 MB of gradients", "processes", "MB", log="y")

# %% [markdown]
# Each process sends 2 (p − 1)/p times the array, so **less than twice** the array, however many processes there are.
# That is why gradients can be summed over thousands of machines. What does grow with p is the number of rounds. This
# will matter in section 7.
#
# Your ring runs between real processes, too. MPI's own all-reduce is written in C, and does not have to turn each array
# into a packed copy (a *pickle*) first. So it should be faster. By how much?

# %% demo
def compare_rings(comm):
    """Milliseconds of (your ring, MPI's Allreduce) for a million numbers, and the difference."""
    array, total, least = np.full(1_000_000, comm.rank + 1.0, np.float32), None, []
    total = np.empty_like(array)
    for way in (lambda: ring_all_reduce(comm, array), lambda: comm.Allreduce(array, total)):
        seconds = []
        for _ in range(5):
            comm.Barrier()
            begin = time.perf_counter()
            result = way()
            seconds.append(time.perf_counter() - begin)
            if result is not None:
                ours = result
        least.append(1000 * min(seconds))
    return *least, abs(ours - total).max()


(ring_ms, mpi_ms, difference), *_ = start(compare_rings, 3)
print(f"your ring: {ring_ms:.1f} ms, Allreduce: {mpi_ms:.1f} ms, difference: {difference:g}")

# %% [markdown]
# ## 3 · Talk more rarely: micro-batches
#
# Lesson 07 added up the gradients of micro-batches, to save memory. Between processes this saves messages: each process
# goes through **all** of its micro-batches, and then one message is enough.
#
# From here on, as in practice, each process has rows of its own. It does not know the rows of the other processes, and
# not even how many they have. But the mean over all rows needs the number of all rows. In which message could it be
# sent?

# %% exercise="parallel.micro" own="a training loop; the package leaves loops to its users"
def micro_gradients(comm, gradient_of, w, x, y, size):
    """The gradient of the mean loss over the rows of all processes, with one Allreduce.

    gradient_of   gradient_of(w, rows of x, the same rows of y): gradient of the mean loss over
                  these rows, one at least; an array like w
    w             1-D, float64, equal in all processes
    x, y          the rows of this process alone. Other processes may have more, or fewer, or none;
                  all processes together have at least one row
    size          the most rows in a micro-batch: gradient_of may not get more at once
    returns an array like w

    >>> def gradient_of(w, x, y):
    ...     return np.mean(x * w - y, keepdims=True)
    >>> def program(comm):
    ...     x = np.arange(1.0, 3.0 + comm.rank)
    ...     return micro_gradients(comm, gradient_of, np.zeros(1), x, -x, 2)
    >>> simulate(program, 2)[0]
    [array([1.8]), array([1.8])]
    """
    ### BEGIN SOLUTION
    row = np.zeros(w.size + 1)
    row[-1] = len(x)
    for begin in range(0, len(x), size):
        part = slice(begin, begin + size)
        row[:-1] += len(x[part]) * gradient_of(w, x[part], y[part])
    total = np.empty_like(row)
    comm.Allreduce(row, total)
    return total[:-1] / total[-1]
    ### END SOLUTION

# %% check="parallel.micro"

# %% [markdown]
# <details><summary>Hint 1</summary>Rows times mean is a sum. Sums can be added, over micro-batches and over processes;
# divide once, at the end.</details>
# <details><summary>Hint 2</summary>Send one more number at the end of the message: how many rows you have. Divide by
# the sum of these numbers.</details>

# %% demo
rng = np.random.default_rng(3)
data_x = rng.normal(size=(4096, 50))
data_y = data_x @ rng.normal(size=50) + rng.normal(size=4096)


def squares_gradient(w, x, y):
    """The gradient of the mean of (x·w − y)² / 2."""
    return x.T @ (x @ w - y) / len(x)


def one_step_each(comm, size):
    """size None: one message, after all rows. Else one after each `size` rows, and the mean."""
    x, y = (np.array_split(array, comm.size)[comm.rank] for array in (data_x, data_y))
    if size is None:
        return micro_gradients(comm, squares_gradient, np.zeros(50), x, y, 64)
    parts = zip(np.array_split(x, len(x) // size), np.array_split(y, len(y) // size))
    return np.mean([micro_gradients(comm, squares_gradient, np.zeros(50), *part, 64)
                    for part in parts], axis=0)


for label, size in {"after each 64 rows": 64, "after all rows": None}.items():
    results, sent = simulate(lambda comm: one_step_each(comm, size), 4)
    print(f"{label:19} messages: {len(sent[0]):3}, bytes: {sum(b for _, b in sent[0]):6,}, "
          f"first number: {results[0][0]:.6f}")

# %% [markdown]
# ## 4 · Talk even more rarely: local steps
#
# The next idea is to send weights in place of gradients, and to send them rarely. In <dfn>federated averaging</dfn>,
# each process makes several **steps** on its own rows, and then the weights of all processes are averaged. In this way
# telephones learn to predict what their owners type. The data never leaves the telephone, and few messages are enough
# for a slow connection.
#
# ```
# w ─┬─ process 0: step, step, step ─┐
#    ├─ process 1: step, step, step ─┼─ average ─ w ─┬─ step, step, step ─ …
#    └─ process 2: step, step, step ─┘               └─ …
# ```
#
# In the average, a process with more rows counts more.

# %% exercise="parallel.local" own="a training loop; the package leaves loops to its users"
def local_round(comm, gradient_of, w, x, y, lr, steps):
    """The weights after `steps` steps of gradient descent in each process, and one averaging.

    gradient_of   gradient_of(w, x, y): gradient of the mean loss over these rows, an array like w
    w             1-D, float64, equal in all processes: where each process starts. It stays as it is
    x, y          the rows of this process alone, one at least
    lr, steps     each step goes from w to w − lr · gradient
    returns Σ nᵢ wᵢ / Σ nᵢ, where process i has nᵢ rows and came to wᵢ; one Allreduce

    >>> def program(comm):
    ...     target = np.full((1 + comm.rank, 1), 4.0 * comm.rank)
    ...     towards = lambda w, x, y: w - np.mean(y)
    ...     return local_round(comm, towards, np.zeros(1), target, target, 0.5, 2)
    >>> simulate(program, 2)[0]
    [array([2.]), array([2.])]
    """
    ### BEGIN SOLUTION
    mine = w.copy()
    for _ in range(steps):
        mine = mine - lr * gradient_of(mine, x, y)
    row = np.append(len(x) * mine, len(x))
    total = np.empty_like(row)
    comm.Allreduce(row, total)
    return total[:-1] / total[-1]
    ### END SOLUTION

# %% check="parallel.local"

# %% [markdown]
# <details><summary>Hint 1</summary>Compare with the last exercise: again a sum over all processes is divided by how
# many rows there are. What is summed now?</details>
# <details><summary>Hint 2</summary><code>np.append(array, number)</code> is the message. And <code>mine -= …</code> on
# <code>mine = w</code> would change the caller's w: copy it first.</details>
#
# ### Predict, then run
#
# Four processes fit a straight line to points of a curve. **Mixed**: each process has points from everywhere.
# **Sorted**: the first process has the leftmost quarter of the points, the last one the rightmost. Which comes nearer
# to the best line, 60 rounds of 1 step or 60 rounds of 50 steps? Write 1 or 50, for mixed and for sorted.

# %% predict
local_guess = predict(mixed=..., sorted=...)

# %% demo
rng = np.random.default_rng(5)
t = rng.uniform(-2, 2, size=800)
line_x, line_y = np.stack([t, np.ones_like(t)], axis=1), np.exp(t) / 4
best = np.linalg.lstsq(line_x, line_y, rcond=None)[0]


def above_best(w):
    """How far the loss over all rows is above the least possible."""
    return np.mean((line_x @ w - line_y) ** 2) - np.mean((line_x @ best - line_y) ** 2)


def rounds(order, steps, count=60):
    def program(comm):
        mine = np.array_split(order, comm.size)[comm.rank]
        w, losses = np.zeros(2), []
        for _ in range(count):
            losses.append(above_best(w))
            w = local_round(comm, squares_gradient, w, line_x[mine], line_y[mine], 0.05, steps)
        return losses
    return simulate(program, 4)[0][0]


curves = {f"{name}, {steps} local": rounds(order, steps) for steps in (1, 5, 50) for name, order in
          {"mixed": np.arange(800), "sorted": np.argsort(t)}.items()}
local_guess.compare(**{name: min((1, 50), key=lambda s: curves[f"{name}, {s} local"][-1])
                       for name in ("mixed", "sorted")})
plot = plot_losses(curves, "Above the best line, after each message")
plot.axes.set(xlabel="rounds, one message each", ylabel="loss above the best")
plot.legend(loc="upper left", bbox_to_anchor=(1, 1))
plot

# %% [markdown]
# Local steps save messages and cost little, as long as all processes have the same kind of rows. If not, each process
# moves towards **its own** best line, and the average of four best lines is not the best line for all. So the loss
# stops falling before it reaches the least possible value. With more local steps it stops sooner, and at a larger
# value. With one step this does not happen: that is exactly gradient descent on all rows.

# %% [markdown]
# ## 5 · Talk more briefly: compression
#
# Most numbers of a gradient are small. So send only the few largest: an index and a value for each. What happens to the
# others? Suppose that one number is sent and the others are thrown away. Then a weight whose gradient is always the
# second largest **never** moves. With <dfn>error feedback</dfn>, the numbers that a compressed message leaves out are
# kept and added to the next gradient. So they grow until they are sent. The drawing shows three steps that send one
# number each:
#
# ```
# gradient     0.9  0.5 −0.1      0.9  0.5 −0.1      0.9  0.5 −0.1
# + rest       0    0    0        0    0.5 −0.1      0.9  0   −0.2
# sent         0.9                     1.0           1.8
# new rest     0    0.5 −0.1      0.9  0   −0.2      0    0.5 −0.3
# ```

# %% exercise="parallel.compress" own="a way to send less; the package sends all numbers"
class Compressor:
    """Sums gradients over all processes, sending only `keep` numbers of each.

    keep   how many numbers are sent: at least 1, at most the size of the gradients
    rest   what was not sent yet: 0 at first, then an array like the gradients
    """

    def __init__(self, keep):
        ### BEGIN SOLUTION
        self.keep = keep
        self.rest = 0
        ### END SOLUTION

    def select(self, gradient):
        """(indices, values): where the absolute values of `gradient + rest` are largest, and the
        numbers of `gradient + rest` there.

        gradient   1-D, float64; it stays as it is. In `gradient + rest`, no two absolute values
                   are equal
        returns two arrays of length `keep`, in any order. Everything else stays in the rest.

        >>> compressor = Compressor(1)
        >>> [compressor.select(np.array([0.9, 0.5, -0.1])) for _ in range(2)]
        [(array([0]), array([0.9])), (array([1]), array([1.]))]
        >>> compressor.rest
        array([ 0.9,  0. , -0.2])
        """
        ### BEGIN SOLUTION
        self.rest = self.rest + gradient
        indices = np.argsort(-abs(self.rest))[:self.keep]
        values = self.rest[indices]
        self.rest[indices] = 0
        return indices, values
        ### END SOLUTION

    def all_reduce(self, comm, gradient):
        """The sum of what all processes select, an array like `gradient`. One
        comm.allgather(thing), which returns the list of the things of all processes; the thing is
        a pair of arrays, as select returns it.
        """
        ### BEGIN SOLUTION
        total = np.zeros_like(gradient)
        for indices, values in comm.allgather(self.select(gradient)):
            total[indices] += values
        return total
        ### END SOLUTION

# %% check="parallel.compress"

# %% [markdown]
# <details><summary>Hint 1</summary><code>np.argsort(-abs(a))</code> sorts by absolute value, the largest
# first.</details>
# <details><summary>Hint 2</summary><code>a[indices]</code> with an array of indices is a copy; so after
# <code>values = a[indices]</code> you may set <code>a[indices] = 0</code>.</details>
# <details><summary>Hint 3</summary>Two processes may select the same index: both values count. Start from zeros, and
# <code>+=</code> for each process.</details>

# %% demo
class Forgetful(Compressor):
    """Throws away what is not sent."""

    def select(self, gradient):
        chosen = super().select(gradient)
        self.rest = 0
        return chosen


def sparse_training(make, steps):
    """(losses, bytes sent by then) for `make()` in each of four processes; None: everything."""
    def program(comm):
        x, y = (np.array_split(array, comm.size)[comm.rank] for array in (data_x, own_y))
        w, losses, compressor = np.zeros(50), [], make and make()
        for _ in range(steps):
            losses.append(np.mean((data_x @ w - own_y) ** 2) - floor)
            gradient, total = squares_gradient(w, x, y), np.empty(50)
            if compressor:
                total = compressor.all_reduce(comm, gradient)
            else:
                comm.Allreduce(gradient, total)
            w = w - 0.1 * total / comm.size
        return losses
    results, sent = simulate(program, 4)
    return results[0], np.cumsum([nbytes for _, nbytes in sent[0]])


# The rows of the four processes differ in kind: each process has slopes of its own in addition.
own_y = data_y + np.concatenate([x @ rng.normal(size=50) / 4 for x in np.array_split(data_x, 4)])
floor = np.mean((data_x @ np.linalg.lstsq(data_x, own_y, rcond=None)[0] - own_y) ** 2)
plot = plot_lines([], {}, "Loss above the best, over bytes sent", "kilobytes sent by a process",
                  "loss above the best", log="y")
for (name, make, steps), style in zip([("all 50 numbers", None, 100),
                                       ("5 numbers, rest kept", lambda: Compressor(5), 500),
                                       ("5 numbers, rest thrown away", lambda: Forgetful(5), 500)],
                                      ["-", "--", ":"]):
    losses, nbytes = sparse_training(make, steps)
    plot.axes.plot(nbytes / 1000, losses, style, label=name)
    print(f"{name:28} bytes a step: {nbytes[0]:4}, in the end {losses[-1]:.1e} above the best")
plot.legend()
plot

# %% [markdown]
# With 5 numbers, the loss falls fast for few bytes. With the rest **thrown away**, it then stops falling: at the best
# weights the sum of the four gradients is 0, but the sum of what is sent, five numbers of each, is not. With the rest
# **kept**, nothing is lost, but some numbers are sent several steps too late, and by then the weights have changed.
# This disturbs the training a little, so this curve stops falling, too, but at a far smaller value. A smaller learning
# rate makes that value smaller still.

# %% [markdown]
# ## 6 · Talk while you work: overlap
#
# Backward finishes the last layer first. The gradient of the last layer could be sent **while** backward computes the
# layer before it. `request = comm.Iallreduce(array, room)` only starts the sum, and returns at once; `request.Wait()`
# waits until the sum is there. Between the two, both arrays belong to MPI: do not read or change them.
#
# One message for each small layer would be too many messages. A <dfn>bucket</dfn> is a group of gradients that are
# collected and sent in one message.

# %% exercise="parallel.overlap" own="sending while computing; the package sends when backward is done"
def overlapped(comm, gradients, bucket):
    """The sum of each gradient over all processes; sent while the next ones are computed.

    comm        Iallreduce(array, room for the sum), which returns a request with Wait()
    gradients   an iterator over 1-D float64 arrays, at least one; their number and their lengths
                are the same in all processes. Each array is computed only when it is asked for:
                take them one by one
    bucket      as soon as this many numbers, or more, are collected, they are sent in one
                Iallreduce, before the next gradient is asked for. Gradients that are left in the
                end, if any, are sent, too
    returns the list of the sums, in the order of the gradients. The first Wait comes when
    everything is sent.

    >>> def program(comm):
    ...     return overlapped(comm, iter([np.ones(2), np.ones(3), np.ones(1)]), 4)
    >>> results, sent = simulate(program, 2)
    >>> results[0], sent[0]
    ([array([2., 2.]), array([2., 2., 2.]), array([2.])], [('Iallreduce', 40), ('Iallreduce', 8)])
    """
    ### BEGIN SOLUTION
    requests, arrays, lengths, collected = [], [], [], []

    def send():
        message = np.concatenate(collected)
        arrays.append((message, np.empty_like(message)))
        requests.append(comm.Iallreduce(*arrays[-1]))
        collected.clear()

    for gradient in gradients:
        lengths.append(gradient.size)
        collected.append(gradient)
        if sum(part.size for part in collected) >= bucket:
            send()
    if collected:
        send()
    for request in requests:
        request.Wait()
    total = np.concatenate([received for _, received in arrays])
    return np.split(total, np.cumsum(lengths)[:-1])
    ### END SOLUTION

# %% check="parallel.overlap"

# %% [markdown]
# <details><summary>Hint 1</summary>Four lists: what is collected, the requests, the arrays in which sums arrive, the
# lengths of all gradients.</details>
# <details><summary>Hint 2</summary>A plain <code>for gradient in gradients:</code> asks for the next one only when its
# body has run. <code>list(gradients)</code> would compute them all first.</details>
# <details><summary>Hint 3</summary>At the end: <code>Wait()</code> for all requests, then concatenate what arrived, and
# <code>np.split(total, np.cumsum(lengths)[:-1])</code>.</details>
#
# When would each message be sent? We do not measure it, we calculate it. Two numbers describe the connection: a message
# takes 0.2 ms before it starts, and then 1 ms per million numbers. There are eight layers of a million numbers, with 1
# ms of backward each. In the picture, «line» is the connection:

# %% demo
def schedule(bucket, layers=8, numbers=1e6, work=1e-3, latency=0.2e-3, per_number=1e-9):
    """The rows of a timeline: backward, and the messages that follow it."""
    rows, line_free, collected = [], 0.0, 0.0
    for layer in range(layers):
        ready = (layer + 1) * work
        rows.append(("backward", layer * work, layer * work, ready - 0.03 * work))
        collected += numbers
        if collected >= bucket or layer == layers - 1:
            begin = max(ready, line_free)
            line_free = begin + latency + collected * per_number
            rows.append((f"line, {bucket / 1e6:g} million", ready, begin, line_free - 0.03 * work))
            collected = 0.0
    return rows


all_rows = schedule(8e6) + [row for bucket in (4e6, 2e6, 1e6) for row in schedule(bucket)[1:]
                            if row[0] != "backward"]
plot_timeline(all_rows, "Backward, and the line for buckets of four sizes")

# %% [markdown]
# If there is only one bucket, it waits until backward is done. Smaller buckets are sent earlier. If they are too small,
# the 0.2 ms are paid too often. (PyTorch's default is 25 MB.)
#
# Does overlap help on your computer? The next cell starts two processes, with backward in NumPy, without and with
# overlap. It may be no faster with overlap: both processes share one computer, so moving numbers takes time away from
# computing.

# %% demo
def layer_gradients(rank, layers=8, width=256):
    """Gradients of layers, the last one first, each computed when it is asked for."""
    rng = np.random.default_rng(rank)
    h, w = rng.normal(size=(256, width)), rng.normal(size=(width, width)) / 16
    for _ in range(layers):
        yield (h.T @ h).ravel()
        h = h @ w


def compare_overlap(comm):
    """Milliseconds with (one bucket at the end, a bucket for each two layers)."""
    least = []
    for bucket in (np.inf, 2 * 256 * 256):
        seconds = []
        for _ in range(6):
            comm.Barrier()
            begin = time.perf_counter()
            overlapped(comm, layer_gradients(comm.rank), bucket)
            seconds.append(time.perf_counter() - begin)
        least.append(1000 * min(seconds))
    return least


(at_the_end, early), _ = start(compare_overlap, 2)
print(f"one message at the end: {at_the_end:.1f} ms, buckets on the way: {early:.1f} ms")

# %% [markdown]
# ## 7 · What it costs: four processes, and a thousand
#
# First measure: the same batch, shared by 1, 2, 3 and 4 processes. How much faster do you expect two processes to be,
# and four? (How many cores has your computer?)

# %% demo
def timed_steps(comm):
    """Milliseconds of a step (computing, talking), the least of several."""
    rng = np.random.default_rng(comm.rank)
    rows = 4096 // comm.size
    x, w = rng.normal(size=(rows, 256)), rng.normal(size=(256, 256)) / 16
    total, least = np.empty_like(w), []
    for _ in range(8):
        comm.Barrier()
        begin = time.perf_counter()
        h = np.tanh(x @ w)
        gradient = x.T @ (h * (1 - h * h)) / rows
        computed = time.perf_counter()
        comm.Barrier()  # wait for the slowest, so that talking is talking alone
        waited = time.perf_counter()
        comm.Allreduce(gradient, total)
        least.append((computed - begin, time.perf_counter() - waited))
    return 1000 * np.min(least, axis=0)


processes = [1, 2, 3, 4]
measured = []
for p in processes:  # each line takes seconds: the processes start, and import NumPy
    measured.append(np.max(start(timed_steps, p), axis=0))
    print("processes: {}, computing {:6.2f} ms, talking {:5.2f} ms".format(p, *measured[-1]))
measured = np.array(measured)
speedup = measured[0].sum() / measured.sum(axis=1)
plot_lines(processes, {"measured": speedup, "ideal": processes}, "One batch shared out",
           "processes", "times faster than one")

# %% [markdown]
# Two things can keep the measured curve below the ideal one: there are more processes than cores, or talking takes
# time, too. (If talking takes longer than the work that is saved, the curve even falls.) Which of the two matters more
# on your computer? Compare the printed times.

# %% [markdown]
# You do not have a thousand machines, but you can calculate their time. Two numbers describe a connection. The
# <dfn>latency</dfn> of a connection is the seconds before a message of any length starts. The <dfn>bandwidth</dfn> of a
# connection is how many bytes per second it carries once a message has started. Compare two ways to do an all-reduce:
#
# - **ring**: 2 (p − 1) rounds. In each round, each machine sends one message with 1/p of the bytes.
# - **tree**: sums go up a binary tree and the result comes down, in 2 ⌈log₂ p⌉ rounds. In each round, a machine sends at
#   most one message, with **all** the bytes. (⌈x⌉ is x rounded up to a whole number.)

# %% exercise="parallel.scaling" own="a count on paper; nothing in the package needs it"
def step_seconds(machines, rows, per_row, nbytes, latency, bandwidth, way="ring"):
    """(computing, talking): the seconds of one training step, if the rows are shared out.

    machines    p, 1 at least. A machine alone does not talk
    rows        of the whole batch, shared out as evenly as possible; the largest share decides
    per_row     seconds of forward and backward for one row
    nbytes      of all gradients together
    latency     seconds before a message starts; after that, bandwidth bytes per second
    way         "ring" or "tree", as above. Messages of one round travel at the same time

    >>> step_seconds(4, 10, 2.0, 800, 0.5, 100)
    (6.0, 15.0)
    >>> step_seconds(4, 10, 2.0, 800, 0.5, 100, way="tree")
    (6.0, 34.0)
    """
    ### BEGIN SOLUTION
    computing = -(-rows // machines) * per_row
    if way == "ring":
        rounds, message = 2 * (machines - 1), nbytes / machines
    else:
        rounds, message = 2 * (machines - 1).bit_length(), nbytes
    return computing, rounds * (latency + message / bandwidth)
    ### END SOLUTION

# %% check="parallel.scaling"

# %% [markdown]
# <details><summary>Hint 1</summary>With 10 rows for 4 machines, the largest share has 3. To round up without a float:
# <code>-(-rows // machines)</code>.</details>
# <details><summary>Hint 2</summary>Seconds = rounds · (latency + bytes of one message / bandwidth). The two ways differ
# in the number of rounds, and in the bytes of a message.</details>
# <details><summary>Hint 3</summary>⌈log₂ p⌉ is <code>(p - 1).bit_length()</code>. For p = 1 it is 0.</details>
#
# ### Predict, then run
#
# There are 32,768 rows, 0.1 ms each; 100 MB of gradients; and a connection with 20 μs latency and 10 GB/s. The
# <dfn>efficiency</dfn> of parallel training is the share of the time in which the machines compute. What is the
# efficiency with 1,024 machines in a ring, in percent?

# %% predict
scaling_guess = predict(percent_with_1024=...)

# %% demo
line = dict(nbytes=100e6, latency=20e-6, bandwidth=10e9)
machines = [2**k for k in range(11)]


def efficiency(p, rows, way="ring", nbytes=100e6):
    computing, talking = step_seconds(p, rows, 1e-4, **line | {"nbytes": nbytes}, way=way)
    return 100 * computing / (computing + talking)


scaling_guess.compare(percent_with_1024=efficiency(1024, 32_768))
plot_lines(machines, {
    "32,768 rows, ring": [efficiency(p, 32_768) for p in machines],
    "32,768 rows, tree": [efficiency(p, 32_768, "tree") for p in machines],
    "1,024 rows per machine, ring": [efficiency(p, 1024 * p) for p in machines],
    "32,768 rows, ring, 1 % of the bytes": [efficiency(p, 32_768, nbytes=1e6) for p in machines],
}, "Efficiency on paper", "machines", "% of the time computing", log="x")

# %% [markdown]
# In <dfn>strong scaling</dfn>, more machines share the same batch: the work of each machine shrinks, but the time for
# messages does not. In <dfn>weak scaling</dfn>, each machine has the same number of rows, so the batch grows with the
# number of machines. Then the efficiency falls slowly. But from some size on, training with larger batches needs more
# epochs.
#
# Where do you see the ring's number of rounds? Look at the curve with 1 % of the bytes: there is hardly anything left
# to send, and the efficiency still falls. The next cell compares the ring with the tree:

# %% demo
few, many = 1e3, 100e6
for nbytes in (few, many):
    for p in (8, 1024):
        ring, tree = (step_seconds(p, 1, 0, nbytes, 20e-6, 10e9, way)[1]
                      for way in ("ring", "tree"))
        print(f"{nbytes:11,.0f} bytes, {p:4} machines: ring {1000 * ring:7.3f} ms, "
              f"tree {1000 * tree:7.3f} ms")

# %% [markdown]
# MPI libraries choose the way by the number of bytes and of processes.
#
# ## Errors one is likely to meet
#
# <details><summary><code>WaitsForEver: process 0 waits in Allreduce, …; process 1 has ended</code></summary> A
# collective call stands in an <code>if</code> that not all processes enter, or in a loop that runs more often in some.
# With real MPI there is no error: the program waits for ever.</details>
#
# <details><summary><code>BadMessage: Allreduce sends 7 numbers of float64, but there is room for 7 of
# float32</code></summary> A float32 array times a float64 number (an <code>np.float64</code>, from a mean, say) became
# float64. Real MPI sees only bytes: it would fill the room with wrong numbers, or crash.</details>
#
# <details><summary><code>BadMessage: the array was changed while it was being sent</code></summary> Between
# <code>Iallreduce</code> and <code>Wait</code>, the array was used again for the next bucket. Make a new one for each
# message.</details>
#
# <details><summary><code>all the input arrays must have same number of dimensions</code></summary> The loss is an array
# of shape <code>()</code>, and <code>np.concatenate</code> takes arrays with at least one axis: call
# <code>ravel()</code> on each array, also on the loss.</details>
#
# <details><summary><code>BadMessage: there is no process -1</code></summary> The left neighbour of process 0 is the
# last process: <code>(rank - 1) % size</code>. (Some real MPIs read −1 as "nobody" and send nothing.)
# </details>
#
# <details><summary>NaN in the sums</summary> <code>room</code> was read before <code>Wait()</code>. (The simulation
# fills it with NaN, so that you notice it.)</details>
#
# <details><summary><code>There are not enough slots available</code> from a real mpiexec</summary> Open MPI wants a
# core for each process, unless it is called with <code>--oversubscribe</code>. <code>start</code> does so.</details>

# %% [markdown] written="parallel.explain" points=3
# ## In your own words
#
# A friend trains on 4 machines and gets 3.6 times the speed. He rents 64, and it is only 20 times faster. He shows you:
# the batch is as large as before, his network has 400 MB of gradients, and they are sent in one message in each step,
# when backward is done. Name two things that he could change, say for each what it saves and **what it costs**, and say
# which you would try first. Use numbers from the plots above, or from `step_seconds`. Six sentences at most.
#
# <!-- BEGIN SOLUTION -->
# The batch stayed the same, so each machine computes a sixteenth of what it did, but the ring
# still sends nearly twice the 400 MB: the talking did not shrink with the work. First I would overlap: buckets that are
# sent during backward hide most of the talking and change no result; it costs some code, and helps only as long as
# there is backward to hide behind. Then more rows per machine, or several micro-batches per message (weak scaling):
# efficiency falls slowly in the plot, but the batch is larger, so there are fewer steps in an epoch, and the learning
# rate has to be set anew. Compression with the rest kept sends a few percent of the bytes, but updates come late, and
# it takes memory for the rest. Local steps talk once in k steps, but if the machines' rows differ, they end at another
# place (the loss stops falling too early in the plot).
#
# **How it is marked**
#
# - 1 point: why 64 machines are not 16 times as fast as 4: work per machine shrinks with p, the bytes sent do not (2 (p
#   − 1)/p ≈ 2), or numbers that show it.
# - 1 point: two changes, each with what it saves.
# - 1 point: what each of them costs, and a choice with a reason.
#
# Fewer bytes per number (float16) is a right change, too: it costs precision.
# <!-- END SOLUTION -->

# %% [markdown]
# ## The same in other words
#
# | yours | PyTorch | netcl, as in engine 3 | JAX |
# |---|---|---|---|
# | `start(program, 4)` | `torchrun --nproc-per-node 4` | `mpiexec -n 4 python train.py` | one process, `jax.devices()` |
# | `comm.rank`, `comm.size` | `dist.get_rank()`, `get_world_size()` | `distributed.rank()`, `world_size()` | `jax.lax.axis_index` |
# | `parallel_gradients` | `DistributedDataParallel(model)` | `all_reduce_gradients(parameters)` | `jax.lax.pmean` |
# | equal weights at the start | DDP sends those of rank 0 | `broadcast_parameters(parameters)` | replicated arrays |
# | `micro_gradients` | `with model.no_sync():` | a loop | a loop |
# | `local_round` | `PeriodicModelAverager` | `all_reduce(tensors, "mean")` | |
# | `Compressor` | `register_comm_hook`, PowerSGD | | |
# | `overlapped`, its buckets | inside DDP, `bucket_cap_mb=25` | | XLA's scheduler |
# | `ring_all_reduce` | NCCL, Gloo | MPI | NCCL |
#
# On more than one machine, only the command changes: `mpiexec -hosts a,b,c,d -n 4 python train.py`.
#
# ## What comes next
#
# **15 attention**: the last lesson puts everything together. You build a small model on your engine, train it on a
# text, and let it write.
