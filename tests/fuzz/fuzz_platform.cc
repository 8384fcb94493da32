// Any text, read as a platform: an inline spec, a preset's overrides and a file. Only our own
// errors may come out, of one line each; what is read must survive its canonical text, and a small
// network that is read must have its ways.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/fuzz/require_ours.h"

namespace {

using slackline::machine::Platform;

// The numbers of a shape, written one after another in its part of the canonical text.
bool is_small(const std::string& spec) {
  std::uint64_t product = 1;
  std::uint64_t number = 0;
  for (const char c : spec.substr(0, spec.find(",nic="))) {
    if (c < '0' || c > '9') {
      product *= number > 1 ? number : 1;
      number = 0;
    } else {
      number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (number > 1 << 12 || product > 1 << 12) return false;
  }
  return product * (number > 1 ? number : 1) <= 1 << 12;
}

// Throws InputError for more ranks than hosts.
void find_ways(Platform platform) {
  platform.placement = {};  // a file's path would be the fuzzer's
  if (platform.topology.kind() == slackline::machine::TopologyKind::kSimgridFile) return;
  if (!is_small(platform.spec())) return;
  for (const std::uint32_t ranks : {0u, 2u, 5u}) {
    const slackline::machine::Wiring wiring(platform, ranks);
    for (std::uint32_t src = 0; src < ranks; ++src) {
      const auto route =
          wiring.route(slackline::sched::RankId(src), slackline::sched::RankId(ranks - 1 - src));
      if (route.latency < platform.latency) std::abort();
      for (const auto link : route.links) {
        if (link.value >= wiring.links().size()) std::abort();
      }
    }
  }
}

template <class Read>
void read(Read&& reader) {
  try {
    const Platform platform = reader();
    const std::string spec = platform.spec();
    if (slackline::machine::parse_platform_spec(spec).spec() != spec) std::abort();
    find_ways(platform);
  } catch (const slackline::Error& error) {
    slackline::fuzz::require_ours(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read([&] { return slackline::machine::parse_platform_spec(text); });
  // A preset before the colon, so that no text is taken for a file's path.
  read([&] { return slackline::machine::load_platform("fractus:" + text); });
  read([&] { return slackline::machine::platform_from_toml(text, "fuzz.toml"); });
  return 0;
}
