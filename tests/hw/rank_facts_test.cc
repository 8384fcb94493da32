// What ranks tell of themselves, and of what others tell nothing may be believed unread.
#include "hw/rank_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hw/host_cores.h"
#include "hw/mesh/wire.h"
#include "tests/hw/session_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;

hw::RankFacts sample() {
  hw::RankFacts facts;
  facts.host = "node3";
  facts.process = std::uint64_t{1} << 40;
  facts.cores = "0-3,8";
  facts.core = 8;
  facts.node = -1;
  facts.kernel = "6.1.0";
  facts.version = "0.1.0";
  facts.transport = {"verbs", "libibverbs 1.14", "rxe0", 1, "fe80::1", 4096, 100'000'000'000};
  return facts;
}

TEST(RankFacts, TellWhatMulticastsCameTo) {
  hw::RankFacts facts = sample();
  EXPECT_FALSE(hw::decode_rank_facts(encode(facts)).transport.multicast);
  facts.transport.multicast = hw::MulticastCounts{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(hw::decode_rank_facts(encode(facts)).transport.multicast, facts.transport.multicast);
}

TEST(RankFacts, TheFullestHostHasTheMostRanksForACore) {
  const auto on = [](std::uint32_t first_of_host, const char* cores) {
    hw::RankFacts facts = sample();
    facts.first_of_host = first_of_host;
    facts.cores = cores;
    return facts;
  };
  const auto fullest = [](const std::vector<hw::RankFacts>& facts) {
    const auto found = hw::fullest_host(facts);
    return found ? std::vector<std::uint32_t>{found->first_rank, found->ranks, found->cores}
                 : std::vector<std::uint32_t>{};
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(fullest({}), Numbers());
  EXPECT_EQ(fullest({on(0, "")}), Numbers());
  EXPECT_EQ(fullest({on(0, "0-1"), on(0, "0-1"), on(0, "0-1")}), (Numbers{0, 3, 2}));
  // Bound to a core each.
  EXPECT_EQ(fullest({on(0, "0"), on(0, "1")}), (Numbers{0, 2, 2}));
  // 3 of 4 cores, 2 of 2, and 2 of 2 again; what tells nothing is passed over.
  EXPECT_EQ(fullest({on(0, "0-3"), on(1, "0-1"), on(0, "0-3"), on(1, "0-1"), on(0, "0-3"),
                     on(5, "4,6"), on(5, "4,6"), on(7, "")}),
            (Numbers{1, 2, 2}));
}

TEST(RankFacts, ComeOverTheWireAsTheyWere) {
  const hw::RankFacts facts = sample();
  const hw::Bytes bytes = encode(facts);
  const hw::RankFacts read = hw::decode_rank_facts(bytes);
  EXPECT_EQ(encode(read), bytes);
  EXPECT_EQ(read.host, facts.host);
  EXPECT_EQ(read.process, facts.process);
  EXPECT_EQ(read.cores, facts.cores);
  EXPECT_EQ(read.core, 8);
  EXPECT_EQ(read.node, -1);
  EXPECT_EQ(read.kernel, facts.kernel);
  EXPECT_EQ(read.version, facts.version);
  EXPECT_EQ(read.transport.provider, "verbs");
  EXPECT_EQ(read.transport.library, "libibverbs 1.14");
  EXPECT_EQ(read.transport.device, "rxe0");
  EXPECT_EQ(read.transport.port, 1u);
  EXPECT_EQ(read.transport.gid, "fe80::1");
  EXPECT_EQ(read.transport.mtu, 4096u);
  EXPECT_EQ(read.transport.link_bits_per_s, 100'000'000'000u);
}

TEST(RankFacts, WhatIsCutShortOrLongerIsRefused) {
  hw::Bytes bytes = encode(sample());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_THROW(hw::decode_rank_facts(std::span(bytes).first(cut)), hw::WireError) << cut;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW(hw::decode_rank_facts(bytes), hw::WireError);
}

TEST(RankFacts, NumbersThatAreNoneAreRefused) {
  hw::RankFacts facts = sample();
  facts.node = -2;
  EXPECT_THROW(hw::decode_rank_facts(encode(facts)), hw::WireError);
  facts = sample();
  facts.core = -1000;
  EXPECT_THROW(hw::decode_rank_facts(encode(facts)), hw::WireError);
}

TEST(RankFacts, LongTextsAreCutWhereTheyAreWrittenAndRefusedWhereTheyAreRead) {
  hw::RankFacts facts = sample();
  facts.host = std::string(5000, 'x');
  EXPECT_EQ(hw::decode_rank_facts(encode(facts)).host, std::string(1024, 'x'));
  hw::WireWriter writer;
  for (int text = 0; text < 8; ++text) writer.text(std::string(text == 3 ? 1025 : 1, 'x'));
  writer.u64(0).u32(0).u32(0).u32(0).u32(0).u64(0);
  EXPECT_THROW(hw::decode_rank_facts(writer.take()), hw::WireError);
}

TEST(RankFacts, TheLineIsAsFastAsItsSlowestLink) {
  std::vector<hw::RankFacts> facts(3, sample());
  EXPECT_EQ(hw::line_rate(facts), 100'000'000'000u);
  facts[1].transport.link_bits_per_s = 7;
  EXPECT_EQ(hw::line_rate(facts), 7u);
  facts[2].transport.link_bits_per_s = 0;
  EXPECT_EQ(hw::line_rate(facts), std::nullopt);
  EXPECT_EQ(hw::line_rate({}), std::nullopt);
}

void expect_gathered(const std::string& name, const std::string& provider) {
  MeshRanks processes;
  processes.start_all(3, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    // Which is wrapped: what watches a transport passes its facts on.
    const auto transport = testing::transport_named(name);
    const std::vector<hw::RankFacts> facts = hw::gather_facts(mesh, *transport);
    const hw::RankFacts& own = facts[mesh.rank()];
    say(fmt::format("{} ranks, {}", facts.size(),
                    own.process == static_cast<std::uint64_t>(getpid()) ? "its own" : "another's"));
    for (const hw::RankFacts& of_rank : facts) {
      if (of_rank.transport.provider != provider) say("provider " + of_rank.transport.provider);
      if (!of_rank.transport.library.starts_with("libfabric 1.")) say(of_rank.transport.library);
      if (of_rank.host != mesh.host(mesh.rank())) say("host " + of_rank.host);
      if (of_rank.cores != hw::core_list(hw::allowed_cores())) say("cores " + of_rank.cores);
      if (of_rank.kernel.empty() || of_rank.version.empty()) say("no version");
      if (of_rank.core < 0) say("no core");
    }
  });
  for (std::uint32_t r = 0; r < 3; ++r) {
    EXPECT_EQ(processes.next(r), "3 ranks, its own") << r;
    EXPECT_EQ(processes.next(r), "(end)") << r;
  }
}

TEST(RankFacts, OfAllRanks) {
  testing::transport_named("shm");
  expect_gathered("shm", "shm");
  expect_gathered("net", "net");
}

}  // namespace
}  // namespace slackline
