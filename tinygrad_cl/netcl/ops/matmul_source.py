"""OpenCL C of matrix products C = A · B, with A (M, K), B (K, N), C (M, N).

    registers   for a CPU: ROWS × (VECTORS · LANES) elements of C at a time, a tile, all of it in
                registers. For each k a tile takes one row of B as vectors and ROWS elements of A,
                and uses each many times. A work-item goes down a panel, the columns of C that are
                as wide as a tile; where B is large, it copies its panel of B first, so that its
                tiles read one line of memory that stays near the core.
    transpose   rewrites a large transposed A row by row
    local       for a GPU: a group shares tiles of A and B in local memory; a work-item computes a
                block of BLOCK × BLOCK elements

Elements of A are at a_row · i + a_k · k, so a transposed A is only another pair of strides. Vectors
are read behind the end of a row, but never written there.

What is stored are expressions, an epilogue: of v0, the product, and v1, v2, …, the operands, each
of C's shape (a "matrix") or N numbers, the same for all rows of C (a "row").
"""

from string import Template

from tinygrad_cl.netcl.ops.c_source import settings, vector_settings

REGISTERS = Template("""
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_registers(const long M, const long N, const long K, const long height,
                      const long a_row, const long a_k, const long a_batch,
                      const long b_k, const long b_column, const long b_batch,
                      $outputs, __global const T *a, __global const T *b$operands) {
    $memory
    const long top = get_global_id(0) * height, bottom = min(top + height, M);
    const long column = get_global_id(1) * WIDTH, corner = get_global_id(2) * M * N + column;
    a += get_global_id(2) * a_batch;
    b += get_global_id(2) * b_batch + column * b_column;
    for (long k0 = 0; k0 < K; k0 += DEPTH) {  // one turn, as long as a panel fits into the memory
        const long depth = min(K - k0, (long)DEPTH);
        $copy
        for (long next = top; next < bottom; next += ROWS) {
            const long row = min(next, M - ROWS);  // the last tile begins within the one before
            $begin
            __global const T *x = a + row * a_row + k0 * a_k;
            $line;
            for (long k = 0; k < depth; k++, x += a_k, y += $stride) {
                $steps
            }
            V tile[ROWS * VECTORS] = {$tile};
            for (int i = next - row; i < ROWS; i++)
                for (int j = 0; j < VECTORS; j++) {
                    const long at = column + j * LANES, place = corner + (row + i) * N + j * LANES;
                    const V v0 = tile[i * VECTORS + j];
                    $results
                }
        }
    }
}
""")

COPY = """for (long k = 0; k < depth; k++)
            for (int j = 0; j < WIDTH; j += LANES) {
                const V v = LOAD(b + (k0 + k) * b_k + j);
                STORE(v, panel + k * WIDTH + j);
            }"""

TURN = Template("""for (long j = 0; j < WIDTH; j += LANES)
            for (long k = 0; k < depth; k += LANES) {
                $lines
            }""")

TRANSPOSE = Template("""
__kernel void transpose(const long rows, const long row, const long batch,
                        __global T *out, __global const T *x) {
    const long i = get_global_id(0) * LANES, j = get_global_id(1) * LANES;
    const long length = get_global_size(0) * LANES;  // of the rows written, a multiple of LANES
    x += get_global_id(2) * batch + j;
    out += (get_global_id(2) * get_global_size(1) * LANES + j) * length + i;
    $lines
}
""")

LOCAL = Template("""
#define TILE (SIDE * BLOCK)
__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void matmul_local(const long M, const long N, const long K,
                  const long a_row, const long a_k, const long a_batch,
                  const long b_k, const long b_column, const long b_batch,
                  $outputs, __global const T *a, __global const T *b$operands) {
    __local T as[DEPTH][TILE + 1], bs[DEPTH][TILE + 1];  // one more: no two work-items on one bank
    const int x = get_local_id(0), y = get_local_id(1), me = y * SIDE + x;
    const long row = (long)get_group_id(1) * TILE, column = (long)get_group_id(0) * TILE;
    a += get_global_id(2) * a_batch;
    b += get_global_id(2) * b_batch;
    T sum[BLOCK][BLOCK];
    for (int i = 0; i < BLOCK; i++) for (int j = 0; j < BLOCK; j++) sum[i][j] = 0;
    for (long k0 = 0; k0 < K; k0 += DEPTH) {
        for (int n = me; n < DEPTH * TILE; n += SIDE * SIDE) {  // neighbours fetch neighbours
            const int ak = a_k == 1 ? n % DEPTH : n / TILE, ai = a_k == 1 ? n / DEPTH : n % TILE;
            const int bk = b_k == 1 ? n % DEPTH : n / TILE, bj = b_k == 1 ? n / DEPTH : n % TILE;
            as[ak][ai] = row + ai < M && k0 + ak < K
                ? a[(row + ai) * a_row + (k0 + ak) * a_k] : (T)0;
            bs[bk][bj] = column + bj < N && k0 + bk < K
                ? b[(k0 + bk) * b_k + (column + bj) * b_column] : (T)0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < DEPTH; k++)
            for (int i = 0; i < BLOCK; i++)
                for (int j = 0; j < BLOCK; j++)
                    sum[i][j] = fma(as[k][y + i * SIDE], bs[k][x + j * SIDE], sum[i][j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++) {
            const long down = row + y + i * SIDE, at = column + x + j * SIDE;
            const long place = (get_global_id(2) * M + down) * N + at;
            if (down < M && at < N) {
                const V v0 = sum[i][j];
                $results
            }
        }
}
""")


