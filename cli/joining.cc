#include "cli/joining.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/split.h"
#include "base/units.h"
#include "cli/program.h"
#include "hw/descriptor.h"
#include "hw/interface_address.h"
#include "hw/local_address.h"
#include "hw/local_port.h"
#include "hw/mesh/root_address.h"
#include "hw/place.h"
#include "hw/rails_transport.h"
#include "hw/rank_limits.h"
#include "hw/shm_cleanup.h"
#include "hw/transport_choice.h"
#include "hw/transports.h"
#include "hw/verbs_places.h"
#include "hw/watched_transport.h"

namespace slackline::cli {
namespace {

constexpr std::chrono::seconds kJoinTimeout{30};
constexpr std::chrono::milliseconds kFailureTimeout{2'000};
constexpr std::chrono::milliseconds kStuckPatience{1'000};

std::chrono::milliseconds parse_timeout(const std::optional<std::string>& text,
                                        std::string_view option, std::chrono::milliseconds usual) {
  constexpr double kLeast_s = 0.1;
  constexpr double kMost_s = 86'400;
  if (!text) return usual;
  const double time_s = sched::seconds(sched::parse_time(*text, option));
  if (!(time_s >= kLeast_s && time_s <= kMost_s)) {
    throw InputError(fmt::format("{}: '{}'; expected a time from 100 ms to 24 h", option, *text));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(time_s * 1e3));
}

// Ends a process one of whose threads does not come back from the transport. Ranks that were
// started together leave it to the one that started them to say why.
[[noreturn]] void end_stuck(const hw::Mesh& mesh, bool alone) {
  try {
    mesh.throw_if_lost();
  } catch (const Error& error) {
    if (alone) Console().error(error.what());
  }
  hw::remove_shm_segments_of_lost(mesh);
  hw::remove_own_shm_segments();
  _exit(1);
}

// What it ends with is thrown, so that it is reported as errors of one process are.
int as_one(const hw::RankEnd& end) {
  if (!end.message.empty()) throw Error(end.message, end.code);
  return end.code;
}

}  // namespace

JoinedRank::~JoinedRank() {
  transport.reset();
  if (mesh && mesh->any_lost()) hw::remove_shm_segments_of_lost(*mesh);
}

void Joining::declare(Arguments& arguments) {
  arguments.option("-t,--transport", "NAME", transport_,
                   "what moves the bytes; `list transports`, or auto: shm on one host, else tcp "
                   "(default: shm)");
  arguments.section("How the ranks meet");
  verbs_.declare(arguments);
  arguments.option("--host", "ADDRESS", host_,
                   "where the other ranks reach this one (default: the way to the root)");
  arguments.option("--interface", "NAME,…", interface_,
                   "the same by the names of this host's network interfaces; several: one for each "
                   "of the platform's rails");
  arguments.excludes({"--host"}, {"--interface"});
  arguments.option("--rank", "R", rank_, "this process is rank R (default: all ranks start here)");
  arguments.option("--ranks", "N", ranks_, "with --rank: of how many");
  arguments.option("--root", "HOST:PORT", root_, "with --rank: where rank 0 is asked for");
  arguments.option(
      "--secret", "FILE", secret_,
      "by which ranks know each other (default: the user's own; drawn if all start here)");
  arguments.option("--join-timeout", "TIME", join_timeout_,
                   "how long all ranks may take to come (default: 30s)");
  arguments.option("--failure-timeout", "TIME", failure_timeout_,
                   "within which the others notice that a rank is gone (default: 2s)");
  arguments.option(
      "--bind", "core|numa|none", bind_,
      "ranks to a core each, or to a NUMA node, near the device first (default: none)");
  completion_.declare(arguments);
  hosts_.declare(arguments);
  arguments.section("");
}

std::string_view Joining::given() const {
  for (const auto& [option, value] :
       {std::pair{"--transport", &transport_}, std::pair{"--host", &host_},
        std::pair{"--interface", &interface_}, std::pair{"--rank", &rank_},
        std::pair{"--ranks", &ranks_}, std::pair{"--root", &root_}, std::pair{"--secret", &secret_},
        std::pair{"--join-timeout", &join_timeout_},
        std::pair{"--failure-timeout", &failure_timeout_}, std::pair{"--bind", &bind_}}) {
    if (*value) return option;
  }
  if (completion_.given()) return "--completion";
  if (const std::string_view option = verbs_.given(); !option.empty()) return option;
  return hosts_.given();
}

std::vector<std::string> Joining::interfaces() const {
  std::vector<std::string> names;
  if (!interface_) return names;
  for (const std::string_view name : base::split(*interface_)) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) {
      throw InputError(fmt::format("--interface: '{}'; expected names such as eth0,eth1, each once",
                                   *interface_));
    }
    names.emplace_back(name);
  }
  return names;
}

std::uint32_t Joining::rails() const {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, interfaces().size()));
}

