import unittest
from decimal import Decimal

from tally import total


class Total(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(total(["1.50", "2.25"]), Decimal("3.75"))

    def test_blank_lines_and_comments_do_not_count(self):
        self.assertEqual(total(["", "# March", "4 # taxi"]), Decimal("4"))

    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(total(["0.125"]), Decimal("0.13"))
