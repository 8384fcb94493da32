// The transports there are: to add one, write its file pair and one line in transports.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hw/transport.h"
#include "hw/verbs_options.h"
#include "sched/schedule.h"

namespace slackline::hw {

/// How a rank's transport is set up; each takes of it what it knows.
struct TransportOptions {
  /// The address of this host that peers reach it at, a name or in digits. Empty: what the
  /// transport prefers.
  std::string host;
  /// verbs: which port, and how it is used; its `host` is the one above.
  VerbsOptions verbs = {};
};

struct TransportEntry {
  std::string_view name;     // "shm"
  std::string_view summary;  // one line, for people
  std::unique_ptr<Transport> (*make)(const TransportOptions& options);
};

/// In the order in which people are shown them.
std::span<const TransportEntry> transports();

/// Throws InputError for a name that is none. `also`: another one that is taken.
void require_transport(std::string_view name, std::string_view also = "");

/// Throws Unsupported for a transport that has no datagrams to groups (hw/multicast/datagrams.h).
void require_multicast(std::string_view name);

/// Loads what a transport needs of libraries, which its maker would do as well: forks of this
/// process have them then, where each would take a third of a second. Throws EnvironmentError if
/// they are not installed. Call it before there are threads.
void load_transport(std::string_view name);

/// What is to be made for a schedule when people ask for this one: of TCP's providers the one that
/// no message before its receive holds up, if the schedule may have such.
std::string_view transport_for(std::string_view name, const sched::Schedule& schedule);

/// Throws InputError for a name that is none, EnvironmentError if the machine cannot.
std::unique_ptr<Transport> make_transport(std::string_view name, const TransportOptions& options);

}  // namespace slackline::hw
