#include "hw/launch/pmi1.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "hw/launch/pmi1_wire.h"

namespace slackline::hw {
namespace {

using Clock = std::chrono::steady_clock;

// The launcher has closed its end, or another process has said farewell at this one.
struct HungUp {};

class Pmi1Connection {
 public:
  Pmi1Connection(Descriptor socket, std::chrono::milliseconds patience)
      : socket_(std::move(socket)), patience_(patience), until_(Clock::now() + patience) {}
  // What was heard may be secret.
  ~Pmi1Connection() { explicit_bzero(heard_.data(), heard_.size()); }
  Pmi1Connection(const Pmi1Connection&) = delete;
  Pmi1Connection& operator=(const Pmi1Connection&) = delete;

  /// Throws HungUp, EnvironmentError.
  Pmi1Answer ask(std::string_view name, std::string_view expected,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values = {}) {
    say(pmi1_command(name, values), name);
    return {hear(name), name, expected};
  }

 private:
  void say(std::string line, std::string_view name) {
    std::string_view rest = line;
    while (!rest.empty()) {
      await(POLLOUT, name);
      const ssize_t sent =
          send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent < 0) throw HungUp{};
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    explicit_bzero(line.data(), line.size());
  }

  std::string hear(std::string_view name) {
    for (;;) {
      const auto end = std::find(heard_.begin(), heard_.begin() + count_, '\n');
      if (end != heard_.begin() + count_) {
        std::string line(heard_.begin(), end);
        // Each question has one answer.
        if (end + 1 != heard_.begin() + count_) line += '\n';
        count_ = 0;
        return line;
      }
      if (count_ == static_cast<std::ptrdiff_t>(heard_.size())) {
        return std::string(kMostPmi1Line + 1, '=');
      }
      await(POLLIN, name);
      const ssize_t got = recv(socket_.get(), heard_.data() + count_,
                               heard_.size() - static_cast<std::size_t>(count_), MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) throw HungUp{};
      count_ += got;
    }
  }

  void await(short events, std::string_view name) const {
    pollfd entry{socket_.get(), events, 0};
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now()).count();
      if (left <= 0) {
        throw EnvironmentError(fmt::format(
            "the launcher did not answer \"{}\" within {} s, for which all ranks must come; "
            "see whether each of them was started, or give more with --join-timeout",
            name, std::chrono::duration<double>(patience_).count()));
      }
      if (poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000))) > 0) return;
    }
  }

  Descriptor socket_;
  std::chrono::milliseconds patience_;
  Clock::time_point until_;
  std::array<char, kMostPmi1Line> heard_{};
  std::ptrdiff_t count_ = 0;
};

std::string exchange(Pmi1Connection& launcher, std::uint32_t rank, const std::string& word) {
  const auto most = launcher.ask("get_maxes", "maxes");
  const std::string_view key = kSharedWordKey;
  // With the zero that ends texts in C.
  if (most.number("keylen_max") <= key.size() || most.number("vallen_max") <= kMostSharedWord) {
    throw EnvironmentError(fmt::format(
        "the launcher takes keys of less than {} bytes and values of less than {}; expected {} and "
        "{}; give --rank, --ranks and --root",
        most.number("keylen_max"), most.number("vallen_max"), key.size() + 1, kMostSharedWord + 1));
  }
  const std::string space(launcher.ask("get_my_kvsname", "my_kvsname").value("kvsname"));
  if (rank == 0) {
    launcher.ask("put", "put_result", {{"kvsname", space}, {"key", key}, {"value", word}});
  }
  launcher.ask("barrier_in", "barrier_out");
  const auto found = launcher.ask("get", "get_result", {{"kvsname", space}, {"key", key}});
  std::string told(found.value("value"));
  launcher.ask("finalize", "finalize_ack");
  return told;
}

}  // namespace

SharedWord share_by_pmi1(Descriptor connection, std::uint32_t rank, const std::string& word,
                         std::chrono::milliseconds patience) {
  Pmi1Connection launcher(std::move(connection), patience);
  try {
    const auto begun =
        launcher.ask("init", "response_to_init", {{"pmi_version", "1"}, {"pmi_subversion", "1"}});
    if (begun.number("pmi_version") != 1) {
      return {"", "the launcher speaks another version of PMI than 1"};
    }
  } catch (const HungUp&) {
    return {"", "the launcher's exchange of keys, which it gives once, has ended"};
  }
  try {
    return {exchange(launcher, rank, word), ""};
  } catch (const HungUp&) {
    throw EnvironmentError(
        "the launcher ended the exchange of keys in its middle: another rank ended before, or the "
        "launcher did; look at what it says");
  }
}

}  // namespace slackline::hw
