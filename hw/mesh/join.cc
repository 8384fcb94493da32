#include "hw/mesh/join.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "hw/mesh/host_identity.h"
#include "hw/mesh/join_side.h"

namespace slackline::hw {

Hello hello_of(const MeshOptions& options) {
  Hello hello;
  hello.version = options.version.empty() ? SLACKLINE_VERSION : options.version;
  hello.rank = options.rank;
  hello.ranks = options.ranks;
  hello.member.host = host_identity();
  hello.member.pid = static_cast<std::uint64_t>(getpid());
  hello.agreed = options.agreed;
  hello.agreed.push_back(fmt::format("failure timeout: {} ms", options.failure_timeout.count()));
  return hello;
}

Joined join_ranks(const MeshOptions& options) {
  using namespace std::chrono_literals;
  if (options.rank >= options.ranks) {
    throw InputError(fmt::format("rank {} of {} ranks; expected a rank below their number",
                                 options.rank, options.ranks));
  }
  if (options.failure_timeout < 100ms || options.join_timeout <= 0ms) {
    throw InputError(
        fmt::format("join timeout {} ms, failure timeout {} ms; expected more than 0 and at least "
                    "100 ms",
                    options.join_timeout.count(), options.failure_timeout.count()));
  }
  const Hello hello = hello_of(options);
  if (options.ranks == 1) {
    Joined joined;
    joined.members = {hello.member};
    joined.connections.resize(1);
    return joined;
  }
  if (options.root.empty()) {
    throw InputError(
        fmt::format("rank {} of {} does not know where rank 0 listens; expected its HOST:PORT",
                    options.rank, options.ranks));
  }
  return options.rank == 0 ? join_as_root(options, hello) : join_as_other(options, hello);
}

}  // namespace slackline::hw
