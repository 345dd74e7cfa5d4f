from pathlib import Path

import pytest

from ragcli.sources.subtitles import load_subtitles
from tests.sources.checks import check, place, sentences

SRT = "1\n00:00:06,500 --> 00:00:09,000\n<i>About 2 months ago</i> I found\nmyself on the train.\n\n2\n00:01:11,000 --> 00:01:17,000\n- And\n{\\an8}then?\n"  # fmt: skip
VTT = "WEBVTT\n\nNOTE a comment\n\nSTYLE\n::cue { color: red }\n\nintro\n01:02.000 --> 01:03.000 align:start\n<v Bob>Hello there.\n"  # fmt: skip


def test_cues_become_sentences_with_times() -> None:
    found = load_subtitles(SRT.encode(), ".srt")
    check(found)
    assert found.text == "About 2 months ago I found myself on the train. And then?"
    assert sentences(found)[0] == (1, "About 2 months ago I found myself on the train.")
    assert place(found, "myself") == "00:00:06"
    assert place(found, "then?") == "00:01:11"


def test_webvtt() -> None:
    found = load_subtitles(VTT.encode(), ".vtt")
    assert (found.text, found.places) == ("Hello there.", ((0, "01:02"),))


def test_paragraphs_end() -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\nThe pump runs all day and all night.\n\n"
    found = load_subtitles(cue.encode() * 500, ".srt")
    check(found)
    assert max(block.end - block.start for block in found.blocks) < 500


@pytest.mark.parametrize("name", ["UTF-16__bom-utf-16-le.srt", "utf-8-sig__bom-utf-8.srt"])
def test_real_ones(shared_files: Path, name: str) -> None:
    found = load_subtitles((shared_files / "fixtures" / "encoding" / name).read_bytes(), ".srt")
    check(found)
    assert found.text.startswith(
        "About 2 months ago I found myself on the comment section of YouTube"
    )
    assert found.places[:2] == ((0, "00:00:06"), (68, "00:00:11"))
