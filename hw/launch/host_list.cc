#include "hw/launch/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/number.h"
#include "base/shown_text.h"
#include "base/split.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kMostSlots = 4096;
constexpr std::size_t kMostWord = 255;
constexpr std::string_view kForm =
    "HOST [slots=N] [device=NAME[:PORT]] [address=ADDRESS] [user=USER]";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What may stand in a name, and never be taken for an option of ssh.
bool is_plain(std::string_view text) {
  constexpr std::string_view kOthers = "._-:%@[]";
  return !text.empty() && text.size() <= kMostWord && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos;
         });
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBetween = " \t\r";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t from = std::min(line.find_first_not_of(kBetween), line.size());
    line.remove_prefix(from);
    const std::size_t end = std::min(line.find_first_of(kBetween), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

class LineReader {
 public:
  explicit LineReader(std::string where) : where_(std::move(where)) {}

  ListedHost read(const std::vector<std::string_view>& words) {
    host_.name = plain(words.front(), "a host");
    for (std::size_t i = 1; i < words.size(); ++i) take(words[i]);
    return host_;
  }

 private:
  void take(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    if (equals == std::string_view::npos) refuse(word, fmt::format("expected {}", kForm));
    if (!keys_.insert(key).second) refuse(word, fmt::format("{} stands twice", key));
    const std::string_view value = word.substr(equals + 1);
    if (key == "slots") {
      host_.slots = slots(word, value);
    } else if (key == "device") {
      host_.device = plain(value, "device");
    } else if (key == "address") {
      host_.address = plain(value, "address");
    } else if (key == "user") {
      host_.user = plain(value, "user");
    } else {
      refuse(word, fmt::format("expected {}", kForm));
    }
  }

  std::uint32_t slots(std::string_view word, std::string_view text) const {
    const auto number = base::whole_number<std::uint32_t>(text);
    if (!number || *number < 1 || *number > kMostSlots) {
      refuse(word, fmt::format("expected a whole number from 1 to {}", kMostSlots));
    }
    return *number;
  }

  std::string plain(std::string_view text, std::string_view what) const {
    if (!is_plain(text)) {
      refuse(text,
             fmt::format("no name for {}; expected letters, digits and ._-:%@[], and no '-' first",
                         what));
    }
    return std::string(text);
  }

  [[noreturn]] void refuse(std::string_view word, const std::string& why) const {
    constexpr std::size_t kShown = 60;
    throw InputError(fmt::format("{}: '{}': {}", where_, sched::shown(word, kShown), why));
  }

  std::string where_;
  ListedHost host_;
  std::set<std::string_view> keys_;
};

}  // namespace

std::vector<ListedHost> parse_host_list(std::string_view text, const std::string& file) {
  std::vector<ListedHost> hosts;
  std::set<std::string> names;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto words = words_of(base::take_item(text, '\n'));
    if (words.empty()) continue;
    hosts.push_back(LineReader(fmt::format("{}:{}", file, line)).read(words));
    if (!names.insert(hosts.back().name).second) {
      throw InputError(
          fmt::format("{}:{}: '{}' stands twice; expected each host once, with slots=N", file, line,
                      hosts.back().name));
    }
  }
  if (hosts.empty()) throw InputError(fmt::format("{}: no host; expected lines {}", file, kForm));
  return hosts;
}

std::vector<std::vector<std::uint32_t>> ranks_on_hosts(const std::vector<ListedHost>& hosts,
                                                       std::uint32_t ranks, HostOrder order,
                                                       const std::string& file) {
  std::uint64_t slots = 0;
  for (const ListedHost& host : hosts) slots += host.slots;
  if (slots < ranks) {
    throw InputError(fmt::format(
        "{}: {} slot{} on {} host{} for {} ranks; expected as many slots "
        "as ranks (slots=N)",
        file, slots, slots == 1 ? "" : "s", hosts.size(), hosts.size() == 1 ? "" : "s", ranks));
  }
  std::vector<std::vector<std::uint32_t>> on(hosts.size());
  std::size_t host = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    while (on[host].size() == hosts[host].slots) host = (host + 1) % hosts.size();
    on[host].push_back(rank);
    if (order == HostOrder::kCycle) host = (host + 1) % hosts.size();
  }
  return on;
}

}  // namespace slackline::hw
