"""Where DRAG's threshold comes from."""

from __future__ import annotations

from ragcli.decoding.options import DragOptions
from ragcli.methods.analysing import RETRIEVAL_DELTA, for_method
from ragcli.methods.bases import combined
from ragcli.methods.registry import settings_from


def test_the_threshold_follows_the_scale_of_the_risk() -> None:
    settings, chosen = settings_from(()), settings_from(("drag.delta=0.2",))
    for method in (combined("drag"), combined("crag", select="drag")):
        assert for_method(settings, method) == settings
    for method in (combined("plain", decode="drag"), combined("fke"), combined("closed-book")):
        assert for_method(settings, method).drag.delta == RETRIEVAL_DELTA < DragOptions().delta
        assert for_method(chosen, method) == chosen
