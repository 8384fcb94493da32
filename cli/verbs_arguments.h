// The options that say which port of an RDMA NIC verbs take, and how they use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "hw/verbs_options.h"

namespace slackline::cli {

class VerbsArguments {
 public:
  void declare(Arguments& arguments);

  /// Throws InputError for what is out of range, for options that exclude each other, and for any
  /// of them beside another transport than verbs.
  void check(std::string_view transport) const;

  /// What they say; host, places and failure timeout are for others to know. Throws InputError.
  hw::VerbsOptions resolve() const;

  /// What was taken in place of what was asked for, as a line for people; empty if nothing.
  std::string note() const;

  /// Whether they say which ports are taken.
  bool name_ports() const { return device_ || device_map_; }

  /// The first of these options that was given, as in "--device"; empty if none was.
  std::string_view given() const;

 private:
  std::optional<std::string> device_, device_map_, gid_index_, traffic_class_, service_level_,
      pkey_, mtu_, qp_timeout_, retry_;
};

}  // namespace slackline::cli
