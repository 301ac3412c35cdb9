"""Languages: by name or ISO code, guessed from the words of texts, and those written without spaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import polars as pl
import Stemmer

from kate.errors import quoted
from kate.spelling import did_you_mean
from kate.text.stopwords import stop_words_of

__all__ = [
    "AUTO",
    "UNSPACED",
    "UNSTEMMED",
    "LanguageRow",
    "code_of",
    "guess_language",
    "guess_unspaced",
    "known_languages",
    "language_name",
    "language_of",
    "languages",
]

AUTO = "auto"  # whichever language the texts are of

# ISO 639-1 (or, where there is none, 639-3) of the languages that the stemmers know
_CODES = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "czech": "cs", "danish": "da",
    "dutch": "nl", "english": "en", "esperanto": "eo", "estonian": "et", "finnish": "fi", "french": "fr",
    "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu", "indonesian": "id", "irish": "ga",
    "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "no", "persian": "fa", "polish": "pl",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "sesotho": "st", "spanish": "es",
    "swedish": "sv", "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip
# Languages with stop words and without a stemmer: their words are counted as they are written.
UNSTEMMED = {
    "afrikaans": "af", "bengali": "bn", "bulgarian": "bg", "croatian": "hr", "galician": "gl", "gujarati": "gu",
    "hebrew": "he", "korean": "ko", "latvian": "lv", "slovak": "sk", "slovenian": "sl", "swahili": "sw",
    "tagalog": "tl", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
_ALSO = {"nb": "norwegian", "nn": "norwegian"}

# Languages that put no spaces between words: the extra `cjk` cuts them; no stems, and words of one character.
UNSPACED = {"chinese": "zh", "japanese": "ja", "thai": "th"}
_SPACED = _CODES | UNSTEMMED
_SCRIPTS = {
    "japanese": r"[\p{Hiragana}\p{Katakana}]",
    "thai": r"\p{Thai}",
    "chinese": r"\p{Han}",
}
# Characters between two spaces from which on a text has none between words; segmented text has fewer.
_SHORTEST_RUN = {"japanese": 3.0, "chinese": 3.0, "thai": 8.0}
# Words of a corpus that are compared with the stop words of each language.
_MOST_FREQUENT = 30
_SHARE = 0.4  # of the most frequent words, which a language's stop words must have to speak for it
_SHARE_ALONE = 0.25  # the same, where hardly any of them are English stop words
_SHARE_SAID = 0.1  # of all that is said, likewise
_FEWEST_STOP_WORDS = 5  # a headline may hold two or three words of another language


class LanguageRow(NamedTuple):
    """A line of `kate languages`."""

    name: str
    code: str
    stems: bool
    n_stop_words: int
    needs: str  # an extra, or nothing


def languages() -> list[str]:
    """The names of the languages to choose from, with the second stemmers of some.

    >>> {"english", "porter", "german", "turkish", "chinese"} <= set(languages())
    True
    """
    return sorted({*Stemmer.algorithms(), *UNSTEMMED, *UNSPACED})


def code_of(language: str) -> str | None:
    """The ISO code of a language by its name; None for one without.

    >>> code_of("english"), code_of("porter")
    ('en', None)
    """
    return (_SPACED | UNSPACED).get(language)


def language_name(name: str) -> str:
    """The name of a language given by its name or its ISO code, or "auto"; an unknown one is refused.

    >>> language_name("de"), language_name("German"), language_name("zh")
    ('german', 'german', 'chinese')
    """
    folded = name.strip().lower()
    if folded == AUTO:
        return AUTO
    by_code = {code: language for language, code in (_SPACED | UNSPACED).items()} | _ALSO
    found = by_code.get(folded.partition("-")[0].partition("_")[0] if len(folded) <= 6 else folded, folded)
    if found in languages():
        return found
    raise ValueError(
        f"no language is named {quoted(name)}: {did_you_mean(folded, languages())} (or an ISO code such as "
        "de; 'auto' finds it from the texts; None means neither stems nor stop words; `kate languages` lists them all)"
    )


def known_languages() -> list[LanguageRow]:
    """All languages with what there is for each, in the order of their names."""
    rows = []
    for name in languages():
        stems, needs = name in Stemmer.algorithms(), "cjk" if name in UNSPACED else ""
        rows.append(LanguageRow(name, code_of(name) or "", stems, len(stop_words_of(name)), needs))
    return rows


def guess_language(frequent_words: Sequence[str], language: str | None) -> str | None:
    """Another language whose stop words the most frequent words of a corpus are; None where nothing speaks for one.

    ``frequent_words`` come most frequent first, without the stop words of ``language``. If words of another
    language's list are left at the top, the texts are of that language.

    >>> guess_language("der und die das nicht haus ein ist zu mit auf sich".split(), "english")
    'german'
    >>> guess_language("treaty peace nations commerce war gold silver".split(), "english") is None
    True
    """
    top = list(frequent_words)[:_MOST_FREQUENT]
    if len(top) < 5:
        return None
    shares = {
        name: sum(word in stop_words_of(name) for word in top) / len(top)
        for name in _SPACED
        if name != language
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _SHARE else None


def language_of(words: Mapping[str, int]) -> str:
    """The language of texts that hold each of some words so often; English where no other stands out.

    A language stands out if many of the most frequent words are its stop words, and if these are said often: a few
    texts of another language hold many of its words, each of them seldom.

    >>> language_of(dict.fromkeys("der hund und die katze sind nicht in dem haus".split(), 2))
    'german'
    >>> language_of({"gold": 5, "and": 4, "silver": 2, "the": 2, "coin": 1})
    'english'
    """
    top = [word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0]))[:_MOST_FREQUENT]]

    def shares(language: str) -> tuple[float, float]:
        stop_words = stop_words_of(language)
        said = sum(words[word] for word in words.keys() & stop_words)
        return sum(word in stop_words for word in top) / max(len(top), 1), said / max(sum(words.values()), 1)

    found = max(_SPACED, key=shares)
    share, share_said = shares(found)
    enough = _SHARE if share < 3 * shares("english")[0] else _SHARE_ALONE
    stands_out = share >= max(enough, _FEWEST_STOP_WORDS / max(len(top), 1)) and share_said >= _SHARE_SAID
    return found if stands_out else "english"


def guess_unspaced(texts: Iterable[str]) -> str | None:
    """The language without spaces that most of the letters are of; None where most are of scripts with spaces.

    Texts whose words are separated by spaces already give None too.

    >>> guess_unspaced(["今日は天気がいいです", "映画を見ました"]), guess_unspaced(["plain words"]) is None
    ('japanese', True)
    """
    sample = _sample(texts)
    letters = int(sample.str.count_matches(r"\p{L}").sum())
    found = {name: int(sample.str.count_matches(script).sum()) for name, script in _SCRIPTS.items()}
    if letters == 0 or sum(found.values()) < 0.5 * letters:
        return None
    # Japanese is written with Han characters too
    if found["japanese"] > 0.1 * (found["japanese"] + found["chinese"]):
        name = "japanese"
    else:
        name = "thai" if found["thai"] > found["chinese"] else "chinese"
    runs = int(sample.str.count_matches(r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Han}]+").sum())
    return name if sum(found.values()) / runs >= _SHORTEST_RUN[name] else None


def _sample(texts: Iterable[str]) -> pl.Series:
    """The beginnings of the first texts; whoever counts the texts refuses halves of characters."""
    some = [text[:1000].encode("utf-8", "replace").decode() for text in islice(texts, 200)]
    return pl.Series(some, dtype=pl.String)
