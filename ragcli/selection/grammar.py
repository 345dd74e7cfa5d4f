"""Closed word classes of English, and the common verbs: what a question is cut by."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


WH = _set("who whom whose what which when where why how")
BE = _set("is are was were am be been being")
DO = _set("do does did")
AUXILIARIES = (
    BE | DO | _set("has have had can could will would shall should may might must isn't aren't wasn't"
    " weren't don't doesn't didn't can't couldn't won't wouldn't hasn't haven't hadn't")
)  # fmt: skip
DETERMINERS = _set(
    "the a an this that these those his her its their our your my any some each every"
)
PREPOSITIONS = _set(
    "of in on at by for from to with without within into onto over under during between among about"
    " against after before since until through across near along behind above below beside around as"
    " per via than despite toward towards"
)
RELATIVES = _set("that who whom whose which where when whether if because while")
CONJUNCTIONS = _set("and or but nor")
NAMING = _set("called named elected appointed considered made declared crowned titled nicknamed")
TIME_NOUNS = _set(
    "year years date dates month months century decade decades day days time weekday season"
)
MEASURES = _set("many much old tall long far high heavy deep wide big large fast often")
LIGHT = _set(
    "reason reasons way ways kind kinds type types sort sorts amount amounts thing things example"
    " examples name names number numbers term terms result one ones part"
)
FILLERS = _set("please briefly shortly tell me us explain describe say know you could can would")

# Base forms; inflected forms are found by taking the ending off.
_VERBS = """accept achieve act add address adopt affect agree aim allow announce appear apply argue
arrest arrive ask assassinate attack attend attract avoid award base beat become begin behave believe
belong break bring build burn buy call capture carry catch cause celebrate change check choose claim
climb close collapse collect come commission compare compete complete compose conclude conduct connect
conquer consider consist construct contain continue contribute control convert convince cook cost cover
create cross cut damage date deal decide declare decline defeat defend defend define deliver demand
depend derive describe design destroy determine develop die differ direct disappear discover discuss
divide draw dream drink drive drop earn eat elect emerge employ enable encourage end engage enjoy enter
escape establish evolve examine exist expand expect explain explore explode export express extend face
fail fall feature feed feel fight fill find finish fit fix fly follow force form found freeze gain
generate get give go govern grow guide handle happen hate head hear help hire hit hold host hunt
identify ignore improve include increase indicate inherit inspire install intend introduce invade
invent invest invite involve join judge keep kill know lack land last launch lay lead learn leave lend
let lie like live locate look lose love maintain make manage manufacture mark marry mean measure meet
merge migrate move name need number observe obtain occupy occur offer open operate oppose order
originate own paint participate pass pay perform permit play point possess practice predict prefer
prepare present preserve prevent produce promote propose protect prove provide publish pull purchase
push put raise reach react read realize receive recognize record recover reduce refer reflect refuse
regard reign reject relate release rely remain remember remove rename repair replace report represent
require rescue resign respond rest result retire return reveal ring rise rule run sail save say scare
score see seek seem sell send separate serve set settle shape share shine show shut sign sing sit sleep
smell speak spend split spread stand start stay steal stem stop store strike study succeed suffer
suggest supply support survive swim symbolize take talk teach tell tend terminate test threaten throw
touch trade train transfer translate travel treat try turn understand unite use vary visit vote wait
walk want warn wash watch wear weigh win wish work worship write"""
VERBS = _set(_VERBS)
IRREGULAR = _set(
    """became began begun beaten bitten broke broken brought built bought caught chose chosen came dealt
    did done drew drawn drank drove driven ate eaten fell fallen fed felt fought found flew flown forgot
    froze frozen gave given got gotten went gone grew grown had hung heard held hid hidden kept knew
    known laid led left lent lay lain lost made meant met paid ran rang rode ridden rose risen sang sung
    sank sat saw seen sold sent shook shone shot showed shown slept spoke spoken spent stood stole
    stolen struck swam swore sworn took taken taught told thought threw thrown understood woke won wore
    worn wrote written born"""
)
# Verbs that are as often nouns: a verb only where one must stand.
AMBIGUOUS = _set(
    """act address aim attack award base burn call cause change claim close cost cover cross cut damage
    date deal defeat demand design dream drink drive drop end export face fall feature force form gain
    guide help hit hold host hunt increase judge land last launch lead like look love mark measure move
    name need number offer open order own paint pass play point practice present purchase push record
    reign report rest result return ring rise rule run sail score set shape share show sign sleep smell
    split spread stand start stay stem stop store strike study supply support test touch trade train
    transfer travel treat turn use visit vote walk wash watch wish work left found lay led saw"""
)


def is_verb(word: str) -> bool:
    """Whether a case-folded word is a form of a known verb."""
    return word in VERBS or word in IRREGULAR or any(base in VERBS for base in bases(word))


def is_participle(word: str) -> bool:
    """Whether a case-folded word looks like a past participle."""
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 4)


def bases(word: str) -> list[str]:
    """Base forms that an inflected one may come from: "carries", "stopped", "using"."""
    found = []
    for ending, puts in (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", ""), ("d", ""),
                         ("ing", ""), ("ing", "e"), ("en", "e")):  # fmt: skip
        if word.endswith(ending) and len(word) > len(ending) + 1:
            base = word.removesuffix(ending) + puts
            found.append(base)
            if len(base) > 3 and base[-1] == base[-2]:
                found.append(base[:-1])
    return found
