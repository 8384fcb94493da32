// Compiles a chain over four ranks and prints its digest.
#include <cstdio>

#include "base/error.h"
#include "sched/pattern/pattern.h"

int main() {
  using namespace slackline::sched;
  try {
    const PatternEntry* chain = find_pattern("chain");
    if (chain == nullptr) return 1;
    MulticastOptions options;
    options.ranks = 4;
    options.bytes = 1 << 20;
    options.block_bytes = 1 << 16;
    const Schedule schedule = lower_credits(lower_transfers(chain->plan(options)));
    std::puts(to_string(schedule.digest()).c_str());
  } catch (const slackline::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
