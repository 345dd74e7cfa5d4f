import pytest

from ragcli.sources.latex import load_latex
from tests.sources.checks import check, same_lines, sentences, shown

PAPER = r"""\documentclass[11pt]{article}
\newcommand{\model}[1]{\textbf{#1}} % not text
\title{The \emph{Boiler} and\\ its Valve\thanks{Funded.}}
\author{A. M\"uller}
\begin{document}
\maketitle
We show that the valve of K\"{o}ln \cite{a2020,b} opens in
% a comment in between
\textbf{twenty-two} turns\footnote{See the manual.}, about 3\% more ($p < 0.05$).
\label{sec:abs}
POSIX closes at $\alpha \leq \frac{1}{2}$.

\section{Introduction}\label{sec:intro}
As in Section~\ref{sec:abs} --- and ``quoted'' --- it holds.
\subsection*{A Sub
Title}
\begin{itemize}
  \item One thing.
  \item[Two] other thing.
\end{itemize}
\begin{table}[t]\centering
\begin{tabular}{lcc}
\toprule
Name & A & B \\ \midrule
x & 1 & 2 \\[2pt]
\multicolumn{2}{c}{both} & 3 \\
\end{tabular}
\caption{The caption of \textit{it}.}
\end{table}
\begin{verbatim}
int x = 1; % kept \a
\end{verbatim}
\end{document}
"""


def test_a_paper_reads_like_its_print() -> None:
    found = load_latex(PAPER.encode(), ".tex")
    check(found)
    same_lines(found, PAPER.encode())
    assert (found.kind, found.title) == ("latex", "The Boiler and its Valve")
    assert sentences(found) == [
        (3, "The Boiler and its Valve"),
        (7, "We show that the valve of Köln [a2020,b] opens in twenty-two turns [See the manual.],"
            " about 3% more (p < 0.05)."),
        (11, "POSIX closes at α ≤ 1/2."),
        (13, "Introduction"),
        (14, "As in Section [sec:abs] — and “quoted” — it holds."),
        (15, "A Sub Title"),
        (18, "- One thing."),
        (19, "- Two: other thing."),
        (24, "Name | A | B"),
        (25, "x | 1 | 2"),
        (26, "both | 3"),
        (28, "The caption of it."),
        (31, "int x = 1; % kept \\a"),
    ]  # fmt: skip
    headings = [(level, text) for kind, level, text in shown(found) if kind == "heading"]
    assert [level for level, _ in headings] == [1, 2, 3]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\'etude na\"ive \v{s}koda \c{c}a \o re Stra\ss e", "étude naïve škoda ça øre Straße"),
        (r"\ae on \LaTeX{} \ldots", "æon LaTeX …"),
        (r"10\,000 \& 5\% of \$3 \#1 a\_b \{x\}", "10 000 & 5% of $3 #1 a_b {x}"),
        (r"\newcommand{\tool}{\textsc{Pump}\xspace}With \tool{} and \tool, yes", "With Pump and Pump, yes"),
        (r"\newcommand\loop{\loop\loop}a \loop{} b", "a b"),
        (r"\verb|a\b{c}| stays", r"a\b{c} stays"),
        (r"\textcolor{red}{Warm} and \href{http://x.org}{cold}", "Warm and cold"),
        (r"\unknown{kept} \unknown[opt]{too}", "kept too"),
        (r"see \url{http://x.org/a_b}", "see http://x.org/a_b"),
        (r"a [bracket] stays", "a [bracket] stays"),
        (r"\begin{comment}no\end{comment}yes", "yes"),
        (r"\iffalse no \fi yes", "yes"),
        (r"\begin{tikzpicture}\draw (0,0);\end{tikzpicture}yes", "yes"),
        (r"\begin{equation} E = m c^2 \sum_{i} x_i \end{equation}", "E = m c^2 ∑_i x_i"),
        (r"\def\x#1{no} yes \newcommand\y[2]{no}", "yes"),
        (r"\input{other} \includegraphics[width=3cm]{fig.png} yes", "yes"),
        (r"\begin{thebibliography}{9}\bibitem{k} A title.\end{thebibliography}", "- A title."),
        (r"pages 3--5 and so on---yes", "pages 3–5 and so on—yes"),
        ("an argument \\label{never closed\n\nThe next paragraph.", "an argument|The next paragraph."),
        ("\\begin{verbatim} never closed", "never closed"),
        ("ends with a backslash \\", "ends with a backslash"),
    ],
)  # fmt: skip
def test_what_macros_say(source: str, text: str) -> None:
    found = load_latex(source.encode(), ".tex")
    check(found)
    assert "|".join(" ".join(one.split()) for _, one in sentences(found)) == text


def test_the_preamble_is_not_read() -> None:
    source = b"\\documentclass{a}\nsecret\n\\begin{document}\nText.\n\\end{document}"
    assert [text for _, text in sentences(load_latex(source, ".tex"))] == ["Text."]
    chapter = b"\\chapter{One}\nText."  # a file that another one includes
    assert [text for _, text in sentences(load_latex(chapter, ".tex"))] == ["One", "Text."]
