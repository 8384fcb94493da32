#include "hw/fabric/notices.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::hw {

void FabricNotices::open(std::uint32_t number) {
  Channel& channel = channels_[number];
  if (!channel.is_open) unopened_ -= channel.early.size();
  channel.is_open = true;
}

std::optional<Completion> FabricNotices::expect(std::uint32_t number, std::uint64_t tag) {
  const auto found = channels_.find(number);
  if (found == channels_.end() || !found->second.is_open) {
    throw InternalError(fmt::format("channel {} does not end here", number));
  }
  Channel& channel = found->second;
  if (channel.early.empty()) {
    channel.expected.push_back(tag);
    return std::nullopt;
  }
  const Completion completion{tag, RequestKind::kRecv, channel.early.front(), 0};
  channel.early.pop_front();
  return completion;
}

std::optional<Completion> FabricNotices::arrived(std::uint32_t number, std::uint32_t immediate) {
  auto found = channels_.find(number);
  if (found == channels_.end() || !found->second.is_open) {
    if (unopened_ == kMostUnopened) {
      throw EnvironmentError(
          fmt::format("libfabric {}: more than {} writes for channels that are not open here; does "
                      "somebody else write to this port?",
                      provider_, kMostUnopened));
    }
    ++unopened_;
    found = channels_.try_emplace(number).first;
  }
  Channel& channel = found->second;
  if (channel.expected.empty()) {
    channel.early.push_back(immediate);
    return std::nullopt;
  }
  const Completion completion{channel.expected.front(), RequestKind::kRecv, immediate, 0};
  channel.expected.pop_front();
  return completion;
}

}  // namespace slackline::hw
