"""Options of a training: assignments, stages, what is refused."""

from __future__ import annotations

import pytest

from ragcli.errors import UsageError
from ragcli.train.options import TrainOptions, assigned, parse_stages


def test_the_published_values() -> None:
    options = TrainOptions()
    assert (options.beta, options.weight, options.negatives) == (0.2, 0.1, 31)
    assert (options.individual.batch, options.integrated.batch) == (8, 4)


def test_assignments() -> None:
    options = assigned(TrainOptions(), ["warm.epochs=2 beta=0.5", "individual.rate=2e-4,tau=0.1"])
    assert (options.warm.epochs, options.beta) == (2, 0.5)
    assert (options.individual.rate, options.tau) == (2e-4, 0.1)
    assert options.integrated == TrainOptions().integrated
    assert assigned(TrainOptions(), []) == TrainOptions()


@pytest.mark.parametrize(
    "text",
    ["warm", "warm.epochs", "warm.epochs=x", "warm.epochs=-1", "warm.epochs=1.5", "beta=nan",
     "cold.rate=1", "rate=1", "seed=1", "stages=warm", "tau=0", "batch=2"],
)  # fmt: skip
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        assigned(TrainOptions(), [text])


def test_stages_keep_their_order() -> None:
    assert parse_stages("integrated, warm") == ("warm", "integrated")
    for wrong in ("", "first", "warm,first"):
        with pytest.raises(UsageError):
            parse_stages(wrong)
