#include "hw/launch/agent.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "base/error.h"
#include "base/read_file.h"
#include "base/write_all.h"
#include "hw/mesh/root_address.h"

namespace slackline::hw {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

AgentLink::AgentLink(int in, int out) : in_(in), out_(out) { say(agent_hello()); }

AgentOrder AgentLink::order(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  std::string text;
  std::array<char, 4096> buffer{};
  while (!is_whole_order(text)) {
    if (text.size() > kMostOrder || Clock::now() > until) {
      throw InputError("no order on standard input; --agent is for the use of --hosts alone");
    }
    pollfd entry{in_, POLLIN, 0};
    if (poll(&entry, 1, 100) <= 0) continue;
    const ssize_t got = read(in_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw InputError(
          "standard input ended before its order; --agent is for the use of --hosts alone");
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  AgentOrder order = agent_order_of(text);
  explicit_bzero(text.data(), text.size());
  explicit_bzero(buffer.data(), buffer.size());
  return order;
}

void AgentLink::tell_end(int out, int err, const RankEnd& end) const {
  say(agent_output(sched::contents_of(out), false));
  say(agent_output(sched::contents_of(err), true));
  say(agent_end(end));
}

int AgentLink::descriptor_of_end(int other) {
  ends_.reset(epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : {in_, other}) {
    epoll_event event{};
    event.events = EPOLLIN;
    // Files, which are always at their end, are refused: whoever gave one waits for no end.
    if (ends_) static_cast<void>(epoll_ctl(ends_.get(), EPOLL_CTL_ADD, fd, &event));
  }
  return ends_.get();
}

// Where nobody hears it, standard input ends too.
void AgentLink::say(std::string_view text) const { base::write_all(out_, text); }

std::string address_of_agent(const std::string& connection) {
  // "client port server port".
  std::istringstream words(connection);
  std::string word;
  std::string server;
  for (int i = 0; i < 3 && words >> word; ++i) server = i == 2 ? word : "";
  const bool is_loopback = server.starts_with("127.") || server == "::1";
  // What is of one link only means nothing at other hosts.
  if (!server.empty() && !is_loopback && server.find('%') == std::string::npos) return server;
  std::string address = address_for_others();
  if (!address.empty()) return address;
  throw EnvironmentError(
      "this host has no address but loopback; give the one that others reach it at: address=… in "
      "the list of hosts");
}

Descriptor nameless_file() {
  Descriptor file(memfd_create("slackline-output", MFD_CLOEXEC));
  if (!file) {
    throw EnvironmentError(fmt::format("no descriptor: {}; see `ulimit -n`", strerror(errno)));
  }
  return file;
}

}  // namespace slackline::hw
