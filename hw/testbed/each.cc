#include "hw/testbed/each.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/replace_all.h"
#include "hw/launch/remote_command.h"
#include "hw/launch/remote_shell.h"
#include "hw/testbed/entry.h"

namespace slackline::hw {
namespace {

constexpr int kRootPort = 7000;
constexpr int kLost = 255;

struct RunningHost {
  RunningHost(std::string name_, std::vector<std::string> command)
      : name(std::move(name_)), shell(std::move(command)) {}
  std::string name;
  RemoteShell shell;
  std::string heard = {};  // what has no end of line yet
  std::optional<int> status = {};
};

}  // namespace

std::vector<std::string> words_of_rank(const std::vector<std::string>& words, std::uint32_t rank,
                                       std::uint32_t ranks) {
  std::vector<std::string> own = words;
  for (std::string& word : own) {
    base::replace_all(word, "{rank}", std::to_string(rank));
    base::replace_all(word, "{ranks}", std::to_string(ranks));
    base::replace_all(word, "{root}", fmt::format("{}:{}", testbed_address(0), kRootPort));
  }
  return own;
}

std::vector<int> run_on_each(
    const SwitchTree& tree, const std::string& entry_program, const std::string& folder,
    const std::vector<std::string>& words, int stop,
    const std::function<void(const std::string& host, std::string_view line)>& hear) {
  std::deque<RunningHost> hosts;
  const auto ranks = static_cast<std::uint32_t>(tree.hosts.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::vector<std::string> own = words_of_rank(words, rank, ranks);
    const std::string& name = tree.hosts[rank].name;
    hosts.emplace_back(
        name, std::vector<std::string>{
                  entry_program, "--", name,
                  remote_command(folder, own.front(), {own.begin() + 1, own.end()}) + " 2>&1"});
  }
  const auto take = [&](RunningHost& host) {
    const std::optional<int> ended = host.shell.ended();  // before the last that it says is read
    host.heard += host.shell.hear();
    for (std::size_t end; (end = host.heard.find('\n')) != std::string::npos;) {
      hear(host.name, std::string_view(host.heard).substr(0, end));
      host.heard.erase(0, end + 1);
    }
    if (!ended) return;
    if (!host.heard.empty()) hear(host.name, host.heard);
    const bool exited = WIFEXITED(*ended);
    host.status = exited ? WEXITSTATUS(*ended) : kLost;
    if (host.status == kLost) hear(host.name, host.shell.last_words());
  };
  const auto is_left = [](const RunningHost& host) { return !host.status; };
  bool stopped = false;
  while (!stopped && std::ranges::any_of(hosts, is_left)) {
    std::vector<pollfd> entries = {{stop, POLLIN, 0}};
    for (const RunningHost& host : hosts) {
      if (host.shell.out() >= 0) entries.push_back({host.shell.out(), POLLIN, 0});
    }
    // The end of a shell shows by no descriptor of its own.
    poll(entries.data(), entries.size(), 20);
    stopped = entries.front().revents != 0;
    for (RunningHost& host : hosts) {
      if (is_left(host)) take(host);
    }
  }
  std::vector<int> statuses;
  for (const RunningHost& host : hosts) statuses.push_back(host.status.value_or(kLost));
  return statuses;
}

}  // namespace slackline::hw
