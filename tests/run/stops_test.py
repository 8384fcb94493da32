"""Ranks that are stopped at random moments, and go on when the others have left."""

from faults_case import FaultsCase
from program_case import main


class Stops(FaultsCase):
    def test_survivors_name_who_is_gone(self):
        self.strike_all(stopped=True)


if __name__ == "__main__":
    main()
