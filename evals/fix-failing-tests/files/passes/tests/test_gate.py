import unittest
from datetime import date

from gate import opens
from passes import Pass


class Gate(unittest.TestCase):
    def test_opens_for_a_pass(self):
        self.assertTrue(opens(Pass(1, date(9999, 12, 31))))

    def test_stays_closed_without_a_pass(self):
        self.assertFalse(opens(None))
