import unittest
from datetime import date

from passes import Pass, is_valid


class Valid(unittest.TestCase):
    def test_before_its_last_day(self):
        self.assertTrue(is_valid(Pass(1, date(2024, 9, 30))))

    def test_after_its_last_day(self):
        self.assertFalse(is_valid(Pass(1, date(2019, 9, 30))))
