#include "hw/group/control.h"

#include <cstring>
#include <limits>
#include <vector>

namespace slackline::hw {

// Numbers of 64 bits each: word, group, number, messages, whether decided, decided, then the
// members.
Bytes encode(const GroupControl& control) {
  const SettlementNotice& notice = control.notice;
  std::vector<std::uint64_t> numbers = {static_cast<std::uint64_t>(control.word),
                                        control.group,
                                        control.number,
                                        notice.messages,
                                        notice.decided.has_value(),
                                        notice.decided.value_or(0)};
  numbers.insert(numbers.end(), notice.lost.begin(), notice.lost.end());
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

std::optional<GroupControl> decode_group_control(std::span<const std::byte> bytes) {
  constexpr std::size_t kHead = 6;
  std::vector<std::uint64_t> numbers(bytes.size() / 8);
  if (bytes.size() % 8 != 0 || numbers.size() < kHead) return std::nullopt;
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  if (numbers[0] < 1 || numbers[0] > static_cast<std::uint64_t>(GroupWord::kLeft)) {
    return std::nullopt;
  }
  if (numbers[1] > std::numeric_limits<std::uint32_t>::max() || numbers[4] > 1) return std::nullopt;
  GroupControl control;
  control.word = static_cast<GroupWord>(numbers[0]);
  control.group = static_cast<std::uint32_t>(numbers[1]);
  control.number = numbers[2];
  control.notice.messages = numbers[3];
  if (numbers[4] != 0) control.notice.decided = numbers[5];
  for (std::size_t i = kHead; i < numbers.size(); ++i) {
    if (numbers[i] > 1) return std::nullopt;
    control.notice.lost.push_back(numbers[i] != 0);
  }
  return control;
}

}  // namespace slackline::hw
