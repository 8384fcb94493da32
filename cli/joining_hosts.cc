// Ranks on other hosts: this process starts agents there, or is one.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "cli/joining.h"
#include "cli/program.h"
#include "hw/local_address.h"
#include "hw/local_port.h"
#include "hw/mesh/root_address.h"
#include "hw/rank_limits.h"
#include "hw/transport_choice.h"
#include "hw/transports.h"

namespace slackline::cli {
namespace {

constexpr std::chrono::seconds kEndOfRanks{3};

// What is written as a note there is one here.
void pass_on_notes(const std::string& text, Console& console) {
  constexpr std::string_view kNote = "slackline: note: ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    console.note(line.starts_with(kNote) ? line.substr(kNote.size()) : line);
  }
}

}  // namespace

void Joining::check_beside_hosts(std::uint32_t ranks, bool by_standard_input) const {
  hosts_.check(ranks);
  if (hosts_.given().empty()) return;
  for (const auto& [option, value] :
       {std::pair{"--rank", &rank_}, std::pair{"--ranks", &ranks_}, std::pair{"--root", &root_},
        std::pair{"--secret", &secret_}, std::pair{"--host", &host_}}) {
    const bool of_list = hosts_.is_agent() && value == &host_;
    if (!*value || of_list) continue;
    throw InputError(
        fmt::format("{} beside {}: the list says where ranks are, and ssh brings them "
                    "a secret; expected one of them",
                    option, hosts_.given()));
  }
  if (by_standard_input) {
    throw InputError(
        fmt::format("SCHEDULE - beside {}: other hosts cannot read it; expected a spec, or a file "
                    "that is there "
                    "too",
                    hosts_.given()));
  }
  if (hosts_.starts_elsewhere()) hosts_.remote_run(ranks, verbs_.name_ports());
}

int Joining::run_elsewhere(std::uint32_t ranks, Console& console) const {
  hw::RemoteRun run = hosts_.remote_run(ranks, verbs_.name_ports());
  run.secret_text = hw::Secret::drawn_text();
  run.join_timeout = timeouts().join_timeout;
  run.grace = 2 * failure_timeout() + 2 * kEndOfRanks;
  const hw::EndSignals signals;
  console.phase("starting ranks");
  const hw::RemoteOutcome outcome = hw::run_remote_ranks(run, signals.descriptor());
  console.clear();
  if (const auto signal = signals.take()) {
    console.error(hw::ended_by(*signal));
    hw::die_by(*signal);
  }
  if (!outcome.end.message.empty()) throw Error(outcome.end.message, outcome.end.code);
  console.print_contents(outcome.out);
  pass_on_notes(outcome.err, console);
  return outcome.end.code;
}

int Joining::run_as_agent(std::uint32_t ranks,
                          const std::function<int(const hw::MeshOptions&, Console&)>& body,
                          std::uint64_t all_bytes, std::uint64_t most_bytes) const {
  hw::AgentLink link(STDIN_FILENO, STDOUT_FILENO);
  const hw::AgentOrder order = link.order(2 * timeouts().join_timeout);
  hw::Descriptor out, err;
  hw::RankEnd end;
  Console silent(STDERR_FILENO, STDERR_FILENO);
  const Ending ending = run_caught(
      [&] {
        if (order.ranks != ranks) {
          throw InputError(
              fmt::format("the schedule has {} ranks at rank {} and {} where it was "
                          "started; expected the same",
                          ranks, order.mine.front(), order.ranks));
        }
        if (order.mine.front() == 0) {
          out = hw::nameless_file();
          err = hw::nameless_file();
        }
        end = run_ordered(order, link, {order.mine, out.get(), err.get(), -1}, body, all_bytes,
                          most_bytes);
        return 0;
      },
      silent);
  if (!ending.error.empty()) end = {ending.code, ending.error, false};
  link.tell_end(out.get(), err.get(), end);
  return 0;
}

hw::RankEnd Joining::run_ordered(const hw::AgentOrder& order, hw::AgentLink& link, Forks forks,
                                 const std::function<int(const hw::MeshOptions&, Console&)>& body,
                                 std::uint64_t all_bytes, std::uint64_t most_bytes) const {
  const hw::Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const std::string shared = transport() == hw::kAutoTransport ? "shm" : transport();
  const double timeout_s = std::chrono::duration<double>(failure_timeout()).count();
  const auto here = static_cast<std::uint32_t>(order.mine.size());
  // Each of them has all others as peers.
  hw::prepare_for_ranks({order.ranks, false, shared, 0, most_bytes, timeout_s, rails()});
  hw::prepare_for_ranks(
      {here, true, shared, std::min(all_bytes, here * most_bytes), most_bytes, timeout_s, rails()});
  hw::load_transport(shared);
  hw::MeshOptions options = timeouts();
  options.ranks = order.ranks;
  options.secret = hw::Secret::of_text(order.secret_text);
  options.root = order.root;
  std::optional<hw::LocalPort> port;
  if (order.root.empty()) {
    const char* const connection = std::getenv("SSH_CONNECTION");
    const std::string address = host_ ? *host_
                                : order.hosts == 1
                                    ? "127.0.0.1"
                                    : hw::address_of_agent(connection == nullptr ? "" : connection);
    port.emplace(hw::listening_addresses(address).front());
    options.root = hw::with_port(address, port->port());
    options.root_socket = port->socket();
    link.tell_root(options.root);
  }
  const hw::EndSignals signals;
  forks.end = link.descriptor_of_end(signals.descriptor());
  hw::RankEnd end = hw::most_telling(run_forked(options, forks, signals, nowhere.get(), body));
  if (const auto signal = signals.take()) {
    end = {1,
           fmt::format("the agent of rank {} and its host's others was {}", order.mine.front(),
                       hw::ended_by(*signal)),
           true};
  }
  return end;
}

}  // namespace slackline::cli
