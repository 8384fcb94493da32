"""Ranks whose clocks run at different rates, as those of different hosts do: times are put right, and
a correct run is found to be one.
"""

import json
import os
import unittest

from program_case import main
from rank_case import RankCase

CLOCK = os.environ.get("SLACKLINE_CLOCK_LIBRARY")
# Calls of which each waits for the last one's place, and has a result that the caller waits for: some
# 0.2 s in which both sides hear of each other all the time.
SPEC = "call-return:ranks=2,bytes=24,messages=10,chunk=64,chunks=1,chunk-limit=1,handler=20ms"


@unittest.skipUnless(CLOCK, "the library that changes a clock is not built")
class Clocks(RankCase):
    def run_with_rates(self, *rates_ppm):
        """Each rank's clock runs that much fast. The document of rank 0."""
        prefixes = [("env", f"LD_PRELOAD={CLOCK}", f"SLACKLINE_CLOCK_PPM={ppm}") if ppm else ()
                    for ppm in rates_ppm]
        ranks = self.start_ranks(len(rates_ppm), SPEC, "--transport", "tcp", "--warm-up", 0,
                                 "--iterations", 2, "--json",
                                 prefix_of=lambda rank: prefixes[rank])
        done = [rank.wait() for rank in ranks]
        self.assertEqual([(d.code, d.err) for d in done], [(0, "")] * len(done), done)
        return json.loads(done[0].out)

    def test_a_correct_run_is_not_refuted(self):
        for ppm in (20000, -20000):
            document = self.run_with_rates(0, ppm)
            self.assertEqual((document["contents_checked"], document["contents_findings"]),
                             (True, []))
            # The other's clock is seen to go its own way.
            self.assertGreater(document["clock_error_s"], 0)

    def test_one_clock_needs_no_error(self):
        self.assertEqual(self.run_with_rates(0, 0)["clock_error_s"], 0)


if __name__ == "__main__":
    main()
