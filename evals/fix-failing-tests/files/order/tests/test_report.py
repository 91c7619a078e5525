import unittest

from report import line


class Line(unittest.TestCase):
    def test_has_two_decimals(self):
        self.assertEqual(line("rent", 90050), "rent: 900.50 EUR")

    def test_default_currency(self):
        self.assertTrue(line("rent", 1).endswith(" EUR"))

    def test_name_comes_first(self):
        self.assertTrue(line("rent", 1).startswith("rent: "))
