"""A page taken apart: its tables by id, and the words outside them."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input"}
SILENT = {"script", "style", "svg", "pre", "dl", "title"}  # what a reader does not see, and what is quoted


class Page(HTMLParser):
    """tables: id → rows of cells, each (text, attributes); bold: id → bold texts; words: the rest of the text."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.bold, self.words, self.tags, self.scripts = {}, {}, [], [], []
        self.open, self.rows, self.cell = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "table":
            self.table = attributes.get("id", "matrix")
            self.rows = self.tables.setdefault(self.table, [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ("", attributes)
            self.rows[-1].append(self.cell)
        elif tag == "script":
            self.scripts.append((attributes, ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while tag not in VOID and self.open.pop() != tag:
            pass
        if tag in ("td", "th"):
            self.cell = None
        if tag == "div" and self.cell:
            self.handle_data("\n")

    def handle_data(self, text):
        if "script" in self.open:
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + text)
        elif self.cell:
            self.cell = (self.cell[0] + text, self.cell[1])
            self.rows[-1][-1] = self.cell
            if "strong" in self.open:
                self.bold.setdefault(self.table, []).append(text)
        elif not SILENT & set(self.open):
            self.words.append(text)