void Joining::check_rails(const machine::Node& node) const {
  const machine::Rails& rails = node.rails;
  const std::size_t named = interfaces().size();
  if (std::max<std::size_t>(named, 1) != rails.count) {
    throw InputError(
        fmt::format("--interface: {} of them, and rails={} of --platform; expected as "
                    "many of one as of the other",
                    named, rails.count));
  }
  if (named > 1 && (transport() == "shm" || transport() == "verbs")) {
    throw InputError(
        fmt::format("--interface: several with transport {}; expected tcp, net or "
                    "tcp;ofi_rxm",
                    transport()));
  }
}

std::chrono::milliseconds Joining::failure_timeout() const {
  return parse_timeout(failure_timeout_, "--failure-timeout", kFailureTimeout);
}

hw::Binding Joining::binding() const {
  if (!bind_) return hw::Binding::kNone;
  const auto found = hw::binding_named(*bind_);
  if (found) return *found;
  throw InputError(fmt::format("--bind: '{}'; expected core, numa or none", *bind_));
}

hw::MeshOptions Joining::timeouts() const {
  hw::MeshOptions options;
  options.join_timeout = parse_timeout(join_timeout_, "--join-timeout", kJoinTimeout);
  options.failure_timeout = failure_timeout();
  if (host_) options.host = *host_;
  if (secret_) options.secret = hw::Secret::of_file(*secret_);
  return options;
}

void Joining::check(std::uint32_t ranks, bool by_standard_input) const {
  timeouts();
  binding();
  waiting();
  if (transport_) hw::require_transport(*transport_, hw::kAutoTransport);
  hw::require_ranks(transport(), ranks);
  verbs_.check(transport());
  if (multicast_) hw::require_multicast(transport());
  check_beside_hosts(ranks, by_standard_input);
  place(ranks);
}

// Nothing: started alone.
std::optional<Joining::Started> Joining::place(std::uint32_t ranks) const {
  if (!hosts_.given().empty()) return std::nullopt;
  Started started{timeouts(), {}, {}};
  hw::MeshOptions& options = started.options;
  const auto told = rank_ || ranks_ ? std::nullopt : hw::place_from_environment();
  if (told) {
    options.rank = told->rank;
    options.ranks = told->ranks;
    options.root = told->root;
    started.place = *told;
    if (!root_ && options.ranks > 1) started.exchange = hw::key_exchange_of_process(*told);
    if (options.root.empty() && !root_ && !started.exchange && options.ranks > 1) {
      throw InputError(told->why_no_root);
    }
  } else if (rank_ || ranks_ || root_) {
    if (!rank_ || !ranks_) {
      throw InputError(fmt::format("{} stands there without {}; expected both",
                                   rank_    ? "--rank"
                                   : ranks_ ? "--ranks"
                                            : "--root",
                                   rank_ ? "--ranks" : "--rank"));
    }
    options.ranks = static_cast<std::uint32_t>(sched::parse_count(*ranks_, "--ranks", 1, 1u << 16));
    options.rank =
        static_cast<std::uint32_t>(sched::parse_count(*rank_, "--rank", 0, options.ranks - 1));
    if (!root_ && options.ranks > 1) {
      throw InputError("--root: missing; expected host:port, where rank 0 is asked for");
    }
  } else {
    return std::nullopt;
  }
  if (root_) options.root = *root_;
  if (!started.exchange) complete(options);
  if (options.ranks != ranks) {
    throw InputError(fmt::format("{} ranks were started, and the schedule has {}; expected as many",
                                 options.ranks, ranks));
  }
  return started;
}

