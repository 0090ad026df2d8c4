from verdicts import NotOffered

from mxnet import ndarray


class random:
    @staticmethod
    def uniform(size):
        return ndarray.uniform(shape=size)


zeros = ndarray.zeros


def __getattr__(name):
    raise NotOffered(f"np.{name}")
