#include "offload/queue_names.h"

#include "base/enum_names.h"

namespace slackline::offload {
namespace {

using base::EnumNames;

constexpr EnumNames<Mode, 3> kModes = {"sq-wait", "mq-enable", "rdmc-mq"};
constexpr EnumNames<Readiness, 3> kReadiness = {"none", "handshake", "window"};
constexpr EnumNames<QueueKind, 3> kQueueKinds = {"send", "receive", "management"};
constexpr EnumNames<Purpose, 5> kPurposes = {"data", "ready", "credit", "order", "collect"};
constexpr EnumNames<EntryKind, kEntryKinds> kKinds = {"nop",  "send",        "write",      "recv",
                                                      "wait", "send_enable", "recv_enable"};

}  // namespace

std::string_view name(Mode value) { return kModes[value]; }
std::string_view name(Readiness value) { return kReadiness[value]; }
std::string_view name(QueueKind value) { return kQueueKinds[value]; }
std::string_view name(Purpose value) { return kPurposes[value]; }
std::string_view name(EntryKind value) { return kKinds[value]; }

std::optional<Mode> mode_named(std::string_view text) { return kModes.find(text); }
std::optional<Readiness> readiness_named(std::string_view text) { return kReadiness.find(text); }
std::optional<QueueKind> queue_kind_named(std::string_view text) { return kQueueKinds.find(text); }
std::optional<Purpose> purpose_named(std::string_view text) { return kPurposes.find(text); }
std::optional<EntryKind> entry_kind_named(std::string_view text) { return kKinds.find(text); }

}  // namespace slackline::offload
