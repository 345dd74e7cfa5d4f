"""ragcli: answers from your own documents, every sentence cited."""

__all__ = ["__version__"]
__version__ = "0.1.0"
