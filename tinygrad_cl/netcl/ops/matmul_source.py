"""OpenCL C of matrix products C = A · B, with A (M, K), B (K, N), C (M, N).

    registers   for a CPU: a work-item computes a tile of ROWS × (VECTORS · LANES) numbers of C, all
                of it in registers. For each k it reads one row of B as vectors and ROWS numbers of
                A, and uses each many times. No local memory: on a CPU that is a copy.
    pack        rewrites a matrix as panels, (panels, K, WIDTH), so that a tile reads one line of
                memory
    local       for a GPU: a group shares tiles of A and B in local memory; a work-item computes a
                block of BLOCK × BLOCK numbers

Numbers of A lie at a_row · i + a_k · k, so a transposed A is only another pair of strides. Beyond
the edges of C, rows are computed twice and columns read behind the end, but nothing is stored.
"""

from tinygrad_cl.netcl.ops.elementwise_source import C_NAMES, settings

PACK = """
__kernel void pack(const long K, const long N, const long row, const long column, const long batch,
                   __global T *panels, __global const T *x) {
    const long panel = get_global_id(0), k = get_global_id(1), b = get_global_id(2);
    x += b * batch + k * row + panel * WIDTH * column;
    panels += ((b * get_global_size(0) + panel) * K + k) * WIDTH;
    for (int i = 0; i < WIDTH; i++)
        panels[i] = panel * WIDTH + i < N ? x[i * column] : (T)0;
}
"""

LOCAL = """
#define TILE (SIDE * BLOCK)
__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void matmul_local(const long M, const long N, const long K,
                  const long a_row, const long a_k, const long a_batch,
                  const long b_k, const long b_column, const long b_batch,
                  __global T *c, __global const T *a, __global const T *b) {
    __local T as[DEPTH][TILE + 1], bs[DEPTH][TILE + 1];  // one more: no two work-items on one bank
    const int x = get_local_id(0), y = get_local_id(1), me = y * SIDE + x;
    const long row = (long)get_group_id(1) * TILE, column = (long)get_group_id(0) * TILE;
    a += get_global_id(2) * a_batch;
    b += get_global_id(2) * b_batch;
    c += get_global_id(2) * M * N;
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
        for (int j = 0; j < BLOCK; j++)
            if (row + y + i * SIDE < M && column + x + j * SIDE < N)
                c[(row + y + i * SIDE) * N + column + x + j * SIDE] = sum[i][j];
}
"""


def pack_source(dtype, width):
    """The kernel that packs a matrix whose number (k, n) lies at row · k + column · n."""
    return f"{settings(dtype, 1)}#define WIDTH {width}\n{PACK}"


def local_source(dtype, side, block, depth):
    """The kernel for a GPU: groups of side × side work-items, depth numbers of K at a time."""
    sizes = f"#define SIDE {side}\n#define BLOCK {block}\n#define DEPTH {depth}\n"
    return settings(dtype, 1) + sizes + LOCAL


def registers_source(dtype, lanes, rows, vectors):
    """The kernel for a CPU, written out: rows × vectors accumulators, each a vector of `lanes`.

    Panels of B begin b_panel numbers after one another, rows of B in a panel b_k; those of A
    likewise, so that packed matrices and matrices as they are will both do.
    """
    width = lanes * vectors
    kind = C_NAMES[dtype] + (str(lanes) if lanes > 1 else "")
    each = [(i, j) for i in range(rows) for j in range(vectors)]

    def load(place):
        return f"vload{lanes}(0, {place})" if lanes > 1 else f"*({place})"

    def store(value, place):
        return f"vstore{lanes}({value}, 0, {place});" if lanes > 1 else f"*({place}) = {value};"

    begin = [f"__global const T *a{i} = a + min((long){i}, last) * a_row;" for i in range(rows)]
    begin += [f"V c{i}_{j} = (V)(0);" for i, j in each]
    step = [f"const V b{j} = {load(f'b + {j * lanes}')};" for j in range(vectors)]
    for i in range(rows):
        step += [f"const V s{i} = (V)(*a{i});  a{i} += a_k;"]
        step += [f"c{i}_{j} = fma(s{i}, b{j}, c{i}_{j});" for j in range(vectors)]
    whole = [f"if ({i} <= last) {{ " + " ".join(store(f"c{i}_{j}", f"c + {i} * N + {j * lanes}")
                                               for j in range(vectors)) + " }" for i in range(rows)]
    edge = [store(f"c{i}_{j}", f"tile[{i}] + {j * lanes}") for i, j in each]
    lines = "\n    "
    return f"""{settings(dtype, lanes)}#define V {kind}
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_registers(const long M, const long N, const long K,
                      const long a_panel, const long a_row, const long a_k, const long a_batch,
                      const long b_panel, const long b_k, const long b_batch,
                      __global T *c, __global const T *a, __global const T *b) {{
    const long row = (long)get_global_id(1) * {rows}, column = (long)get_global_id(0) * {width};
    const long last = M - row - 1;  // the last row of this tile that is there
    a += get_global_id(2) * a_batch + get_global_id(1) * a_panel;
    b += get_global_id(2) * b_batch + get_global_id(0) * b_panel;
    c += get_global_id(2) * M * N + row * N + column;
    {lines.join(begin)}
    for (long k = 0; k < K; k++, b += b_k) {{
        {(lines + '    ').join(step)}
    }}
    if (column + {width} <= N) {{
        {(lines + '    ').join(whole)}
    }} else {{
        T tile[{rows}][{width}];
        {(lines + '    ').join(edge)}
        for (int i = 0; i < {rows} && i <= last; i++)
            for (int j = 0; column + j < N; j++) c[i * N + j] = tile[i][j];
    }}
}}
"""
