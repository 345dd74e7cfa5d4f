"""The card of an organiser: what it learnt from, how, how well, and what it is not good for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragcli.text.normalise import readable


def card(report: Mapping[str, Any]) -> str:
    """Markdown, of a finished report."""
    data, options, model = report["data"], report["options"], report["model"]
    stages = ", ".join(options["stages"])
    lines = [
        f"# Organizer {readable(report['organizer']['name'])}",
        "",
        f"Trained by ragcli {report['ragcli']} on the encoder {readable(report['encoder']['name'])},"
        f" of which it holds the change alone; use it with `ragcli ask --method ko-rag"
        " --organizer DIR`.",
        "",
        f"- Data: {data['training']} questions to learn from, {data['development']} held aside;"
        f" of {data['with_gold']} it was known which sentence holds the answer."
        f" {_judged(data)}",
        f"- Generator: {readable(model['name'])} (SHA-256 {model['sha256'][:12]}…).",
        f"- Stages: {stages}; seed {options['seed']}, tau {options['tau']:g}, beta"
        f" {options['beta']:g}, weight {options['weight']:g}.",
        *_scores(report),
        "- Limits: it prefers what this generator prefers, for questions like these, in the"
        " encoder's languages; its placeholder cuts where more text did not help this generator.",
    ]
    return "\n".join(lines) + "\n"


def _judged(data: Mapping[str, Any]) -> str:
    if not data["pairs"]:
        return "The generator judged no single sentences."
    return f"The generator judged {data['pairs']} sentences of {data['scored']} questions."


def _scores(report: Mapping[str, Any]) -> list[str]:
    """Lines on the questions that were held aside, as far as there were any."""
    found = []
    for name, judged in report["development"].get("kept", {}).items():
        if judged:
            found.append(
                f"- Held aside, by {name} values: pair accuracy {judged['pair_accuracy']:.3f}, loss"
                f" {judged['loss']:.3f}."
            )
    agreement = report["development"]["agreement"]
    if agreement.get("with"):
        found.append(
            f"- Agreement with the generator on {agreement['pairs']} pairs of orders:"
            f" {agreement['with']['agreement']:.2f}, Cohen's kappa {agreement['with']['kappa']:.2f}"
            f" (before integrated feedback {agreement['without']['agreement']:.2f},"
            f" {agreement['without']['kappa']:.2f})."
        )
    answers = report["answers"]
    if answers["questions"]:
        found.append(
            f"- Of {answers['questions']} answers, {answers['np']} became right and"
            f" {answers['pn']} wrong against the retriever's top half; knowledge"
            f" {answers['tokens_before']:.0f} → {answers['tokens_after']:.0f} tokens."
        )
    return found


def analyzer_card(report: Mapping[str, Any]) -> str:
    """Markdown, of the report of an analyzer."""
    data, options, model = report["data"], report["options"], report["model"]
    epochs, engine = report["epochs"], report["engine"]
    best = min(epochs, key=lambda one: one["development"].get("loss", -one["epoch"]))
    lines = [
        f"# Analyzer {readable(report['adapter']['name'])}",
        "",
        f"Trained by ragcli {report['ragcli']} on {readable(model['name'])} (SHA-256"
        f" {model['sha256'][:12]}…), which it needs; use it with `ragcli ask --method drag --set"
        " drag.analyzer=adapter --adapter FILE`.",
        "",
        f"- Data: {data['training']} instructions to learn from, {data['development']} held aside,"
        f" no question in both; {data['elements']} take a question apart, {data['scores']} score"
        " a passage.",
        f"- Settings: rank {options['rank']}, alpha {options['alpha']:g}, rate"
        f" {options['rate']:g}, batch {options['batch']}, seed {options['seed']}; epoch"
        f" {best['epoch']} of {epochs[-1]['epoch']} is kept. {report['adapter']['matrices']} matrices"
        f" are changed, by {report['adapter']['parameters']} numbers.",
        *_held(epochs[0]["development"], best["development"]),
        f"- As the engine reads {engine['instructions']} of them: loss {engine['without']:.3f} →"
        f" {engine['with']:.3f} (where it was trained: {engine['training']:.3f}).",
        "- Limits: it knows questions like these, in their languages, and is no better than its"
        " data; with another model, or other prompts than"
        f" {report['prompts']}, it is of no use.",
    ]
    return "\n".join(lines) + "\n"


def _held(before: Mapping[str, float], after: Mapping[str, float]) -> list[str]:
    parts = [f"{name} {before[name]:.3f} → {after[name]:.3f}" for name in after]
    return [f"- Held aside: {', '.join(parts)}."] if parts else []
