// The options by which one process starts ranks on several hosts, and those of its agents there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "hw/launch/remote_ranks.h"

namespace slackline::cli {

class HostsOptions {
 public:
  void declare(Arguments& arguments);

  /// The first of these options that was given, as in "--hosts"; empty if none was.
  std::string_view given() const;
  /// This process starts ranks on other hosts.
  bool starts_elsewhere() const { return hosts_ && !agent_; }
  /// It was started by such a process on another host.
  bool is_agent() const { return agent_; }

  /// Throws InputError if an option stands there without --hosts, or the list of hosts does not fit
  /// `ranks`.
  void check(std::uint32_t ranks) const;
  /// The hosts, and what starts each one's agent: this command line, with what the list says of the
  /// host. `has_device`: the command line names a device. Without secret and times.
  hw::RemoteRun remote_run(std::uint32_t ranks, bool has_device) const;

 private:
  std::optional<std::string> hosts_, place_, ssh_, remote_program_;
  bool agent_ = false;
  std::vector<std::string> line_;
};

}  // namespace slackline::cli
