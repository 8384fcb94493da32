#include "machine/topology/figures.h"

#include "base/error.h"
#include "base/split.h"

namespace slackline::machine {

std::vector<std::uint32_t> CountsFigure::read(std::string_view text, std::string_view what) {
  constexpr std::size_t kMost = 20;
  std::vector<std::uint32_t> counts;
  for (const std::string_view item : base::split(text, 'x')) {
    counts.push_back(static_cast<std::uint32_t>(sched::parse_count(item, what, 1, kMaxHosts)));
    if (counts.size() > kMost) {
      throw InputError(fmt::format("{}: too many numbers; expected at most {}", what, kMost));
    }
  }
  return counts;
}

}  // namespace slackline::machine
