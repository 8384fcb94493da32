#include "hw/launch/remote_ranks.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "hw/launch/agent_words.h"
#include "hw/launch/remote_shell.h"

namespace slackline::hw {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// How long agents that were hung up on have to end their ranks.
constexpr Milliseconds kFarewell{5'000};
// Of ssh itself; of shells where there is no such program, or none that may be run.
constexpr int kNotReached = 255;
constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;

struct Agent {
  explicit Agent(const RemoteHost& host) : of(&host), shell(host.command) {}
  const RemoteHost* of;
  RemoteShell shell;
  AgentReader heard;
  bool ordered = false;
  std::optional<RankEnd> end;  // what the host came to
  bool gone = false;           // its shell has ended
};

class Starter {
 public:
  Starter(const RemoteRun& run, int stop)
      : run_(run), stop_(stop), greeted_until_(Clock::now() + run.join_timeout) {
    for (const RemoteHost& host : run.hosts) agents_.emplace_back(host);
  }

  RemoteOutcome run() {
    while (!over()) {
      wait();
      for (Agent& agent : agents_) hear(agent);
      if (!hung_up_) give_orders();
      heed_time();
    }
    std::vector<RankEnd> ends;
    for (Agent& agent : agents_) {
      ends.push_back(agent.end.value_or(RankEnd{
          1, fmt::format("host {}: its ranks did not end by themselves", agent.of->name), false}));
    }
    return {most_telling(ends), agents_.front().heard.out(), agents_.front().heard.err()};
  }

 private:
  bool over() const {
    const auto gone = [](const Agent& agent) { return agent.gone; };
    return std::all_of(agents_.begin(), agents_.end(), gone) ||
           (hung_up_ && Clock::now() > *hung_up_ + kFarewell);
  }

  void wait() const {
    std::vector<pollfd> entries;
    for (const Agent& agent : agents_) {
      for (const int fd : {agent.shell.out(), agent.shell.err()}) {
        if (fd >= 0) entries.push_back({fd, POLLIN, 0});
      }
    }
    if (!hung_up_) entries.push_back({stop_, POLLIN, 0});
    // The end of a shell shows by no descriptor of its own.
    poll(entries.data(), entries.size(), 20);
  }

  void hear(Agent& agent) {
    if (agent.gone) return;
    const auto status = agent.shell.ended();
    try {
      agent.heard.take(agent.shell.hear());
    } catch (const EnvironmentError& error) {
      conclude(agent, {3, fmt::format("host {}: {}", agent.of->name, error.what()), false});
      agent.shell.hang_up();
    }
    const auto& version = agent.heard.version();
    if (version && *version != agent_version()) {
      conclude(agent, {3,
                       fmt::format("host {} has slackline {}, and this host {}; expected one "
                                   "version (--remote-program PATH says which program)",
                                   agent.of->name, *version, agent_version()),
                       false});
      agent.shell.hang_up();
    }
    if (agent.heard.end()) {
      RankEnd end = *agent.heard.end();
      // About a machine: which one.
      if (end.code == 3) end.message = fmt::format("host {}: {}", agent.of->name, end.message);
      conclude(agent, std::move(end));
      agent.shell.hang_up();
    }
    if (!status) return;
    agent.gone = true;
    conclude(agent, end_without_word(agent, *status));
  }

  void conclude(Agent& agent, RankEnd end) {
    if (agent.end) return;
    // Whom this process hung up on has nothing to tell.
    if (hung_up_ && !agent.heard.end()) end = {1, "", false};
    if (end.code != 0 && !bad_since_) bad_since_ = Clock::now();
    agent.end = std::move(end);
  }

  RankEnd end_without_word(const Agent& agent, int status) const {
    const std::string& name = agent.of->name;
    const std::string words = agent.shell.last_words();
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (agent.heard.version()) {
      return {1,
              fmt::format("host {} is lost: its ssh ended before its ranks did: {}", name, words),
              true};
    }
    if (code == kNotReached) {
      return {3, fmt::format("host {} cannot be reached: {}", name, words), false};
    }
    if (code == kNotFound || code == kNotRunnable) {
      return {3,
              fmt::format("host {} has no program {}: {}; expected --remote-program PATH", name,
                          run_.program, words),
              false};
    }
    constexpr std::string_view kOurs = "slackline: ";
    const bool is_ours = words.starts_with(kOurs) && code > 0;
    return {
        is_ours ? code : 3,
        is_ours ? fmt::format("host {}: {}", name, words.substr(kOurs.size()))
        : code >= 0
            ? fmt::format("host {}: ssh ended with {}: {}; expected an agent of slackline there",
                          name, code, words)
            : fmt::format("host {}: ssh was ended by a signal: {}", name, words),
        false};
  }

  bool all_greeted() const {
    return std::all_of(agents_.begin(), agents_.end(), [](const Agent& agent) {
      return agent.heard.version().has_value() && !agent.end;
    });
  }

  void give_orders() {
    if (!greeted_ && !(greeted_ = all_greeted())) return;
    Agent& first = agents_.front();
    if (!first.ordered) order(first, "");
    if (!first.heard.root()) return;
    for (Agent& agent : agents_) {
      if (!agent.ordered) order(agent, *first.heard.root());
    }
  }

  void order(Agent& agent, const std::string& root) const {
    AgentOrder order;
    order.ranks = run_.ranks;
    order.hosts = static_cast<std::uint32_t>(run_.hosts.size());
    order.mine = agent.of->ranks;
    order.root = root;
    order.secret_text = run_.secret_text;
    std::string text = text_of(order);
    // Who does not hear it is found to be gone.
    agent.shell.say(text);
    agent.ordered = true;
    explicit_bzero(text.data(), text.size());
    explicit_bzero(order.secret_text.data(), order.secret_text.size());
  }

  void heed_time() {
    if (hung_up_) return;
    pollfd entry{stop_, POLLIN, 0};
    const bool stopped = stop_ >= 0 && poll(&entry, 1, 0) > 0;
    if (!greeted_ && !bad_since_ && Clock::now() > greeted_until_) late();
    // Before the ranks were started, nobody else has anything to say.
    const Milliseconds grace = greeted_ ? run_.grace : Milliseconds(0);
    const bool all_ended = std::all_of(agents_.begin(), agents_.end(),
                                       [](const Agent& agent) { return agent.end.has_value(); });
    if (!stopped && !all_ended && !(bad_since_ && Clock::now() >= *bad_since_ + grace)) return;
    for (Agent& agent : agents_) agent.shell.hang_up();
    hung_up_ = Clock::now();
  }

  void late() {
    for (Agent& agent : agents_) {
      if (agent.heard.version()) continue;
      conclude(agent, {3,
                       fmt::format(
                           "host {} did not answer within {} s: {}; give more with --join-timeout",
                           agent.of->name, std::chrono::duration<double>(run_.join_timeout).count(),
                           agent.shell.last_words()),
                       false});
    }
  }

  const RemoteRun& run_;
  int stop_;
  Clock::time_point greeted_until_;
  std::vector<Agent> agents_;
  bool greeted_ = false;
  std::optional<Clock::time_point> bad_since_;
  std::optional<Clock::time_point> hung_up_;
};

}  // namespace

RemoteOutcome run_remote_ranks(const RemoteRun& run, int stop) { return Starter(run, stop).run(); }

}  // namespace slackline::hw
