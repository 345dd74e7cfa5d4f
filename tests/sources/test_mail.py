from pathlib import Path

import pytest

from ragcli.errors import SourceError
from ragcli.sources.mail import MESSAGES, load_mail, load_mbox
from tests.sources.checks import check, place, shown

HEAD = b"From: a@x.org\nTo: b@x.org\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n"


def mail(headers: str, body: str = "") -> bytes:
    return HEAD + f"{headers}\n\n{body}".encode()


def parts(kind: str, *bodies: tuple[str, str]) -> bytes:
    inside = "".join(f"--b\n{headers}\n\n{body}\n" for headers, body in bodies)
    return mail(f'Subject: S\nContent-Type: multipart/{kind}; boundary="b"', f"{inside}--b--\n")


PLAIN = "Content-Type: text/plain"
HTML = "Content-Type: text/html; charset=utf-8"
ATTACHED = 'Content-Type: application/pdf\nContent-Disposition: attachment; filename="a b.pdf"\nContent-Transfer-Encoding: base64'  # fmt: skip


def body(data: bytes) -> list[str]:
    """Blocks after the head."""
    found = load_mail(data, ".eml")
    check(found)
    return [text for _, _, text in shown(found)][1:]


def test_the_head_is_one_block() -> None:
    found = load_mail(
        mail("Subject: =?iso-8859-1?Q?Gr=F6=DFe?=\n der Pumpe\nX-Spam: no", "Text."), ".eml"
    )
    check(found)
    assert (found.kind, found.title) == ("mail", "Größe der Pumpe")
    assert shown(found)[0] == (
        "table", 0,
        "Subject: Größe der Pumpe\nFrom: a@x.org\nTo: b@x.org\nDate: Mon, 1 Jan 2024 00:00:00 +0000",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("=?utf-8?B?SsO2cmc=?= <j@x.org>", "Jörg <j@x.org>"),
        ("=?utf-8?q?two?= =?utf-8?q?_words?=", "two words"),
        ("=?koi8-r?B?8NLJ18XU?=", "Привет"),
        ("=?no-such-code?q?plain?=", "plain"),
        ("=?utf-8?b?not base64!?=", "=?utf-8?b?not base64!?="),
        ("Größe in bare UTF-8", "Größe in bare UTF-8"),
        ("", ""),
    ],
)
def test_encoded_words(header: str, title: str) -> None:
    assert load_mail(mail(f"Subject: {header}", "Text."), ".eml").title == title


