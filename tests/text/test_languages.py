"""Languages by name and code; texts that are of another language than was said."""

import re
import sys
import warnings

import polars as pl
import pytest
import Stemmer

import kate
from kate.extras import install_command
from kate.text.language_checks import tokenizer_for
from kate.text.languages import (
    guess_language,
    guess_unspaced,
    known_languages,
    language_name,
    languages,
)
from kate.text.segmenters import SEGMENTERS
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary


@pytest.mark.parametrize(
    ("given", "name"),
    [("en", "english"), ("EN", "english"), ("en-US", "english"), ("pt_BR", "portuguese"), ("nb", "norwegian"),
     ("German", "german"), ("porter", "porter"), ("zh", "chinese"), ("ja", "japanese"), (" fr ", "french")],
)  # fmt: skip
def test_names_and_codes(given, name):
    assert language_name(given) == name


@pytest.mark.parametrize(
    ("given", "meant"), [("germn", "german"), ("xx", "kate languages"), ("englisch", "english")]
)
def test_an_unknown_language_says_what_may_be_meant(given, meant):
    with pytest.raises(ValueError, match=meant):
        language_name(given)


def test_every_stemmer_but_second_ones_has_a_code():
    without = {row.name for row in known_languages() if not row.code}
    assert without <= {"porter", "lovins", "dutch_porter"}
    assert set(Stemmer.algorithms()) < set(languages())


SENTENCES = {
    "german": "der mann und die frau haben nicht das haus in der stadt gesehen aber sie sind mit dem zug zu uns",
    "french": "le chat est dans la maison et il ne veut pas sortir avec nous parce que les chiens sont sur la route",
    "spanish": "el perro está en la casa y no quiere salir con nosotros porque los gatos están por el camino",
    "dutch": "de man en de vrouw hebben het huis niet gezien maar zij zijn met de trein naar ons gekomen",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_another_language_is_noticed(name):
    from collections import Counter

    words = [word for word, _ in Counter(SENTENCES[name].split()).most_common()]
    assert guess_language(words, "english") == name
    assert guess_language(words, name) != name


def test_plain_english_topics_are_not_another_language():
    words = ["government", "people", "state", "congress", "country", "time", "law", "great", "public", "war"]
    assert guess_language(words, "english") is None
    assert guess_language([], "english") is None


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["北京今天天气很好", "我喜欢看电影"], "chinese"),
        (["今日は天気がいいです"], "japanese"),
        (["วันนี้อากาศดี"], "thai"),
        (["Nice weather in Beijing (北京) today"], None),
        (["Сегодня хорошая погода"], None),
        (["12 34"], None),
        ([], None),
    ],
)
def test_text_without_spaces_is_noticed(texts, name):
    assert guess_unspaced(texts) == name


def test_segmented_text_has_spaces():
    assert guess_unspaced(["我 喜欢 看 电影", "今天 天气 很 好"]) is None
    assert guess_unspaced(["วันนี้ อากาศ ดี มาก เรา ไป ดู หนัง"]) is None


@pytest.mark.parametrize("name", [*SENTENCES, "russian", "english"])
def test_the_language_is_found_where_none_was_said(name):
    others = {
        "russian": "он не был в доме и она не видела что это было на улице когда мы с ним шли к вам",
        "english": "the man and the woman have not seen the house in the town but they are on the train to us",
    }
    texts = [(SENTENCES | others)[name]] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vocabulary, _ = Vocabulary.learn(texts, Tokenizer("auto"))
        model = kate.TextModel(2, max_epochs=1).fit(texts)
    assert vocabulary.tokenizer == Tokenizer(name)
    assert (model.language, model.settings_["language"]) == ("auto", name)
    assert kate.Counts().fit(texts).settings_["language"] == name
    # of words that the user counted no language is known
    of_counts = kate.TextModel(1, max_epochs=1).fit_counts([[1, 0], [0, 1]], ["gold", "peace"])
    assert of_counts.settings_["language"] is None


def test_a_fit_of_other_texts_finds_their_language(tmp_path):
    kate.TextModel(2, max_epochs=1).fit([SENTENCES["german"]] * 3).save(tmp_path / "model")
    model = kate.load(tmp_path / "model")
    assert (model.language, model.settings_["language"]) == ("auto", "german")
    assert model.fit([SENTENCES["french"]] * 3).settings_["language"] == "french"


def language_found(texts):
    batches, tokenizer = tokenizer_for([pl.Series(texts, dtype=pl.String)], Tokenizer(" Auto "))
    assert [text for batch in batches for text in batch] == texts
    return tokenizer.language


OTHER_TEXTS = {
    "hindi": "भारत में शांति के लिए यह समझौता है और इस पर दोनों देशों ने हस्ताक्षर किए हैं लेकिन युद्ध की बात भी हुई थी",
    "greek": "η συνθήκη για την ειρήνη υπογράφηκε από τις δύο χώρες και δεν είναι το τέλος του πολέμου αλλά μια αρχή",
    "catalan": "els dos països han signat el tractat i aquest no és el final de la guerra però sí que va ser un inici",
    "bulgarian": "двете страни са подписали договора за мир и това не е край на войната но може да бъде едно начало",
    "ukrainian": "дві країни підписали договір про мир і це не був кінець війни але це може бути її початок для всіх",
    "croatian": "dvije zemlje su potpisale ugovor o miru i to nije kraj rata ali je bio početak za sve koji su ga",
    "estonian": "kaks riiki on alla kirjutanud rahulepingule ja see ei ole sõja lõpp aga kõik nad olid siis kui ma",
}


