// The agent of a run on several hosts: what starts this host's ranks for a process on another one,
// at whose end standard input ends.
#pragma once

#include <chrono>
#include <string>

#include "hw/descriptor.h"
#include "hw/launch/agent_words.h"

namespace slackline::hw {

class AgentLink {
 public:
  /// Greets. `in` and `out` stay open as long as this lives.
  AgentLink(int in, int out);

  /// What this host's ranks are. Throws InputError if something else comes, or nothing within
  /// `patience`.
  AgentOrder order(std::chrono::milliseconds patience);
  void tell_root(const std::string& root) const { say(agent_root(root)); }
  /// What rank 0 put into these files (either −1: it is not here), and the end of this host's
  /// ranks.
  void tell_end(int out, int err, const RankEnd& end) const;

  /// Readable once nobody is there any more to start ranks for, or `other` is.
  int descriptor_of_end(int other);

 private:
  void say(std::string_view text) const;

  int in_;
  int out_;
  Descriptor ends_;
};

/// The address at which other hosts reach this one: by which it was reached itself (`connection`,
/// the value of ssh's SSH_CONNECTION), else the one by which it reaches others. Throws
/// EnvironmentError where both are of loopback.
std::string address_of_agent(const std::string& connection);

/// A file without a name, for what rank 0 says. Throws EnvironmentError.
Descriptor nameless_file();

}  // namespace slackline::hw
