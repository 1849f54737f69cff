"""Text → tokens of an uncased BERT: split words at spaces and punctuation, then into pieces of a vocabulary."""

import unicodedata
from collections.abc import Iterator, Mapping


def tokens(text: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Ids of the pieces, between [CLS] and [SEP]."""
    pieces = [piece for word in words(text) for piece in pieces_of(word, vocabulary)]
    return [vocabulary[piece] for piece in ("[CLS]", *pieces, "[SEP]")]


def words(text: str) -> Iterator[str]:
    """Words in lower case, without accents and control characters; a punctuation mark or CJK character is a word."""
    word = ""
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        if kind == "Mn" or (kind in ("Cc", "Cf") and not letter.isspace()):
            continue
        is_word = kind.startswith("P") or letter in "$+<=>^`|~" or "CJK UNIFIED" in unicodedata.name(letter, "")
        if word and (is_word or letter.isspace()):
            yield word
            word = ""
        if is_word:
            yield letter
        elif not letter.isspace():
            word += letter
    if word:
        yield word


def pieces_of(word: str, vocabulary: Mapping[str, int]) -> list[str]:
    """The longest known piece, then the longest of the rest; [UNK] where some part is unknown."""
    found: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        stop = next((end for end in range(len(word), start, -1) if mark + word[start:end] in vocabulary), 0)
        if not stop or len(word) > 100:
            return ["[UNK]"]
        found.append(mark + word[start:stop])
        start = stop
    return found
