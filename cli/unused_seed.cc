#include "cli/unused_seed.h"

#include <fmt/format.h>

namespace slackline::cli {

void note_unused_seed(const std::optional<std::uint64_t>& given, bool draws, Console& console) {
  if (!given || draws) return;
  console.note(fmt::format(
      "--seed {}: nothing in this run is drawn at random, so that it changes nothing", *given));
}

}  // namespace slackline::cli
