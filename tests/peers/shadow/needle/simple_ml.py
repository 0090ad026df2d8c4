"""The exercises of needle's homework, which students write: as far as its tests ask for an engine."""

from verdicts import NotOffered


def parse_mnist(images, labels):
    raise NotOffered("MNIST's files, which are not fetched")


def softmax_loss(logits, one_hot):
    return (logits.exp().sum(1).log() - (logits * one_hot).sum(1)).sum() / logits.shape[0]


def nn_epoch(*arguments, **options):
    raise NotOffered("the training loop, an exercise of theirs")


def loss_err(h, y):
    raise NotOffered("the training loop, an exercise of theirs")
