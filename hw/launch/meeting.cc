#include "hw/launch/meeting.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "hw/local_address.h"
#include "hw/mesh/root_address.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kBegin = "slackline1/";
constexpr std::string_view kNoSecret = "file";

[[noreturn]] void refuse() {
  throw EnvironmentError(
      "what the launcher's exchange of keys gives for rank 0 is not what a rank of this version "
      "puts there; run one version at all ranks");
}

std::string address_to_meet_at(bool all_on_one_host, const MeshOptions& options) {
  if (!options.host.empty()) return options.host;
  if (all_on_one_host) return "127.0.0.1";
  std::string address = address_for_others();
  if (!address.empty()) return address;
  throw EnvironmentError(
      "rank 0's host has no address but loopback; give --host ADDRESS, where the others reach it");
}

}  // namespace

std::string word_of(const MeetingPoint& point) {
  return fmt::format("{}{}/{}", kBegin, point.root,
                     point.secret_text.empty() ? kNoSecret : point.secret_text);
}

MeetingPoint meeting_point_of(const std::string& word) {
  if (word.size() > kMostSharedWord || !word.starts_with(kBegin)) refuse();
  const std::string_view rest = std::string_view(word).substr(kBegin.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) refuse();
  MeetingPoint point;
  point.root = rest.substr(0, slash);
  const std::string_view secret = rest.substr(slash + 1);
  if (secret != kNoSecret) {
    if (!Secret::is_drawn_text(secret)) refuse();
    point.secret_text = secret;
  }
  const auto is_of_address = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == ':' || c == '[' || c == ']' || c == '-' || c == '_' || c == '%';
  };
  if (!std::all_of(point.root.begin(), point.root.end(), is_of_address)) refuse();
  try {
    parse_host_port(point.root, "root");
  } catch (const InputError&) {
    refuse();
  }
  return point;
}

Meeting meet_by_launcher(const LauncherKeys& exchange, bool all_on_one_host, MeshOptions& options) {
  Meeting meeting;
  std::string word;
  if (options.rank == 0) {
    const std::string address = address_to_meet_at(all_on_one_host, options);
    meeting.port.emplace(listening_addresses(address).front());
    word = word_of(
        {with_port(address, meeting.port->port()), options.secret ? "" : Secret::drawn_text()});
  }
  SharedWord shared = share_word(exchange, options.rank, word, options.join_timeout);
  explicit_bzero(word.data(), word.size());
  if (shared.word.empty()) {
    meeting.why_none = shared.why_none;
    return meeting;
  }
  MeetingPoint point = meeting_point_of(shared.word);
  explicit_bzero(shared.word.data(), shared.word.size());
  if (point.secret_text.empty() != options.secret.has_value()) {
    throw InputError(fmt::format(
        "--secret: rank 0 was {} one and rank {} {}; expected one at all "
        "ranks or at none",
        options.secret ? "not given" : "given", options.rank, options.secret ? "was" : "was not"));
  }
  options.root = point.root;
  if (meeting.port) options.root_socket = meeting.port->socket();
  if (!point.secret_text.empty()) options.secret = Secret::of_text(point.secret_text);
  explicit_bzero(point.secret_text.data(), point.secret_text.size());
  return meeting;
}

}  // namespace slackline::hw
