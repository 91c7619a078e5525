import os
import unittest

from report import currency


class Currency(unittest.TestCase):
    def test_variable_wins(self):
        os.environ["REPORT_CURRENCY"] = "CHF"
        self.assertEqual(currency(), "CHF")

    def test_any_code_is_taken_as_it_is(self):
        os.environ["REPORT_CURRENCY"] = "xxx"
        self.assertEqual(currency(), "xxx")
