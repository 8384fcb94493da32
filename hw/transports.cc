#include "hw/transports.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/suggest.h"
#include "hw/early_messages.h"

#ifdef SLACKLINE_HAVE_FABRIC
#include "hw/fabric/transport.h"
#endif
#ifdef SLACKLINE_HAVE_VERBS
#include "hw/verbs/transport.h"
#endif

namespace slackline::hw {
namespace {

using Made = std::unique_ptr<Transport>;

#ifdef SLACKLINE_HAVE_FABRIC
Made fabric(std::string provider, const TransportOptions& options) {
  return make_fabric_transport({std::move(provider), options.host});
}
#else
Made fabric(const std::string& provider, const TransportOptions&) {
  throw EnvironmentError(fmt::format(
      "{}: this Slackline was built without libfabric (Debian: libfabric-dev)", provider));
}
#endif

Made verbs(const TransportOptions& options) {
#ifdef SLACKLINE_HAVE_VERBS
  VerbsOptions verbs = options.verbs;
  verbs.host = options.host;
  return make_verbs_transport(verbs);
#else
  throw EnvironmentError(
      fmt::format("verbs: {}{}this Slackline was built without libibverbs (Debian: libibverbs-dev)",
                  options.verbs.device, options.verbs.device.empty() ? "" : ": "));
#endif
}

constexpr std::array kTransports{
    TransportEntry{"shm", "shared memory of one host, by libfabric",
                   [](const TransportOptions& o) { return fabric("shm", o); }},
    TransportEntry{"tcp", "TCP: the fastest of libfabric's providers that suits the schedule",
                   [](const TransportOptions& o) { return fabric("tcp", o); }},
    TransportEntry{"net", "TCP, by libfabric's provider net",
                   [](const TransportOptions& o) { return fabric("net", o); }},
    TransportEntry{"tcp;ofi_rxm", "TCP, by libfabric's provider tcp;ofi_rxm",
                   [](const TransportOptions& o) { return fabric("tcp;ofi_rxm", o); }},
    TransportEntry{"verbs", "InfiniBand and RoCE NICs, by libibverbs", verbs},
};

}  // namespace

std::span<const TransportEntry> transports() { return kTransports; }

namespace {

const TransportEntry& transport_named(std::string_view name, std::string_view also = "") {
  std::vector<std::string_view> names;
  if (!also.empty()) names.push_back(also);
  for (const TransportEntry& entry : kTransports) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  throw InputError(fmt::format("transport: no '{}'{}; expected one of {}", name,
                               sched::did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace

void require_transport(std::string_view name, std::string_view also) {
  if (also.empty() || name != also) transport_named(name, also);
}

void require_multicast(std::string_view name) {
  if (name == "verbs") return;
  throw Unsupported(fmt::format(
      "multicast: transport {} has no datagrams that go to a group; expected verbs", name));
}

void load_transport([[maybe_unused]] std::string_view name) {
#ifdef SLACKLINE_HAVE_FABRIC
  // Of verbs, devices are opened, which is not for a process that goes on to fork.
  if (name != "verbs") load_fabric_provider(name == "tcp" ? "net" : std::string(name));
#endif
}

std::string_view transport_for(std::string_view name, const sched::Schedule& schedule) {
  return name == "tcp" && has_early_messages(schedule) ? "tcp;ofi_rxm" : name;
}

std::unique_ptr<Transport> make_transport(std::string_view name, const TransportOptions& options) {
  return transport_named(name).make(options);
}

}  // namespace slackline::hw
