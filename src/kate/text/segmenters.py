"""Words of languages that are written without spaces: Chinese, Japanese, Thai. Needs the extra ``cjk``."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable

from kate.extras import install_command

__all__ = ["SEGMENTERS", "require_segmenter", "segmenter"]

# The package that cuts each language, and the modules that it takes.
SEGMENTERS = {
    "chinese": ("jieba", ("jieba",)),
    "japanese": ("fugashi", ("fugashi", "unidic_lite")),
    "thai": ("newmm-tokenizer", ("newmm_tokenizer",)),
}


def require_segmenter(language: str) -> None:
    """Refuse a language whose package is not installed."""
    package, modules = SEGMENTERS[language]
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{language.capitalize()} is written without spaces, and the package {package} that finds its words is not "
            f"installed; {install_command('cjk')}, or pass texts as lists of words"
        ) from error


def segmenter(language: str) -> Callable[[str], list[str]]:
    """What cuts a text of a language into words, punctuation included; threads must not share one.

    >>> segmenter("chinese")("我喜欢看电影")
    ['我', '喜欢', '看', '电影']
    """
    require_segmenter(language)
    if language == "chinese":
        import jieba

        jieba.setLogLevel(logging.WARNING)
        return lambda text: list(jieba.cut(text))
    if language == "japanese":
        import fugashi
        import unidic_lite

        # other dictionaries may be installed: the words must not depend on it
        tagger = fugashi.Tagger(f'-Owakati -d "{unidic_lite.DICDIR}"')
        return lambda text: tagger.parse(text).split()
    from newmm_tokenizer.tokenizer import word_tokenize

    return lambda text: list(word_tokenize(text))
