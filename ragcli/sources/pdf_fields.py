"""What has been filled into a PDF form. pdfium comes in as an argument."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ragcli.sources.pdf_layout import Line

_MOST_FIELDS = 2_000  # of a page
_LONGEST_FIELD = 1 << 16  # bytes


class Fields:
    """Values of a form's fields, which are no part of a page's own text.

    document: to be opened before its pages are; raw: pdfium's own functions.
    """

    def __init__(self, document: Any, raw: Any, fold: Callable[[str], str]) -> None:
        self._raw = raw
        self._fold = fold
        self._form = None
        if document.get_formtype() != raw.FORMTYPE_NONE and document.init_forms():
            self._form = document.formenv.raw

    def lines(self, page: Any, size: float) -> list[Line]:
        """A line "Name: value" for each filled field, far apart below the page."""
        if self._form is None:
            return []
        raw = self._raw
        found: list[str] = []
        for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_FIELDS)):
            annotation = raw.FPDFPage_GetAnnot(page, at)
            if not annotation:
                continue
            if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
                found.append(self._field(annotation))
            raw.FPDFPage_CloseAnnot(annotation)
        return [
            Line(text, 0, 100, -(number + 2) * 5 * size, size - (number + 2) * 5 * size, size)
            for number, text in enumerate(filter(None, found))
        ]

    def _field(self, annotation: Any) -> str:
        raw = self._raw
        kind = raw.FPDFAnnot_GetFormFieldType(self._form, annotation)
        name = self._string(raw.FPDFAnnot_GetFormFieldAlternateName, annotation)
        if not name:
            name = self._string(raw.FPDFAnnot_GetFormFieldName, annotation).rpartition(".")[2]
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            return f"{name}: yes" if raw.FPDFAnnot_IsChecked(self._form, annotation) else ""
        if kind not in (
            raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX,
        ):  # fmt: skip
            return ""
        value = self._string(raw.FPDFAnnot_GetFormFieldValue, annotation)
        return f"{name}: {value}" if name and value else value

    def _string(self, function: Any, annotation: Any) -> str:
        size = min(function(self._form, annotation, None, 0), _LONGEST_FIELD)
        buffer = ctypes.create_string_buffer(size + 2)
        function(self._form, annotation, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
        return self._fold(buffer.raw[:size].decode("utf-16-le", "replace").partition("\0")[0])
