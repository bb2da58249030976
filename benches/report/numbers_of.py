"""Reads and writes the measurements in docs/performance/numbers.json."""

import json
import math


class Numbers:
    """The measurements. Each number has a part, a case, a contestant, and a unit."""

    def __init__(self, path):
        self.path = path
        self.stored = json.loads(path.read_text()) if path.exists() else {"facts": {}, "parts": {}}

    def replace(self, part, records):
        self.stored["parts"][part] = records

    def fact(self, name, value):
        self.stored["facts"][name] = value

    def facts(self):
        return self.stored["facts"]

    def save(self):
        lines = json.dumps(self.stored, ensure_ascii=False, indent=1, sort_keys=True)
        self.path.write_text(lines + "\n")

    def get(self, part, case, contestant, unit, kind="median"):
        """The measured number, or NaN if it was not measured."""
        for record in self.stored["parts"].get(part, []):
            if (record.get("case"), record.get("contestant"), record.get("unit")) == (case, contestant, unit):
                return record[kind]
        return math.nan

    def bytes(self, part, case):
        for record in self.stored["parts"].get(part, []):
            if record.get("case") == case and "bytes" in record:
                return record["bytes"]
        return math.nan

    def each(self, part, key, only):
        """The distinct values of `key`, in the order of the run, of records whose case begins with `only`."""
        records = self.stored["parts"].get(part, [])
        return list(dict.fromkeys(it[key] for it in records if key in it and it.get("case", "").startswith(only)))

    def contestants(self, part, only=""):
        return self.each(part, "contestant", only)

    def cases(self, part, only=""):
        return self.each(part, "case", only)


def short(value):
    """Three significant digits, with thousands separators."""
    if math.isnan(value):
        return "–"
    if value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"
