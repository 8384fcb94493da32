#include "engines/goal_told.h"

#include "base/number.h"
#include "base/split.h"

namespace slackline::engines {

std::optional<std::uint64_t> goal_finish(std::string_view told) {
  constexpr std::string_view kLine = "Maximum finishing time at host ";
  const std::size_t at = told.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = told.substr(at + kLine.size());
  base::take_item(line, ':');
  line = base::trimmed(line.substr(0, line.find('(')));
  return base::whole_number<std::uint64_t>(line);
}

}  // namespace slackline::engines
