import unittest
from datetime import date

from passes import Pass, is_valid

LAST_DAY = date(2024, 9, 30)


class Valid(unittest.TestCase):
    def test_before_its_last_day(self):
        self.assertTrue(is_valid(Pass(1, LAST_DAY), date(2024, 9, 29)))

    def test_on_its_last_day(self):
        self.assertTrue(is_valid(Pass(1, LAST_DAY), LAST_DAY))

    def test_after_its_last_day(self):
        self.assertFalse(is_valid(Pass(1, LAST_DAY), date(2024, 10, 1)))
