"""Place the boxes of a graph: Sugiyama's layered drawing (Sugiyama, Tagawa, Toda 1981), in its four steps.

1. Layers: every node lies right of its parents, and a leaf just left of its first use.
2. An edge over several layers gets an invisible waypoint in each, so that it bends around the boxes.
3. The order within a layer: the barycenter heuristic sorts the nodes by the mean position of their neighbours, in
   sweeps; the order with the fewest crossings is kept.
4. Heights: each node goes as near to its neighbours' mean as the order and the gaps allow.

Nodes are numbered 0 … n−1, with every parent before its children.
"""

WAYPOINT = 10.0  # the height of a waypoint, in pixels


def layered(parents, heights, gap=22.0):
    """(layer, y, routes) of a graph without cycles.

    parents    for each node, the list of its parents
    heights    for each node, the height of its box
    layer      for each node, its column: 0, 1, …
    y          for each node, the middle of its box; the topmost box begins at 0
    routes     {(parent, child): [(layer, y) of each waypoint]}

    >>> layered([[], [0], [1, 0]], [40, 40, 40])[0]
    [0, 1, 2]
    """
    layer = assign_layers(parents)
    edges, routes = [], {}
    layer_of, height_of = list(layer), list(map(float, heights))
    for child, ps in enumerate(parents):
        for parent in dict.fromkeys(ps):
            chain = []
            for column in range(layer[parent] + 1, layer[child]):
                chain.append(len(layer_of))
                layer_of.append(column)
                height_of.append(WAYPOINT)
            edges.extend(zip([parent, *chain], [*chain, child]))
            routes[parent, child] = chain
    columns = order_columns(layer_of, edges)
    y = place(columns, edges, height_of, gap)
    top = min((y[v] - height_of[v] / 2 for v in range(len(layer_of))), default=0.0)
    y = [v - top for v in y]
    return layer, y[: len(parents)], {edge: [(layer_of[v], y[v]) for v in chain] for edge, chain in routes.items()}


def assign_layers(parents):
    """The column of each node: one more than its last parent's; leaves move right, up to their first use."""
    layer, first_use = [], {}
    for child, ps in enumerate(parents):
        layer.append(1 + max((layer[p] for p in ps), default=-1))
        for p in ps:
            first_use[p] = min(first_use.get(p, layer[child]), layer[child])
    return [first_use[v] - 1 if not ps and v in first_use else layer[v] for v, ps in enumerate(parents)]


def order_columns(layer_of, edges, sweeps=12):
    """The nodes of each column from top to bottom, by the barycenter heuristic: few edges cross."""
    left, right = neighbours(len(layer_of), edges)
    columns = [[] for _ in range(1 + max(layer_of, default=-1))]
    for v, column in enumerate(layer_of):
        columns[column].append(v)
    best, fewest = [list(c) for c in columns], crossings(columns, right)
    for sweep in range(sweeps):
        forward = sweep % 2 == 0
        beside = left if forward else right
        rank = {v: i for column in columns for i, v in enumerate(column)}
        for column in columns if forward else reversed(columns):
            column.sort(key=lambda v: mean([rank[u] for u in beside[v]], rank[v]))
            rank.update((v, i) for i, v in enumerate(column))
        found = crossings(columns, right)
        if found < fewest:
            best, fewest = [list(c) for c in columns], found
    return best


def crossings(columns, right):
    """How many pairs of edges cross."""
    count = 0
    for column, following in zip(columns, columns[1:]):
        rank = {v: i for i, v in enumerate(following)}
        ends = [sorted(rank[w] for w in right[v]) for v in column]
        count += sum(a > b for i, upper in enumerate(ends) for lower in ends[i + 1 :] for a in upper for b in lower)
    return count


def place(columns, edges, height_of, gap, sweeps=24):
    """The height of every node: near its neighbours, in the given order, with gaps."""
    left, right = neighbours(len(height_of), edges)
    y = [0.0] * len(height_of)
    for column in columns:
        spread(column, [0.0] * len(column), y, height_of, gap)
    for sweep in range(sweeps):
        forward = sweep % 2 == 0
        for column in columns if forward else reversed(columns):
            # Both sides count in the last sweeps, so that a box sits between its inputs and its use.
            beside = [left[v] + right[v] if sweep >= sweeps - 6 else (left if forward else right)[v] for v in column]
            spread(column, [mean([y[u] for u in us], y[v]) for v, us in zip(column, beside)], y, height_of, gap)
    return y


def spread(column, wished, y, height_of, gap):
    """Put a column's nodes as near to the wished heights (least squares) as their order and the gaps allow.

    Without the room that the boxes above need, the heights only have to be non-decreasing: this is isotonic regression,
    solved by the pool-adjacent-violators algorithm.
    """
    offsets, offset = [], 0.0
    for above, v in zip([None, *column], column):
        offset += 0.0 if above is None else (height_of[above] + height_of[v]) / 2 + gap
        offsets.append(offset)
    pools = []  # of [mean, size]
    for want, offset in zip(wished, offsets):
        pools.append([want - offset, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    heights = [value for value, size in pools for _ in range(size)]
    for v, height, offset in zip(column, heights, offsets):
        y[v] = height + offset


def neighbours(n, edges):
    """For each node, those before it and those after it."""
    left, right = [[] for _ in range(n)], [[] for _ in range(n)]
    for parent, child in edges:
        left[child].append(parent)
        right[parent].append(child)
    return left, right


def mean(values, default):
    """The mean, or the default where there are no values."""
    return sum(values) / len(values) if values else default
