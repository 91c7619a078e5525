import unittest

from shares import split


class Split(unittest.TestCase):
    def test_even_total(self):
        self.assertEqual(split(900, 3), [300, 300, 300])

    def test_odd_cents_are_paid_by_the_first_ones(self):
        self.assertEqual(split(1001, 3), [334, 334, 333])

    def test_shares_add_up(self):
        for total in range(50):
            self.assertEqual(sum(split(total, 7)), total)

    def test_nobody_at_the_table(self):
        with self.assertRaises(ValueError):
            split(900, 0)
