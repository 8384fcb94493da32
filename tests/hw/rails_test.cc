// Several transports as one: two addresses of this host stand for two NICs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/executor.h"
#include "hw/executor/channels.h"
#include "hw/interface_address.h"
#include "hw/passing_transport.h"
#include "hw/rails_transport.h"
#include "hw/session.h"
#include "hw/transports.h"
#include "sched/compile.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using testing::MeshRanks;

// Counts what it takes.
class CountingTransport final : public hw::PassingTransport {
 public:
  CountingTransport(std::unique_ptr<hw::Transport> under, std::uint64_t& requests)
      : PassingTransport(std::move(under)), requests_(requests) {}
  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    const std::size_t taken = PassingTransport::post(requests);
    requests_ += taken;
    return taken;
  }

 private:
  std::uint64_t& requests_;
};

std::unique_ptr<hw::Transport> net_at(const char* address) {
  hw::TransportOptions options;
  options.host = address;
  return hw::make_transport("net", options);
}

struct Rails {
  std::vector<std::uint64_t> requests = std::vector<std::uint64_t>(2, 0);
  std::unique_ptr<hw::Transport> transport;
  Rails() {
    std::vector<std::unique_ptr<hw::Transport>> each;
    each.push_back(std::make_unique<CountingTransport>(net_at("127.0.0.1"), requests[0]));
    each.push_back(std::make_unique<CountingTransport>(net_at("127.0.0.2"), requests[1]));
    transport = hw::join_rails(std::move(each));
  }
};

hw::RunOptions options_by(machine::RailRule rule) {
  hw::RunOptions options;
  options.platform.node.rails = {2, rule, {}};
  return options;
}

// Each spec by each rule, one after the other in one session: bytes are proved, and both rails have
// carried some.
TEST(RailsTransport, CarriesSchedules) {
  const std::vector<std::string> specs = {
      "binomial-pipeline:ranks=4,bytes=3MB,block=256KiB,stripes=2",
      "binomial-pipeline:ranks=4,bytes=3MB,block=256KiB,stripes=3,lower=put",
      "chain:ranks=4,bytes=1MB,block=100KB,ready=write,window=2,stripes=2",
      "allreduce:ranks=4,bytes=1MB,block=256KiB,stripes=2",
      "ring-buffer:ranks=4,bytes=1000,messages=40",
      "alltoall:ranks=4,bytes=100KB,by=pairwise"};
  MeshRanks processes;
  testing::transport_named("shm");
  processes.start_all(4, [=](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    Rails rails;
    hw::Session session(mesh, *rails.transport);
    for (const std::string& text : specs) {
      for (const machine::RailRule rule : {machine::RailRule::kChannel, machine::RailRule::kPair}) {
        const sched::Schedule schedule = compile(sched::parse_spec(text));
        const hw::RunOptions options = options_by(rule);
        rails.requests = {0, 0};
        const hw::RunResult result = session.run(schedule, options);
        const bool several = text.find("stripes") != std::string::npos;
        if (several && (rails.requests[0] == 0 || rails.requests[1] == 0)) {
          say(text + ": one of two rails carried nothing");
        }
        if (mesh.rank() != 0) continue;
        if (const std::string fault = testing::first_fault(schedule, options, result);
            !fault.empty()) {
          say(text + ": " + fault);
        }
      }
    }
    say("done");
  });
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(processes.next(rank), "done") << rank;
  }
}

// Keeps what is opened.
class EndsTransport final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;
  hw::Address open(std::span<const hw::ChannelEnd> ends) override {
    opened.assign(ends.begin(), ends.end());
    return PassingTransport::open(ends);
  }
  std::vector<hw::ChannelEnd> opened;
};

// What is told of a channel's bundles is on its rail, at either end, as its messages would be.
TEST(RailsTransport, BundlesGoByTheRailOfTheirChannel) {
  testing::Draft draft;
  draft.ranks = 2;
  const sched::BufferId from = draft.buffer(0, 16);
  const sched::BufferId to = draft.buffer(1, 16);
  for (std::uint32_t c = 0; c < 2; ++c) {
    const sched::ChannelId channel = draft.channel(0, 1);
    draft.channels[c].bundle = sched::Bundle::kTraditional;
    draft.channels[c].bundle_bytes = 8;
    draft.send(channel, {{from, 8 * c, 8}});
  }
  for (std::uint32_t c = 0; c < 2; ++c) draft.recv(sched::ChannelId(c), {{to, 8 * c, 8}});
  const sched::Schedule schedule = draft.build();
  const hw::ExecutorChannels channels(schedule, 0);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    testing::Loop loop;
    EndsTransport net(std::make_unique<testing::LoopTransport>(loop));
    hw::ExecutorOptions options;
    options.rails = {2, machine::RailRule::kChannel, {}};
    const hw::Executor executor(schedule, sched::RankId(rank), net, options);
    std::size_t found = 0;
    for (std::uint32_t c = 0; c < 2; ++c) {
      const sched::ChannelId channel(c);
      for (const std::uint32_t number : {channels.of(channel), channels.of_bundles(channel),
                                         channels.of_acknowledgements(channel)}) {
        for (const hw::ChannelEnd& end : net.opened) {
          if (end.channel != number) continue;
          EXPECT_EQ(end.rail, c) << "rank " << rank << ", number " << number;
          ++found;
        }
      }
    }
    EXPECT_EQ(found, 6u);
    EXPECT_EQ(net.opened.size(), 6u);
  }
}

TEST(RailsTransport, HasNoAtomics) {
  Rails rails;
  EXPECT_FALSE(rails.transport->has_atomics());
  EXPECT_EQ(rails.transport->name(), "net");
}

TEST(RailsTransport, OfOneIsThatOne) {
  std::vector<std::unique_ptr<hw::Transport>> one;
  one.push_back(net_at("127.0.0.1"));
  const hw::Transport* const itself = one.front().get();
  EXPECT_EQ(hw::join_rails(std::move(one)).get(), itself);
}

TEST(InterfaceAddress, IsTheFirstOfItsName) {
  EXPECT_EQ(hw::address_of_interface("lo"), "127.0.0.1");
  EXPECT_THROW(hw::address_of_interface("no-such-interface"), EnvironmentError);
}

}  // namespace
}  // namespace slackline
