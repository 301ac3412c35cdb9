"""The page reads, encodes and ranks as Python does: asked in node, compared with the model and with kate.Index."""

import random

import numpy as np
import pytest

import kate
from explore.browsed_corpus import browsed_corpus
from kate.search.building import encoded, query_vector
from kate.search.search_words import search_tokenizer
from kate.text.documents import Documents

ENGLISH = [
    "The company's gold mines don't close; gold coins of 1,000 dollars were sold.",
    "Silver and gold: prices rose 3.5 percent in New York, the F-16 flew by.",
    "The treaty of peace was signed by the prime minister of New York.",
    "Peace treaties, signed by ministers; the ministry of commerce and its companies.",
    "Railroads and canals carry coal & iron to New York <b>every</b> day, soooo slowly.",
    "Write to bob@example.org or see https://example.org/gold for caf&eacute; menus @ann",
    "Iron railroad tracks; the railway company closed its canal.",
    "",
]
LANGUAGES = {
    "german": [
        "Die Straßen der Stadt sind naß.",
        "Häuser und Straße, geht's?",
        "Das Haus steht am Fluß; Flüsse.",
    ],
    "french": ["L’école des élèves, aujourd’hui.", "Une élève de l'école lisait.", "Les livres de l'élève."],
    "turkish": ["İstanbul'da IŞIK yandı.", "Işıklar ve kitaplar.", "Kitabın ışığı İzmir'de."],
    "greek": ["Ο ΛΌΓΟΣ του ανθρώπου.", "Οι λόγοι των ανθρώπων, βιβλία.", "Άνθρωπος και λόγος, πόλη."],
    "russian": ["Книга о городах.", "Города и книги в ЁЛКАХ.", "Ёлки и книжный город."],
    "catalan": ["El col·legi d'Andorra.", "Els col·legis i l'escola.", "Escoles de col·legi."],
    "polish": ["Miasto i książki.", "Książka o miastach.", "Miasta, książek nie ma."],
    "hindi": ["किताबें और शहर नदी", "शहरों की किताब पहाड़", "नदियों का शहर पानी"],
}
ODD = [
    "ﬁsh ＧＯＬＤ cafe\u0301 co\u00adop",
    "x <y> z 'quoted' ``ticks`` 1'er rock'n'roll it's",
    "\U0001f600 emoji gold\ufeff zero\u200bwidth",
    "<script>gold()</script> <!-- silver --> <p class='x'>iron</p> &lt;b&gt; &#233; &unknown;",
    "gold" * 30,
    "  \t\n ",
    "goooold aaaaa 12 000 3,14,15 1.2.3 ½ x² Ⅳ",
    "www.gold.org WWW.Silver.org/x ftp://a.b mail@silver.org.",
]


def fitted(texts, **settings):
    return kate.TextModel(n_components=3, max_epochs=2, random_state=0, min_df=1, **settings).fit(texts * 3)


def same_words(model, texts, finder):
    vocabulary = model.vocabulary_
    of_search = search_tokenizer(vocabulary.tokenizer)
    found = iter(finder.ask([(call, text) for text in texts for call in ("modelWords", "searchWords")]))
    for text in texts:
        assert next(found) == vocabulary.tokenizer.words(text), text
        assert next(found) == of_search.words(text), text


def same_vectors(model, texts, finder):
    for text, found in zip(texts, finder.ask([("encode", text) for text in texts]), strict=True):
        expected = query_vector(model, text)
        np.testing.assert_allclose(found, [] if expected is None else expected, atol=1e-3, err_msg=text)


def test_english_and_odd_texts(page_finder):
    model = fitted(ENGLISH)
    finder = page_finder(model, ENGLISH)
    same_words(model, ENGLISH + ODD, finder)
    same_vectors(model, ENGLISH + ODD + ["goldsmith mining companies"], finder)


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(page_finder, language):
    texts = LANGUAGES[language]
    model = fitted(texts, language=language)
    finder = page_finder(model, texts)
    same_words(model, texts, finder)
    same_vectors(model, texts, finder)
    assert any("no stemmer for Polish" in note for note in finder.notes) == (language == "polish")


@pytest.mark.parametrize(
    "settings",
    [
        {"language": None},
        {"stem": False, "stop_words": ["gold"], "strip_html": False, "strip_urls": False, "cut_runs": False},
        {"scaling": "l2", "output": "preactivation", "mean": "subtract"},
        {"scaling": "max", "output": "activation", "mean": "keep"},
        {"phrases": True, "language": "porter"},
    ],
    ids="-".join,
)
def test_settings_of_a_model(page_finder, settings):
    texts = ENGLISH * 4 if "phrases" in settings else ENGLISH
    model = fitted(texts, **settings)
    finder = page_finder(model, texts)
    same_words(model, ENGLISH, finder)
    same_vectors(model, ENGLISH, finder)
    if "phrases" in settings:
        assert model.vocabulary_.find("new york") is not None


