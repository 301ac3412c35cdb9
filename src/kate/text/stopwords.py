"""Stop words: function words, which do not tell what a document is about.

The English and Greek lists are our own. Other languages take theirs from the package ``stop-words``, and those that it
does not have from ``stopwordsiso``. Lithuanian, Nepali, Serbian, Tamil and Yiddish have no stop words until the caller
gives some.
"""

from __future__ import annotations

from functools import cache

__all__ = ["ENGLISH", "stop_words_of"]

_DETERMINERS_AND_QUANTIFIERS = """
a an the this that these those such some any no none every each either neither both all half several few
fewer fewest little less least many much more most enough own same other others another certain various only
just even one ones
"""

_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine he him
his himself she her hers herself it its itself they them their theirs themselves themself someone somebody
something anyone anybody anything everyone everybody everything nobody nothing noone who whom whose which
what whoever whomever whichever whatever whatsoever whosoever oneself em
"""

_PREPOSITIONS = """
about above across after against along alongside amid amidst among amongst around as at before behind below
beneath beside besides between beyond by concerning despite down during except for from in inside into like
near of off on onto out outside over past per regarding round since than through throughout till to toward
towards under underneath unlike until unto up upon versus via vs with within without
"""

_CONJUNCTIONS = """
and but or nor so yet if unless because although though whereas while whilst whether lest else then thus
hence therefore thereby therein thereof thereafter thereupon whereby wherein whereof whereafter whereupon
whence whither hereby herein hereof hereafter hereupon hither thither however moreover furthermore
nevertheless nonetheless otherwise meanwhile
"""

_AUXILIARIES = """
am is are was were be been being do does did doing done have has had having can could may might must shall
should will would ought cannot let lets dare used
"""

_ADVERBS = """
not never ever always often sometimes somewhat seldom rarely usually again already also too very quite
rather really almost nearly hardly barely merely simply perhaps maybe indeed instead still now once here
there where when why how everywhere anywhere somewhere nowhere wherever whenever however anyhow anyway
somehow forth away back apart aside together elsewhere afterwards afterward beforehand formerly latter
latterly mostly namely especially actually currently therefor ie eg etc yes ok okay oh
"""

_CONTRACTIONS = """
ain't aren't can't couldn't daren't didn't doesn't don't hadn't hasn't haven't isn't mayn't mightn't mustn't
needn't oughtn't shan't shouldn't wasn't weren't won't wouldn't o'clock y'all ma'am i'd i'll i'm i've you'd
you'll you're you've he'd he'll he's she'd she'll she's it'd it'll it's we'd we'll we're we've they'd
they'll they're they've that'd that'll that's there'd there'll there's here's who'd who'll who's who've
what'd what'll what're what's where'd where's when's why's how'd how's let's could've might've must've
should've would've tis twas
"""

# What is left of a contraction in texts without apostrophes ("don t", "dont").
# Not "won", "cant", "shell", "well", "hell", "ill", "wed": these are words of their own.
_FRAGMENTS = """
ain aren couldn didn doesn don hadn hasn haven isn mayn mightn mustn needn oughtn shan shouldn wasn weren
wouldn aint arent couldnt didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt shant shouldnt
wasnt werent wont wouldnt ll ve re im ive youre youve youll theyre theyve theyll weve thats theres whats hes
shes itll
"""

ENGLISH: frozenset[str] = frozenset(
    " ".join(
        (
            _DETERMINERS_AND_QUANTIFIERS,
            _PRONOUNS,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _AUXILIARIES,
            _ADVERBS,
            _CONTRACTIONS,
            _FRAGMENTS,
        )
    ).split()
)

# Languages whose list is missing in ``stop-words``, or too short in it (Catalan's was taken for Spanish).
_OF_ISO = {
    "afrikaans": "af", "armenian": "hy", "basque": "eu", "bengali": "bn", "bulgarian": "bg", "catalan": "ca",
    "croatian": "hr", "esperanto": "eo", "estonian": "et", "galician": "gl", "gujarati": "gu", "hebrew": "he",
    "irish": "ga", "korean": "ko", "latvian": "lv", "sesotho": "st", "slovak": "sk", "slovenian": "sl", "swahili": "sw",
    "tagalog": "tl", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip

# A second stemmer of a language, which has the same stop words.
_SAME_LANGUAGE = {"porter": "english", "dutch_porter": "dutch"}

# Function words cut short before a vowel ("lorsqu'il") that the package's lists leave out.
_ELIDED = {
    "french": frozenset({"aujourd", "hui", "jusqu", "lorsqu", "presqu", "puisqu", "quelqu", "quoiqu"}),
    "italian": frozenset({"quell", "quest"}),
}

# The package has those of Ancient Greek.
_GREEK = """
ο η το οι τα του της των τον την τη τους τις ένας ένα έναν μια μία μιας και κι ή είτε ούτε μήτε αλλά όμως ωστόσο αν εάν
όταν ενώ επειδή γιατί διότι ώστε όπως καθώς αφού μόλις πριν ότι πως πώς που πού να θα ας μη μην δε δεν όχι ναι σε στο
στη στην στον στα στους στις στων από για με μέχρι ως προς χωρίς δίχως κατά μετά παρά αντί εναντίον υπέρ μέσα έξω πάνω
κάτω εγώ εσύ αυτός αυτή αυτό αυτοί αυτές αυτά αυτού αυτής αυτών αυτόν αυτήν αυτούς εμείς εσείς μου σου μας σας με σε
εμένα εσένα εκείνος εκείνη εκείνο εκείνοι εκείνες εκείνα τούτος τούτη τούτο ποιος ποια ποιο ποιοι ποιες τι όποιος όποια
όποιο οποίος οποία οποίο οποίοι οποίες οποίων οποίου οποίας όσο όσα όσοι όσες τόσο κάποιος κάποια κάποιο κάποιοι κάποιες
κάτι τίποτα κανείς κανένας καμία κανένα κάθε όλος όλη όλο όλοι όλες όλα όλων άλλος άλλη άλλο άλλοι άλλες άλλα είμαι
είσαι είναι είμαστε ήμουν ήσουν ήταν ήμασταν έχω έχεις έχει έχουμε έχετε έχουν είχα είχε είχαν υπάρχει υπάρχουν μπορεί
μπορούν πρέπει πολύ πιο λίγο μόνο ακόμα ακόμη ήδη τώρα τότε εδώ εκεί πάντα ποτέ πάλι ξανά επίσης μάλλον ίσως δηλαδή
λοιπόν έτσι σαν τόσα μεταξύ λόγω
"""

# Particles and auxiliaries that the package's lists leave out, as segmenters cut them.
_JAPANESE = """
は が を に へ と で も の や か ね よ な ば から まで より だけ など ので のに けど ても では には とは です ます だ
た て い し れ せ う ない なかっ なく ある あり あっ いる いた いて する した して さ れる られる せる させる まし ませ
でし だっ たい ん こと もの ため よう そう これ それ あれ この その あの ここ そこ
"""
_THAI = """
และ หรือ แต่ ที่ ซึ่ง อัน ของ ใน บน จาก ถึง ไป มา ให้ ได้ ไม่ เป็น คือ อยู่ มี ว่า กับ แก่ แด่ ต่อ เพื่อ โดย ด้วย ก็ จะ
แล้ว ยัง นี้ นั้น โน้น ๆ นะ ครับ ค่ะ คะ จึง เมื่อ ถ้า หาก เพราะ กว่า ทั้ง ทุก แต่ละ เขา เธอ เรา ฉัน ผม คุณ มัน กัน การ ความ
ไว้ ขึ้น ลง ออก เข้า อีก เลย มาก
"""
_PARTICLES = {"japanese": frozenset(_JAPANESE.split()), "thai": frozenset(_THAI.split())}


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language; none if there is no list.

    >>> "the" in stop_words_of("english"), "und" in stop_words_of("german"), len(stop_words_of("tamil"))
    (True, True, 0)
    """
    language = _SAME_LANGUAGE.get(language, language)
    if language == "english":
        return ENGLISH
    if language == "greek":
        return frozenset(_GREEK.split())
    import stop_words
    import stopwordsiso

    words = frozenset(stop_words.safe_get_stop_words(language))
    if language in _OF_ISO:
        words |= stopwordsiso.stopwords(_OF_ISO[language])
    return words | _ELIDED.get(language, frozenset()) | _PARTICLES.get(language, frozenset())
