import unittest
from datetime import date

from terms import due, reminder


class Terms(unittest.TestCase):
    def test_due(self):
        self.assertEqual(due(date(2026, 3, 2)), date(2026, 4, 1))

    def test_due_at_the_end_of_a_month(self):
        self.assertEqual(due(date(2026, 1, 31)), date(2026, 3, 2))

    def test_reminder_comes_a_week_later(self):
        self.assertEqual(reminder(date(2026, 3, 2)), date(2026, 4, 8))
