"""Languages: by name or ISO code, guessed from the words of texts, and those written without spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
_ALSO = {"nb": "norwegian", "nn": "norwegian"}

# Languages that put no spaces between words: the extra `cjk` cuts them; no stems, and words of one character.
UNSPACED = {"chinese": "zh", "japanese": "ja", "thai": "th"}
_SCRIPTS = {
    "japanese": r"[\p{Hiragana}\p{Katakana}]",
    "thai": r"\p{Thai}",
    "chinese": r"\p{Han}",
}
# Characters between two spaces from which on a text has none between words; segmented text has fewer.
_SHORTEST_RUN = {"japanese": 3.0, "chinese": 3.0, "thai": 8.0}
# Words of a corpus that are compared with the stop words of each language.
_MOST_FREQUENT = 30
_N_TEXTS = 200  # that are looked at
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
    return sorted([*Stemmer.algorithms(), *UNSPACED])


def code_of(language: str) -> str | None:
    """The ISO code of a language by its name; None for one without.

    >>> code_of("english"), code_of("porter")
    ('en', None)
    """
    return (_CODES | UNSPACED).get(language)


def language_name(name: str) -> str:
    """The name of a language given by its name or its ISO code; an unknown one is refused.

    >>> language_name("de"), language_name("German"), language_name("zh")
    ('german', 'german', 'chinese')
    """
    folded = name.strip().lower()
    by_code = {code: language for language, code in (_CODES | UNSPACED).items()} | _ALSO
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
        if name in UNSPACED:
            rows.append(LanguageRow(name, UNSPACED[name], False, len(stop_words_of(name)), "cjk"))
        else:
            rows.append(LanguageRow(name, _CODES.get(name, ""), True, len(stop_words_of(name)), ""))
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
    shares = {name: _share_of(top, name) for name in _CODES if name != language and stop_words_of(name)}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= 0.4 else None


def _share_of(words: Sequence[str], language: str) -> float:
    """The share of some words that are stop words of a language."""
    return sum(word in stop_words_of(language) for word in words) / max(len(words), 1)


def language_of(texts: Iterable[str]) -> str:
    """The language that texts are of, by the stop words among their most frequent words; English where none stands out.

    >>> language_of(["Der Hund und die Katze sind nicht im Haus", "Das ist der Ball, mit dem sie spielt"])
    'german'
    >>> language_of(["treaty of peace", "gold and silver coins", "the war at sea"])
    'english'
    """
    words = (
        _sample(texts)
        .str.to_lowercase()
        .str.extract_all(r"\p{L}{2,}")
        .explode()
        .drop_nulls()
        .to_frame("word")
    )
    counted = words.group_by("word").len().sort("len", "word", descending=[True, False])
    top = counted["word"].head(_MOST_FREQUENT).to_list()
    found = guess_language(top, "english")
    if found is None:
        return "english"
    share = _share_of(top, found)
    stands_out = share * len(top) >= _FEWEST_STOP_WORDS and share > _share_of(top, "english")
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
    some = [text[:1000].encode("utf-8", "replace").decode() for text in islice(texts, _N_TEXTS)]
    return pl.Series(some, dtype=pl.String)
