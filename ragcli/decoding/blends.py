"""What each decoder does with the logits of its branches, and when it needs the second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from ragcli.decoding.contrast import calibrate, contrast_context
from ragcli.decoding.distribution import Distribution, Floats
from ragcli.decoding.fusion import document_share, fuse
from ragcli.decoding.options import (
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
)
from ragcli.types import Risk


class Blend(Protocol):
    """A decoder at work."""

    @property
    def second(self) -> str:
        """Which other branch it reads: "fine", "noise", or "" for none."""
        ...

    @property
    def always(self) -> bool:
        """Whether it reads the second branch at every token."""
        ...

    @property
    def calibrates(self) -> bool:
        """Whether a token chosen with the second branch counts as calibrated."""
        ...

    def needs(self, risk: Risk | None) -> bool:
        """Whether a token of this risk is chosen with the second branch."""
        ...

    def alone(self, z_main: Floats) -> Distribution:
        """What the main branch says by itself, logits (V,)."""
        ...

    def together(self, z_main: Floats, z_second: Floats) -> Distribution:
        """What both branches say, logits (V,) each."""
        ...


@dataclass(frozen=True, slots=True)
class _Plain:
    second: ClassVar[str] = ""
    always: ClassVar[bool] = False
    calibrates: ClassVar[bool] = False

    def needs(self, risk: Risk | None) -> bool:
        return False

    def alone(self, z_main: Floats) -> Distribution:
        return Distribution.of(z_main)

    def together(self, z_main: Floats, z_second: Floats) -> Distribution:
        return self.alone(z_main)


@dataclass(frozen=True, slots=True)
class _Fke:
    options: FkeOptions
    second: ClassVar[str] = "fine"
    always: ClassVar[bool] = True
    calibrates: ClassVar[bool] = False

    def needs(self, risk: Risk | None) -> bool:
        return True

    def alone(self, z_main: Floats) -> Distribution:
        return document_share(z_main, self.options)

    def together(self, z_main: Floats, z_second: Floats) -> Distribution:
        return fuse(z_main, z_second, self.options)


@dataclass(frozen=True, slots=True)
class _Drag:
    options: DragOptions
    second: ClassVar[str] = "noise"
    calibrates: ClassVar[bool] = True

    @property
    def always(self) -> bool:
        return self.options.tokens == "all"

    def needs(self, risk: Risk | None) -> bool:
        if self.always:
            return True
        return risk is not None and risk.total is not None and risk.total >= self.options.delta

    def alone(self, z_main: Floats) -> Distribution:
        return Distribution.of(z_main)

    def together(self, z_main: Floats, z_second: Floats) -> Distribution:
        return calibrate(z_main, z_second, self.options)


@dataclass(frozen=True, slots=True)
class _Cad:
    options: CadOptions
    second: ClassVar[str] = "noise"
    always: ClassVar[bool] = True
    calibrates: ClassVar[bool] = True

    def needs(self, risk: Risk | None) -> bool:
        return True

    def alone(self, z_main: Floats) -> Distribution:
        return Distribution.of(z_main)

    def together(self, z_main: Floats, z_second: Floats) -> Distribution:
        return contrast_context(z_main, z_second, self.options)


PLAIN: Blend = _Plain()


def blend_of(options: DecoderOptions) -> Blend:
    """The decoder that the options belong to."""
    match options:
        case FkeOptions():
            return _Fke(options)
        case DragOptions():
            return _Drag(options)
        case CadOptions():
            return _Cad(options)
        case PlainOptions():
            return PLAIN


def sampling_of(options: DecoderOptions, sampling: SamplingOptions) -> SamplingOptions:
    """The sampling that a decoder asks for: the paper's FKE draws from its mixture."""
    draws = isinstance(options, FkeOptions) and options.draw == "sample"
    return replace(sampling, temperature=1.0) if draws and not sampling.temperature else sampling
