"""What the rest of ragcli uses of `sources`: one file (`load`) or many (`Extractor`)."""

from ragcli.sources.pool import Extractor
from ragcli.sources.read import NotADocument, Parsed, load

__all__ = ["Extractor", "NotADocument", "Parsed", "load"]
