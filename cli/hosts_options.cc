#include "cli/hosts_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "cli/own_program.h"
#include "hw/launch/host_list.h"
#include "hw/launch/remote_command.h"
#include "machine/input_text.h"

namespace slackline::cli {
namespace {

hw::HostOrder order_named(const std::optional<std::string>& name) {
  if (!name || *name == "fill") return hw::HostOrder::kFill;
  if (*name == "cycle") return hw::HostOrder::kCycle;
  throw InputError(fmt::format("--place: '{}'; expected fill or cycle", *name));
}

}  // namespace

void HostsOptions::declare(Arguments& arguments) {
  arguments.whole_line(line_);
  arguments.option("--hosts", "FILE", hosts_,
                   "start the ranks by ssh on the hosts it lists: HOST [slots=N] [device=NAME] "
                   "[address=ADDRESS] [user=USER]");
  arguments.option("--place", "fill|cycle", place_,
                   "with --hosts: all slots of a host first, or one of each host in turn (default: "
                   "fill)");
  arguments.option("--ssh", "PROGRAM", ssh_, "with --hosts: what takes ssh's place");
  arguments.option("--remote-program", "PATH", remote_program_,
                   "with --hosts: where slackline is there (default: as here)");
  arguments.flag("--agent", agent_,
                 "for the use of --hosts: standard input says which ranks start here");
}

std::string_view HostsOptions::given() const {
  for (const auto& [option, value] :
       {std::pair{"--hosts", &hosts_}, std::pair{"--place", &place_}, std::pair{"--ssh", &ssh_},
        std::pair{"--remote-program", &remote_program_}}) {
    if (*value) return option;
  }
  return agent_ ? "--agent" : "";
}

void HostsOptions::check(std::uint32_t ranks) const {
  if (agent_ || given().empty()) return;
  if (!hosts_) throw InputError(fmt::format("{} without --hosts; expected both", given()));
  remote_run(ranks, false);
}

hw::RemoteRun HostsOptions::remote_run(std::uint32_t ranks, bool has_device) const {
  const hw::HostOrder order = order_named(place_);
  const auto listed =
      hw::parse_host_list(machine::read_input_file(*hosts_, "hosts", "a list of hosts"), *hosts_);
  const auto on = hw::ranks_on_hosts(listed, ranks, order, *hosts_);
  hw::RemoteRun run;
  run.ranks = ranks;
  run.program = remote_program_ ? *remote_program_ : own_program();
  if (run.program.empty()) {
    throw EnvironmentError("this program's path cannot be told; give --remote-program");
  }
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const hw::ListedHost& host = listed[i];
    if (on[i].empty()) continue;
    if (!host.device.empty() && has_device) {
      throw InputError(
          fmt::format("--device or --device-map beside device={} of {} in {}; expected one of "
                      "them",
                      host.device, host.name, *hosts_));
    }
    std::vector<std::string> line = {line_.front(), "--agent"};
    if (!host.device.empty()) line.insert(line.end(), {"--device", host.device});
    if (!host.address.empty()) line.insert(line.end(), {"--host", host.address});
    line.insert(line.end(), line_.begin() + 1, line_.end());
    std::vector<std::string> command = {ssh_.value_or("ssh"), "-o", "BatchMode=yes"};
    if (!host.user.empty()) command.insert(command.end(), {"-l", host.user});
    command.insert(command.end(),
                   {"--", host.name, hw::remote_command(own_folder(), run.program, line)});
    run.hosts.push_back({host.name, std::move(command), on[i]});
  }
  return run;
}

}  // namespace slackline::cli
