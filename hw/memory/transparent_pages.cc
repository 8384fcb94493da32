#include "hw/memory/transparent_pages.h"

#include <string>
#include <string_view>

#include "base/number.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kKey = "AnonHugePages:";

std::string_view up_to(std::string_view text, char end) { return text.substr(0, text.find(end)); }

// "7f01-7f05 rw-p …" begins a mapping, "Size:    4 kB" says something of it.
bool lies_within(std::string_view range, std::uint64_t begin, std::uint64_t end) {
  const std::string_view first = up_to(range, '-');
  if (first.size() == range.size()) return false;
  const auto from = base::whole_number<std::uint64_t>(first, 16);
  const auto to = base::whole_number<std::uint64_t>(range.substr(first.size() + 1), 16);
  return from && to && *from >= begin && *to <= end;
}

}  // namespace

std::uint64_t transparent_huge_bytes(std::istream& smaps, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t sum = 0;
  bool within = false;
  for (std::string line; std::getline(smaps, line);) {
    const std::string_view word = up_to(line, ' ');
    if (!word.ends_with(':')) {
      within = lies_within(word, begin, end);
    } else if (within && word == kKey) {
      const std::size_t at = line.find_first_not_of(' ', kKey.size());
      if (at == std::string::npos) continue;
      const auto kib =
          base::whole_number<std::uint64_t>(up_to(std::string_view(line).substr(at), ' '));
      sum += 1024 * kib.value_or(0);
    }
  }
  return sum;
}

}  // namespace slackline::hw
