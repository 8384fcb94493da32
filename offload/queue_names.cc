#include "offload/queue_names.h"

#include <array>

namespace slackline::offload {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"sq-wait", "mq-enable", "rdmc-mq"};
constexpr std::array<std::string_view, 3> kReadiness = {"none", "handshake", "window"};
constexpr std::array<std::string_view, 3> kQueueKinds = {"send", "receive", "management"};
constexpr std::array<std::string_view, 5> kPurposes = {"data", "ready", "credit", "order",
                                                       "collect"};
constexpr std::array<std::string_view, kEntryKinds> kKinds = {
    "nop", "send", "write", "recv", "wait", "send_enable", "recv_enable"};

template <class Enum, std::size_t size>
std::optional<Enum> find(const std::array<std::string_view, size>& names, std::string_view text) {
  for (std::size_t i = 0; i < size; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }
std::string_view name(Readiness readiness) {
  return kReadiness[static_cast<std::size_t>(readiness)];
}
std::string_view name(QueueKind kind) { return kQueueKinds[static_cast<std::size_t>(kind)]; }
std::string_view name(Purpose purpose) { return kPurposes[static_cast<std::size_t>(purpose)]; }
std::string_view name(EntryKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::optional<Mode> mode_named(std::string_view text) { return find<Mode>(kModes, text); }
std::optional<Readiness> readiness_named(std::string_view text) {
  return find<Readiness>(kReadiness, text);
}
std::optional<QueueKind> queue_kind_named(std::string_view text) {
  return find<QueueKind>(kQueueKinds, text);
}
std::optional<Purpose> purpose_named(std::string_view text) {
  return find<Purpose>(kPurposes, text);
}
std::optional<EntryKind> entry_kind_named(std::string_view text) {
  return find<EntryKind>(kKinds, text);
}

}  // namespace slackline::offload