bool Joining::is_started_by_others() const {
  if (!hosts_.given().empty()) return false;
  return rank_ || ranks_ || root_ || hw::place_from_environment();
}

// For ranks whom no launcher tells a secret.
void Joining::complete(hw::MeshOptions& options) {
  if (options.ranks < 2) return;
  if (!options.secret) options.secret = hw::Secret::of_user();
  hw::parse_host_port(options.root, "--root");
}

// What it gives must be kept until rank 0 listens.
hw::Meeting Joining::meet(Started& here, Console& console) {
  if (!here.exchange) return {};
  if (here.options.rank == 0) console.phase("joining");
  hw::Meeting meeting = hw::meet_by_launcher(here.exchange, here.place.one_host, here.options);
  if (meeting.why_none.empty()) return meeting;
  // Another process had mpiexec's exchange before, so that mpiexec did not start this one itself:
  // a port that follows from who started it would be another one at each rank.
  if (here.options.root.empty() || here.place.launcher == hw::Launcher::kPmi) {
    throw InputError(fmt::format("{} ({})", here.place.why_no_root, meeting.why_none));
  }
  complete(here.options);
  return meeting;
}

int Joining::run_ranks(std::uint32_t ranks, Console& console,
                       const std::function<int(const hw::MeshOptions&, Console&)>& body,
                       std::uint64_t all_bytes, std::uint64_t most_bytes) const {
  if (hosts_.starts_elsewhere()) return run_elsewhere(ranks, console);
  if (hosts_.is_agent()) return run_as_agent(ranks, body, all_bytes, most_bytes);
  const hw::Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::optional<Started> here = place(ranks);
  const std::string shared = transport() == hw::kAutoTransport ? "shm" : transport();
  const double timeout_s = std::chrono::duration<double>(failure_timeout()).count();
  hw::prepare_for_ranks({ranks, !here, shared, all_bytes, most_bytes, timeout_s, rails()});
  if (here) {
    hw::say_end_at_signals();
    const hw::Meeting meeting = meet(*here, console);
    const auto warden = start_warden();
    if (warden) warden->announce();
    if (here->options.rank == 0) return body(here->options, console);
    Console silent(nowhere.get(), nowhere.get());
    return body(here->options, silent);
  }
  hw::MeshOptions options = timeouts();
  options.ranks = ranks;
  if (!options.secret) options.secret = hw::Secret::random();
  // A signal is heard once the ranks have ended: nobody is left, nor what they had.
  const hw::EndSignals signals;
  console.phase("starting ranks");
  hw::load_transport(shared);
  const hw::LocalPort port;
  options.root = port.address();
  options.root_socket = port.socket();
  Forks forks{{}, STDOUT_FILENO, STDERR_FILENO, signals.descriptor()};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) forks.ranks.push_back(rank);
  const std::vector<hw::RankEnd> ends = run_forked(options, forks, signals, nowhere.get(), body);
  console.clear();
  if (const auto signal = signals.take()) {
    console.error(hw::ended_by(*signal));
    hw::die_by(*signal);
  }
  return as_one(hw::most_telling(ends));
}

std::vector<hw::RankEnd> Joining::run_forked(
    const hw::MeshOptions& options, const Forks& forks, const hw::EndSignals& signals, int nowhere,
    const std::function<int(const hw::MeshOptions&, Console&)>& body) const {
  const auto warden = start_warden();
  hw::RankProcesses processes(forks.ranks, [&](std::uint32_t rank) {
    signals.let_act();
    if (warden) warden->announce();
    hw::MeshOptions own = options;
    own.rank = rank;
    Console seen(rank == 0 ? forks.out : nowhere, rank == 0 ? forks.err : nowhere);
    if (rank == 0) seen.clear();
    const Ending ending = run_caught([&] { return body(own, seen); }, seen);
    return hw::RankEnd{ending.code, ending.error};
  });
  return processes.wait(2 * options.failure_timeout + std::chrono::seconds(3), forks.end);
}