@pytest.mark.parametrize(
    ("data", "blocks"),
    [
        (parts("alternative", (PLAIN, "Plain."), (HTML, "<p>Html.")), ["Plain."]),
        (parts("alternative", (PLAIN, " "), (HTML, "<p>Html.<script>x</script>")), ["Html."]),
        (parts("mixed", (PLAIN, "One."), (PLAIN, "Two.")), ["One.", "Two."]),
        (parts("mixed", (PLAIN, "Text."), (ATTACHED, "JVBERi0xLjQK" * 50)), ["Text."]),
        (parts("mixed", ("Content-Type: text/csv\nContent-Disposition: attachment; filename=t.csv", "a,b")), ["a,b"]),
        (parts("signed", (PLAIN, "Text."), ("Content-Type: application/pgp-signature", "xyz")), ["Text."]),
        (parts("mixed", (PLAIN, "See."), ("Content-Type: message/rfc822", "Subject: Inner\nFrom: c@x.org\n\nForwarded words.")),
         ["See.", "Subject: Inner\nFrom: c@x.org", "Forwarded words."]),
        (mail("Subject: S\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable", "Die Gr=F6=DFe ist =\nneun."), ["Die Größe ist neun."]),
        (mail("Subject: S\nContent-Transfer-Encoding: base64", "VGhlIHZhbHZlLg=="), ["The valve."]),
        (mail("Subject: S\nContent-Transfer-Encoding: base64", "%%%"), []),
        (mail('Subject: S\nContent-Type: text/plain; charset = "UTF-8"Content-Transfer-Encoding: 8bit', "Größe."), ["Größe."]),
        (mail("Subject: S\nContent-Type: text/plain; charset=iso-2022-jp", "\x1b$B%]%s%W\x1b(B pump"), ["ポンプ pump"]),
        (mail("Subject: S", "Hello.\n\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\nBye."), ["Hello.", "Bye."]),
        (mail("Subject: S", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nText.\n-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----"), ["Text."]),
        (mail("Subject: S", "File:\nbegin 644 a.bin\n#0V%T\n`\nend\nBye."), ["File:", "Bye."]),
        (mail("Subject: S", "begin 100 tests\nand then stop."), ["begin 100 tests\nand then stop."]),
    ],
)  # fmt: skip
def test_which_parts_are_read(data: bytes, blocks: list[str]) -> None:
    assert body(data) == blocks


@pytest.mark.parametrize(
    "before", [b"\xef\xbb\xbf", b"\r\n\n", b"From a@b Mon Jan 1 00:00:00 2024\n"]
)
def test_what_stands_before_the_headers_does_not_hide_them(before: bytes) -> None:
    data = before + mail("Subject: S", "Text.\n\n> a\n> b")
    for one in (data, data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")):
        found = load_mail(one, ".eml")
        assert (found.title, [text for _, _, text in shown(found)][1:]) == (
            "S",
            ["Text.", "> a\nb"],
        )


def test_attachments_are_named() -> None:
    found = load_mail(
        parts("mixed", (PLAIN, "Text."), (ATTACHED, "JVBERi0x"), ("Content-Type: image/png", "x")),
        "",
    )
    assert found.notes == ("attached, not read: a b.pdf, image/png",)
    encrypted = load_mail(
        parts("encrypted", ("Content-Type: application/pgp-encrypted", "Version: 1")), ""
    )
    assert encrypted.notes == ("encrypted parts left out",)


def test_quoted_replies_can_be_told() -> None:
    text = "Yes.\n\nBob wrote:\n> The valve of the boiler\n> is shut. It was\n> opened.\n>\n>> Older words.\nNo.\n"
    found = load_mail(mail("Subject: S", text), ".eml")
    assert [one for _, _, one in shown(found)][1:] == [
        "Yes.", "Bob wrote:", "> The valve of the boiler\nis shut. It was\nopened.", "> Older words.", "No.",
    ]  # fmt: skip
    assert place(found, "is shut") == "quoted"
    assert place(found, "Yes.") == ""
    assert place(found, "No.") == ""


def test_a_mailbox() -> None:
    one = b"From joe@x.org Mon Jan  1 00:00:00 2024\n"
    data = (
        one + mail("Subject: First", "The pump.\n>From here on.\n\nFrom the start it ran.\n")
        + b"\n" + one + mail("X: y", "> Quoted.\n") + b"\n" + one + b"Subject: Third\n\nLast.\n"
    )  # fmt: skip
    found = load_mbox(data, ".mbox")
    check(found)
    assert found.kind == "mbox"
    assert [text for kind, _, text in shown(found) if kind == "heading"] == [
        "First",
        "(no subject)",
        "Third",
    ]
    assert "From here on.\n\nFrom the start it ran." in found.text
    assert place(found, "The pump.") == "message 1: First"
    assert place(found, "Quoted.") == "message 2: (no subject), quoted"
    assert place(found, "Last.") == "message 3: Third"
    with pytest.raises(SourceError, match="no messages"):
        load_mbox(b"nothing", "")


def test_a_large_mailbox_is_bounded() -> None:
    one = b"From a@b Mon Jan 1 00:00:00 2024\nSubject: x\n\ny\n\n"
    found = load_mbox(one * (MESSAGES + 2), "")
    assert found.missing == (f"messages from {MESSAGES + 1} on (too many)",)
    assert found.places[-1][1] == f"message {MESSAGES}: x"


def test_real_ones(shared_files: Path) -> None:
    folder = shared_files / "fixtures" / "mail"
    lying = load_mail((folder / "fake-email-malformed-encoding.eml").read_bytes(), ".eml")
    assert "This is a test email to use for unit tests." in lying.text
    sound = load_mail((folder / "mime-attach-mp3.eml").read_bytes(), ".eml")
    assert sound.notes == ("attached, not read: sample-3s.mp3",)
    assert len(sound.text) < 200


def test_what_lies_too_deep_is_missing() -> None:
    deep = mail("Subject: end", "The okapi.\n")
    for _ in range(270):
        deep = parts("mixed", ("Content-Type: message/rfc822", deep.decode()))
    found = load_mail(deep, ".eml")
    assert "okapi" not in found.text
    assert found.missing == ("parts and forwarded messages after the first 500",)
    in_box = load_mbox(b"From a@x Mon Jan 1 00:00:00 2024\n" + deep, ".mbox")
    assert in_box.missing == (f"message 1: S: {found.missing[0]}",)


def test_a_part_too_large_is_cut_and_said_to_be() -> None:
    found = load_mail(mail("Subject: s", "one two three\n" * 300_000), ".eml")
    assert len(found.text) < 4_010_000
    assert found.missing == ("what comes after 4 MB of a part",)
    assert load_mail(mail("Subject: s", "one two three\n"), ".eml").missing == ()
