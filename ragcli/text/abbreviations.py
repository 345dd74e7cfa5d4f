"""Abbreviations that sentence boundaries need beyond pysbd's own lists. Case-folded."""

from __future__ import annotations

_ALWAYS = (
    "e.g i.e cf vs viz esp dr mr mrs ms prof messrs st mt capt gen sen rep rev hon "
    "z.b d.h u.a o.ä i.d.r s.o s.u vgl bzw ca inkl exkl zzgl hr fr dipl ing p.ex c.-à-d mme mlle "
    "sr sra srta dott sig bijv dhr mevr t.ex d.v.s bl.a f.eks bl.a"
)
# Only before a number, a bracket or a single letter: many of these are words as well.
_NUMBERED = (
    "no nos nr nrn fig figs eq eqs sec secs sect ch chap chs vol vols p pp par pars art arts tab "
    "tabs tbl ref refs app appx abb abs anm aufl bd def thm lem cor prop alg ex exs pt pts ed "
    "approx resp ca al op cit min max avg est seq ser nro núm num n° cap págs pág"
)
# Only capitalised and before a capital: "Fed. R. Bankr. P.", citations of law.
_CAPITALISED = "fed bankr civ crim supp const cong sess cir dist stat evid app proc"
CAPITALISED = frozenset(_CAPITALISED.split())
NEVER_END = frozenset(_ALWAYS.split())
BEFORE_NUMBER = frozenset(_NUMBERED.split())