def registers_source(dtype, lanes, rows, vectors, depth, copy, expressions, kinds):
    """The kernel for a CPU, with tiles of rows × vectors accumulators, each a vector of `lanes`.

    copy    what happens to a panel of B before it is used: None (nothing), "copy", or "turn" where
            B is transposed
    depth   how many of the K rows of a panel there is memory for
    expressions, kinds   what is stored; "row" or "matrix" for each operand
    """
    accumulators = [(i, j) for i in range(rows) for j in range(vectors)]
    names = [f"c{i}_{j}" for i, j in accumulators]
    begin = [
        f"V c{i}_{j} = k0 ? LOAD(out0 + corner + (row + {i}) * N + {j} * LANES) : (V)(0);" for i, j in accumulators
    ]
    steps = [f"const V b{j} = LOAD(y + {j} * LANES);" for j in range(vectors)]
    for i in range(rows):
        steps += [f"const V a{i} = (V)(x[{i} * a_row]);"]
        steps += [f"c{i}_{j} = fma(a{i}, b{j}, c{i}_{j});" for j in range(vectors)]
    # Until all of K is added up, out0 keeps the sums so far.
    values = [f"k0 + depth < K ? v0 : (V)({expressions[0]})", *expressions[1:]]
    results = _loads(kinds) + [f"put({value}, out{number} + place, N - at);" for number, value in enumerate(values)]
    turn = _transposed(lanes, "b + min(j + {0}, N - 1 - column) * b_column + k0 + k", "panel + (k + {0}) * WIDTH + j")
    sizes = {"ROWS": rows, "VECTORS": vectors, "WIDTH": vectors * lanes, "DEPTH": depth if copy else "K"}
    return _settings(dtype, lanes, sizes) + REGISTERS.substitute(
        _arguments(expressions, kinds),
        memory="__local T panel[DEPTH * WIDTH];" if copy else "",
        copy={None: "", "copy": COPY, "turn": TURN.substitute(lines=_lines(turn, 16))}[copy],
        line="__local const T *y = panel" if copy else "__global const T *y = b + k0 * b_k",
        stride="WIDTH" if copy else "b_k",
        begin=_lines(begin, 12),
        steps=_lines(steps, 16),
        tile=", ".join(names),
        results=_lines(results, 20),
    )


def transpose_source(dtype, lanes):
    """The kernel that rewrites matrices (rows, …), with rows `row` numbers apart, as (…, rows).

    Both lengths become multiples of `lanes`, and what lies beyond the matrix is undefined.
    """
    lines = _transposed(lanes, "x + min(i + {0}, rows - 1) * row", "out + {0} * length")
    return _settings(dtype, lanes, {}) + TRANSPOSE.substitute(lines=_lines(lines, 4))


def local_source(dtype, side, block, depth, expressions, kinds):
    """The kernel for a GPU: groups of side × side work-items, depth numbers of K at a time."""
    results = _loads(kinds) + [f"out{number}[place] = {value};" for number, value in enumerate(expressions)]
    sizes = {"SIDE": side, "BLOCK": block, "DEPTH": depth}
    return _settings(dtype, 1, sizes) + LOCAL.substitute(_arguments(expressions, kinds), results=_lines(results, 16))


def _settings(dtype, lanes, sizes):
    return (
        settings(dtype, lanes)
        + vector_settings(dtype, lanes)
        + "".join(f"#define {name} {value}\n" for name, value in sizes.items())
    )


def _arguments(expressions, kinds):
    """The parameters of a kernel that its epilogue decides."""
    outputs = [f"__global T *out{number}" for number in range(len(expressions))]
    operands = [f", __global const T *x{number + 1}" for number in range(len(kinds))]
    return {"outputs": ", ".join(outputs), "operands": "".join(operands)}


def _loads(kinds):
    """The lines that fetch v1, v2, …"""
    places = {"row": "at", "matrix": "place"}
    return [f"const V v{number} = LOAD(x{number} + {places[kind]});" for number, kind in enumerate(kinds, start=1)]


def _transposed(lanes, source, target):
    """The lines that load a square of lanes × lanes numbers by rows and store it by columns.

    source, target   where row or column number {0} lies

    Like shuffling a pack of cards: vector i of the first half and its partner in the second are
    interleaved into two neighbours. After log2(lanes) times, each number is in its place.
    """
    lines = [f"const V r0_{i} = LOAD({source.format(i)});" for i in range(lanes)]
    rounds = lanes.bit_length() - 1
    for turn in range(rounds):
        for i in range(lanes // 2):
            first, second = f"r{turn}_{i}", f"r{turn}_{i + lanes // 2}"
            low, high = f"r{turn + 1}_{2 * i}", f"r{turn + 1}_{2 * i + 1}"
            lines += [
                f"V {low}, {high};",
                f"{low}.even = {first}.lo; {low}.odd = {second}.lo;",
                f"{high}.even = {first}.hi; {high}.odd = {second}.hi;",
            ]
    return lines + [f"STORE(r{rounds}_{i}, {target.format(i)});" for i in range(lanes)]


def _lines(lines, indent):
    return ("\n" + " " * indent).join(lines)
