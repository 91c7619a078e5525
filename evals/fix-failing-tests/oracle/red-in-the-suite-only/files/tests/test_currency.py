import os
import unittest
from unittest import mock

from report import currency


class Currency(unittest.TestCase):
    def setUp(self):
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)

    def test_variable_wins(self):
        os.environ["REPORT_CURRENCY"] = "CHF"
        self.assertEqual(currency(), "CHF")

    def test_any_code_is_taken_as_it_is(self):
        os.environ["REPORT_CURRENCY"] = "xxx"
        self.assertEqual(currency(), "xxx")
