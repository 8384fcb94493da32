"""Ranks that are killed at random moments."""

from faults_case import FaultsCase
from program_case import main


class Kills(FaultsCase):
    def test_survivors_name_who_is_gone(self):
        self.strike_all(stopped=False)


if __name__ == "__main__":
    main()
