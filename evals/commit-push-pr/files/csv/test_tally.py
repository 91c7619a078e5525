import unittest
from decimal import Decimal

from tally import total, total_of_csv


class Total(unittest.TestCase):
    def test_adds_up(self):
        self.assertEqual(total(["1.50", "2.25"]), Decimal("3.75"))

    def test_blank_lines_and_comments_do_not_count(self):
        self.assertEqual(total(["", "# March", "4 # taxi"]), Decimal("4"))

    def test_csv_has_its_amounts_in_a_column(self):
        self.assertEqual(total_of_csv(["day,amount", "1,2.50", "2,4"]), Decimal("6.50"))