// Of the transports, only shm leaves anything behind.
std::unique_ptr<hw::ShmWarden> Joining::start_warden() const {
  const bool shares_memory = transport() == "shm" || transport() == hw::kAutoTransport;
  return shares_memory ? std::make_unique<hw::ShmWarden>() : nullptr;
}

JoinedRank Joining::join(hw::MeshOptions options, std::vector<std::string> agreed, Console& console,
                         const sched::Schedule* schedule, const machine::Node& node) const {
  const std::string asked = transport();
  options.on_join = [&](std::uint32_t joined) {
    console.progress("joining", joined, options.ranks);
  };
  console.phase("joining");
  options.agreed = std::move(agreed);
  options.agreed.push_back(fmt::format("transport: {}", asked));
  const hw::Binding bound = binding();
  if (bound != hw::Binding::kNone) {
    options.agreed.push_back(fmt::format("bind: {}", hw::name(bound)));
  }
  if (multicast_) options.agreed.emplace_back("multicast: ud");
  if (node.rails.are_several()) {
    options.agreed.push_back(fmt::format("rails: {} by {}, of {} ranks", node.rails.count,
                                         machine::name(node.rails.rule), node.ranks));
  }
  JoinedRank joined;
  joined.mesh = std::make_unique<hw::Mesh>(options);
  std::string_view chosen = hw::choose_transport(asked, *joined.mesh);
  hw::require_reach(chosen, *joined.mesh);
  hw::require_room(chosen, *joined.mesh);
  if (schedule) chosen = hw::transport_for(chosen, *schedule);
  hw::TransportOptions with;
  with.host = host_ ? *host_
              : options.root.empty()
                  ? "127.0.0.1"
                  : hw::own_address(hw::parse_host_port(options.root, "--root").host);
  with.verbs = verbs_.resolve();
  with.verbs.multicast = multicast_;
  with.verbs.failure_timeout = options.failure_timeout;
  if (chosen == "verbs") hw::set_places(with.verbs, *joined.mesh);
  if (const std::string note = verbs_.note(); !note.empty()) console.note(note);
  joined.transport = make_transports(chosen, with, *joined.mesh, node);
  // Of the transports, only shm has ranks wait for locks of others.
  if (chosen == "shm") {
    joined.transport = hw::watch_calls(
        std::move(joined.transport), *joined.mesh, options.failure_timeout + kStuckPatience,
        [&mesh = *joined.mesh, alone = is_started_by_others()] { end_stuck(mesh, alone); });
  }
  if (bound != hw::Binding::kNone) {
    for (const std::string& note : hw::bind_rank(bound, *joined.mesh, *joined.transport)) {
      console.note(note);
    }
  }
  return joined;
}

// By the rule of the rank's own it has one, by its place among the ranks of its node, as the model
// has it.
std::unique_ptr<hw::Transport> Joining::make_transports(std::string_view chosen,
                                                        const hw::TransportOptions& with,
                                                        const hw::Mesh& mesh,
                                                        const machine::Node& node) const {
  std::vector<std::string> names = interfaces();
  if (names.empty()) return hw::make_transport(chosen, with);
  if (names.size() > 1 && (chosen == "shm" || chosen == "verbs")) {
    throw InputError(
        fmt::format("--interface: several with transport {}; expected tcp, net or "
                    "tcp;ofi_rxm",
                    chosen));
  }
  if (names.size() > 1 && node.rails.rule == machine::RailRule::kRank) {
    const sched::RankId rank(mesh.rank());
    names = {names[node.rails.of(rank.value % node.ranks, rank, rank, 0)]};
  }
  std::vector<std::unique_ptr<hw::Transport>> each;
  for (const std::string& name : names) {
    hw::TransportOptions own = with;
    own.host = hw::address_of_interface(name);
    each.push_back(hw::make_transport(chosen, own));
  }
  return hw::join_rails(std::move(each));
}

}  // namespace slackline::cli