@pytest.mark.parametrize("name", OTHER_TEXTS)
def test_languages_of_marks_short_lists_and_no_stems_are_found(name):
    assert language_found([OTHER_TEXTS[name]] * 3) == name


def test_nothing_that_stands_out_is_english():
    assert language_found(["vin, pain, du boursin"] * 3) == "english"
    assert language_found(["BAHIA COCOA REVIEW", "ACTIVE PLAN DE PIA SA"]) == "english"
    assert language_found([]) == "english"
    assert language_found(["", "  ", "12 34"]) == "english"
    # pictures and programs, sent as letters, are of no language
    assert language_found(["a e o m a i u e s d", "a gold e coin o"] * 30) == "english"
    assert Tokenizer("auto").words("The companies") == ["compani"]


def test_neither_markup_nor_a_licence_nor_a_few_texts_hide_the_language():
    german = SENTENCES["german"]
    page = f'<div class="article"><p style="color: red"><a href="https://example.org/the/of">{german}</a></p></div>'
    assert language_found([page] * 3) == "german"
    assert language_found(["this is the licence of the book, which " * 25 + german * 40]) == "german"
    assert language_found([german] * 3 + ["gold treaty peace"] * 150) == "english"
    # what the sender writes below each letter
    assert (
        language_found([f"{sentence} John Smith, Gold Coins" for sentence in german.split(" in ")] * 5)
        == "german"
    )


def test_how_texts_come_in_batches_makes_no_difference():
    texts = ["vin du boursin"] * 20 + [SENTENCES["french"]] * 60
    for size in (1, 7, 80):
        batches = (pl.Series(texts[start : start + size]) for start in range(0, len(texts), size))
        again, tokenizer = tokenizer_for(batches, Tokenizer("auto"))
        assert tokenizer.language == "french"
        assert [text for batch in again for text in batch] == texts


def test_a_language_without_a_stemmer_has_stop_words_alone():
    tokenizer = Tokenizer("bg")
    assert tokenizer.words("Договорът за мир и договори") == ["договорът", "мир", "договори"]
    row = {row.name: row for row in known_languages()}["bulgarian"]
    assert (row.code, row.stems, row.needs) == ("bg", False, "") and row.n_stop_words > 100


def test_a_corpus_of_another_language_gets_a_warning_that_names_it():
    texts = [SENTENCES["german"], "der krieg und der frieden sind nicht das ende von allem aber sie sind da"]
    with pytest.warns(
        UserWarning, match=r"\(der, sind, .*\) are stop words of German, .* set language='german'"
    ):
        Vocabulary.learn(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Vocabulary.learn(texts, Tokenizer("de"))
        Vocabulary.learn(texts, Tokenizer(language=None))
        Vocabulary.learn(["peace treaty of the nations", "gold and silver coins of the mint", "a war at sea"])


def test_codes_work_wherever_a_language_is_taken():
    assert Tokenizer("DE") == Tokenizer("german")
    assert kate.Counts(language="de").fit(["die Häuser"]).vocabulary_ == {"haus": 0}
    model = kate.TextModel(2, language="de", max_epochs=1).fit(["die Häuser", "das Haus der Stadt"])
    assert model.settings_["language"] == "german"
    assert kate.languages() == languages()


WORDS = {
    "chinese": ("北京的天气很好。我喜欢猫", {"北京", "天气", "喜欢", "猫"}),
    "japanese": ("今日は天気がいいです。猫を見ました", {"今日", "天気", "猫", "見"}),
    "thai": ("วันนี้อากาศดี เราไปดูหนัง", {"วันนี้", "อากาศ", "หนัง"}),
}


@pytest.mark.parametrize("name", WORDS)
def test_text_without_spaces_is_cut(name):
    for module in SEGMENTERS[name][1]:
        pytest.importorskip(module)
    text, expected = WORDS[name]
    words = Tokenizer(name).words(text)
    assert expected <= set(words)
    assert not {"。", " ", "は", "的", "ไป"} & set(words)
    with pytest.warns(UserWarning, match=f"language='{name}'"):
        vocabulary, _ = Vocabulary.learn([text] * 3)
    assert expected <= set(vocabulary.words)
    assert vocabulary.tokenizer == Tokenizer(name)
    # as a saved model does
    again = Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config())
    assert (again.count([text]) != vocabulary.count([text])).nnz == 0


@pytest.mark.parametrize("name", WORDS)
def test_without_the_extra_the_error_names_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, SEGMENTERS[name][1][0], None)
    for make in (lambda: Tokenizer(name), lambda: Vocabulary.learn([WORDS[name][0]])):
        with pytest.raises(ImportError, match=re.escape(install_command("cjk"))):
            make()


def test_names_in_another_script_do_not_cut_english_texts():
    vocabulary, _ = Vocabulary.learn(["the capital 北京 and its weather", "rain in the capital"])
    assert vocabulary.tokenizer.language == "english"