def test_documents_have_the_vectors_of_the_index(page_finder):
    model = fitted(ENGLISH)
    documents = Documents.from_texts(ENGLISH, titles=[f"Gold number {i}" for i in range(len(ENGLISH))])
    found = page_finder(model, documents).ask([("vector", row) for row in range(len(ENGLISH))])
    with pytest.warns(UserWarning, match="no word of the vocabulary"):
        index = kate.Index.build(model, documents)
    np.testing.assert_allclose(found, np.asarray(index.vectors), atol=1e-4)
    np.testing.assert_allclose(found, encoded(model, documents, 1), atol=1e-4)


def test_queries_find_what_the_index_finds(page_finder):
    model = fitted(ENGLISH)
    documents = Documents.from_texts(ENGLISH[:-1], titles=["Money", "Markets", None, None, None, None, None])
    index = kate.Index.build(model, documents)
    queries = [
        *("gold", "the treaty of peace", "gold -silver", '"new york" peace', "F-16", "1,000", "money"),
        *('-"new york" railroad', "companies closing", "and", "“prime minister”", "café"),
    ]
    questions = [("search", query, {"by": by}) for query in queries for by in ("both", "words")]
    found = page_finder(model, documents).ask(questions)
    for (_, query, options), answer in zip(questions, found, strict=True):
        hits = index.search(query, by=options["by"])
        assert answer["rows"] == [int(hit.id) for hit in hits], query
        np.testing.assert_allclose(answer["scores"], [hit.score for hit in hits], atol=1e-3)
        assert not answer["notes"]


def test_the_ten_best_of_many_queries_are_those_of_the_index(page_finder):
    """All 500 queries on four corpora are in benchmarks/explore.py; here are as many as take a second."""
    frame = browsed_corpus()
    model = kate.TextModel(n_components=12, max_epochs=3, random_state=0, min_df=1).fit(frame["text"])
    documents = Documents.from_texts(frame["text"], titles=frame["title"].to_list())
    index = kate.Index.build(model, documents)
    dice = random.Random(2)
    queries = [
        " ".join(dice.sample(text.strip(".").split(), dice.randint(2, 5))) for text in frame["text"][:150]
    ]
    finder = page_finder(model, documents)
    for query, found in zip(queries, finder.ask([("encode", query) for query in queries]), strict=True):
        np.testing.assert_allclose(found, query_vector(model, query), atol=1e-3, err_msg=query)
    answers = finder.ask([("search", query) for query in queries])
    same = [
        {int(hit.id) for hit in index.search(query)} == set(answer["rows"])
        for query, answer in zip(queries, answers, strict=True)
    ]
    assert np.mean(same) >= 0.99


def test_a_page_without_texts_says_that_it_cannot_look_up_phrases(page_finder):
    model = fitted(ENGLISH)
    [found] = page_finder(model, ENGLISH, whole_texts=False).ask([("search", '"york new"')])
    assert found["notes"] and "word by word" in found["notes"][0]


def test_queries_that_ask_for_nothing_are_told_so(page_finder):
    finder = page_finder(fitted(ENGLISH), ENGLISH)
    queries = ["", '"open', "-gold", "!?", "railraod"]
    errors = [answer["error"] for answer in finder.ask([("search", query) for query in queries])]
    expected = [
        "is empty",
        "without its partner",
        "only what to leave out",
        "has no word",
        "did you mean railroad",
    ]
    for error, words in zip(errors, expected, strict=True):
        assert words in error


def test_languages_without_spaces_are_matched_by_the_words_of_the_documents(page_finder):
    pytest.importorskip("jieba")
    texts = ["北京大学的学生喜欢看电影", "学生在北京看电影", "iPhone 电影和大学"]
    model = fitted(texts, language="zh")
    finder = page_finder(model, texts)
    assert "Chinese has no spaces between words" in finder.notes[0]
    [words, hits] = finder.ask([("modelWords", "北京大学的电影iPhone"), ("search", "大学电影")])
    assert words == ["北京大学", "电影", "iphone"]
    assert hits["rows"][0] == 2


def test_words_that_the_user_makes(page_finder):
    texts = ["new york, gold", "gold, silver coin", "silver coin, new york"]
    model = fitted(texts, tokenizer=lambda text: text.lower().split(", "), language=None)
    finder = page_finder(model, texts)
    assert "is not in this page" in finder.notes[0]
    [words] = finder.ask([("modelWords", "Silver coin in New York")])
    assert words == ["silver coin", "in", "new york"]
    lists = [["New", "York"], ["gold"], ["silver", "New"]] * 3
    [words] = page_finder(kate.TextModel(n_components=2, max_epochs=2).fit(lists), lists).ask(
        [("modelWords", "New York!")]
    )
    assert words == ["New", "York!"]
