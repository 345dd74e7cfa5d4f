import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.language import detect


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The valve in room 20 is opened by turning it 22 times to the left.", "en"),
        ("The torque is 12 Nm.", "en"),
        ("Das Lager hat die Größe zwei.", "de"),
        ("Das Pru\u0308fstu\u0308ck hat die Gro\u0308ße neun.", "de"),
        ("La tour est dans le centre de la ville et elle a été bâtie par les Romains.", "fr"),
        ("El puente que está sobre el río fue construido por los romanos.", "es"),
        ("Il ponte che è sul fiume è stato costruito dai romani.", "it"),
        ("A ponte não foi construída pelos romanos, mas por eles.", "pt"),
        ("De brug over de rivier is door de Romeinen gebouwd en niet door ons.", "nl"),
        ("Bron över floden är inte byggd av romarna, men det är den andra som är det.", "sv"),
        ("Most nad rzeką nie był zbudowany przez Rzymian, ale jest stary.", "pl"),
        ("Мост через реку был построен не в этом веке, но это не так важно.", "ru"),
        ("Міст через річку був збудований не в цьому столітті, але це не так.", "uk"),
        ("这座桥是罗马人建造的。", "zh"),
        ("この橋はローマ人によって建てられた。", "ja"),
        ("이 다리는 로마인이 지었다.", "ko"),
        ("สะพานนี้สร้างโดยชาวโรมัน", "th"),
        ("بنى الرومان هذا الجسر", "ar"),
        ("این پل را رومی‌ها ساختند", "fa"),
        ("Η γέφυρα χτίστηκε από τους Ρωμαίους", "el"),
        ('[{"n": 0, "v": "xxx"}, {"n": 1, "v": "xxx"}, {"n": 2, "v": "xxx"}]' * 5, ""),
        ("QWxsIHRoZSBzYW1lIGFzIGJlZm9yZQ" * 50 + " The export was made by the shift.", "en"),
        ("", ""),
        ("42 17 3.5", ""),
        ("qwxz bvnm lkjh qwrt", ""),
    ],
)
def test_detect(text: str, language: str) -> None:
    assert detect(text) == language


@given(st.text())
def test_detect_takes_anything(text: str) -> None:
    assert detect(text) == detect(text)
    assert len(detect(text)) in (0, 2)
