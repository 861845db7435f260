"""A peer of the search: indexes the messages of a file, and answers the questions of another, with tantivy or LanceDB.

Called as `search.py tantivy|lancedb FOLDER MESSAGES QUESTIONS`. A line of MESSAGES is a message's text, and the line's number
is its time. A line of QUESTIONS is JSON: a list of phrases, each a list of words, all of which a message must have.

Prints a line of JSON when everything is indexed, then one for every line that it reads: `newest` and `ranked` ask all
questions, `add N` adds N messages one by one. Times are of the search itself, in microseconds. Never looks at anybody else's
data.
"""

import json
import os
import sys
import time

LIMIT = 20
SNIPPET_CHARACTERS = 240
MESSAGES_TOGETHER = 10_000


class Tantivy:
    """An index of its own format, with the text stored in it and the number as a column to sort by."""

    can_sort = True

    def __init__(self, folder):
        import tantivy

        self.tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("number", stored=True, indexed=False, fast=True)
        builder.add_text_field("text", stored=True, tokenizer_name="default", index_option="position")
        self.schema = builder.build()
        self.index = tantivy.Index(self.schema, path=folder)
        self.writer = self.index.writer()

    def fill(self, messages):
        for number, text in messages:
            self.writer.add_document(self.tantivy.Document(number=number, text=text))
        self.writer.commit()
        # What is merged in the background is merged before anybody is measured.
        self.writer.wait_merging_threads()
        self.writer = self.index.writer()
        self.index.reload()

    def add(self, number, text):
        self.writer.add_document(self.tantivy.Document(number=number, text=text))
        self.writer.commit()
        self.index.reload()

    def _query(self, phrases):
        query = self.tantivy.Query
        each = [
            query.term_query(self.schema, "text", words[0])
            if len(words) == 1
            else query.phrase_query(self.schema, "text", words)
            for words in phrases
        ]
        if len(each) == 1:
            return each[0]
        return query.boolean_query([(self.tantivy.Occur.Must, one) for one in each])

    def ask(self, phrases, order):
        query = self._query(phrases)
        searcher = self.index.searcher()
        if order == "newest":
            found = searcher.search(query, LIMIT, count=False, order_by_field="number")
        else:
            found = searcher.search(query, LIMIT, count=False)
        around = self.tantivy.SnippetGenerator.create(searcher, query, self.schema, "text")
        around.set_max_num_chars(SNIPPET_CHARACTERS)
        answer = []
        for _, address in found.hits:
            document = searcher.doc(address)
            snippet = around.snippet_from_doc(document)
            answer.append((document.get_first("number"), snippet.fragment(), snippet.highlighted()))
        return answer


class LanceDb:
    """A table with a full-text index. Ranks only, and knows no snippets: the whole text is the answer."""

    can_sort = False

    def __init__(self, folder):
        import lancedb
        import pyarrow
        from lancedb.index import FTS
        from lancedb.query import BooleanQuery, MatchQuery, Occur, PhraseQuery

        self.match, self.phrase, self.boolean, self.must = MatchQuery, PhraseQuery, BooleanQuery, Occur.MUST
        # Words as they stand, with their places, as the others have them.
        self.words = FTS(with_position=True, stem=False, remove_stop_words=False)
        self.arrow = pyarrow
        self.schema = pyarrow.schema([("number", pyarrow.int64()), ("text", pyarrow.string())])
        self.table = lancedb.connect(folder).create_table("messages", schema=self.schema)

    def _rows(self, messages):
        numbers, texts = zip(*messages)
        return self.arrow.table([list(numbers), list(texts)], schema=self.schema)

    def fill(self, messages):
        batch = []
        for message in messages:
            batch.append(message)
            if len(batch) == MESSAGES_TOGETHER:
                self.table.add(self._rows(batch))
                batch = []
        if batch:
            self.table.add(self._rows(batch))
        self.table.create_index("text", config=self.words)
        self.table.optimize()

    def add(self, number, text):
        # A search goes through what is not indexed yet as well.
        self.table.add(self._rows([(number, text)]))

    def _query(self, phrases):
        each = [
            self.match(words[0], "text") if len(words) == 1 else self.phrase(" ".join(words), "text")
            for words in phrases
        ]
        if len(each) == 1:
            return each[0]
        return self.boolean([(self.must, one) for one in each])

    def ask(self, phrases, _order):
        found = self.table.search(self._query(phrases), query_type="fts").select(["number", "text", "_score"])
        found = found.limit(LIMIT).to_arrow()
        return list(zip(found["number"].to_pylist(), found["text"].to_pylist()))


KINDS = {"tantivy": Tantivy, "lancedb": LanceDb}


def say(line):
    print(json.dumps(line), flush=True)


def size_of(folder):
    inside = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    return sum(os.path.getsize(path) for path in inside)


def timed(work):
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1e6, result


def ask_all(engine, questions, order):
    micros, found = [], []
    for phrases in questions:
        took, answer = timed(lambda: engine.ask(phrases, order))
        micros.append(took)
        found.append([one[0] for one in answer])
    return {"micros": micros, "found": found}


def add_one(engine, number):
    word = f"single{number}"

    def until_found():
        engine.add(number, f"one more message with the word {word}")
        return engine.ask([[word]], "newest")

    took, answer = timed(until_found)
    if [one[0] for one in answer] != [number]:
        sys.exit(f"message {number} was added and is not found: {answer}")
    return took


def lines(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            yield number, line.rstrip("\n")


def main():
    kind, folder, messages, questions = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    engine = KINDS[kind](folder)
    took, _ = timed(lambda: engine.fill(lines(messages)))
    say({"seconds": took / 1e6, "bytes": size_of(folder), "canSort": engine.can_sort})
    questions = [json.loads(line) for _, line in lines(questions)]
    # Far from the numbers of the messages.
    added = 1 << 40
    for line in sys.stdin:
        words = line.split()
        if words in (["newest"], ["ranked"]):
            say(ask_all(engine, questions, words[0]))
        elif len(words) == 2 and words[0] == "add":
            many = int(words[1])
            say({"micros": [add_one(engine, added + more) for more in range(many)]})
            added += many
        else:
            sys.exit(f"`{line.strip()}` is nothing that can be asked for")


main()
