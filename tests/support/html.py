"""What is in a page, read without a browser."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects text, addresses, data of figures and tags, and checks that elements are nested."""

    VOID = ("meta", "link")

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.words, self.charts, self.tags, self.about = [], [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.addresses += [found[name] for name in ("src", "href") if name in found]
        self.about += [found["data-about"]] if "data-about" in found else []
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append("data" if found.get("type") == "application/json" else tag)

    def handle_endtag(self, tag):
        last = self.open.pop()
        assert (last if last != "data" else "script") == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "data":
            self.charts.append(json.loads(data))
        elif self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())
