from verdicts import NotOffered


def find_topo_sort(nodes):
    raise NotOffered("a list of the values on the way: nodes keep no values")
