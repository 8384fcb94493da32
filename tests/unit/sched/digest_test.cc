#include "sched/digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/draft.h"

namespace slackline::testing {
namespace {

// A bit of everything.
Draft full() {
  Draft d;
  d.ranks = 2;
  const BufferId here = d.buffer(0, 64);
  const BufferId there = d.buffer(1, 64);
  const ChannelId on = d.channel(0, 1, 2);
  d.channel(1, 0);
  const OpId send = d.send(on, {{here, 0, 8}, {here, 16, 8}});
  const OpId add = d.atomic(OpKind::kFetchAdd, on, {there, 0, 8}, {{here, 32, 8}});
  OpArguments arguments;
  arguments.operand = {Operand::From::kLiteral, {}, 3};
  d.ops[add.value].arguments = arguments;
  const OpId calc = d.add(OpKind::kCalc, 0);
  d.ops[calc.value].arguments.emplace().duration = Time{5};
  d.edge(send, calc);
  d.edge(send, add, On::kIssued);
  d.recv(on, {{there, 8, 16}});
  d.pre.push_back({{here, 0, 64}, ValueId(0), 0});
  d.post.push_back({{there, 8, 8}, ValueId(0), 0});
  return d;
}

TEST(Digest, NamesContent) {
  EXPECT_EQ(full().build().digest(), full().build().digest());
  EXPECT_EQ(full().build().digest(), digest_of(full().build()));
}

TEST(Digest, EveryFieldCounts) {
  using Change = std::function<void(Draft&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"ranks", [](Draft& d) { d.ranks = 3; }},
      {"buffer bytes", [](Draft& d) { ++d.buffers[1].bytes; }},
      {"another buffer", [](Draft& d) { d.buffer(0, 1); }},
      {"service", [](Draft& d) { d.channels[0].service = Service::kDatagram; }},
      {"bundle", [](Draft& d) { d.channels[0].bundle = Bundle::kTraditional; }},
      {"window", [](Draft& d) { d.channels[0].window = 3; }},
      {"credit channel", [](Draft& d) { d.channels[0].credit_on = ChannelId(1); }},
      {"credit batch", [](Draft& d) { d.channels[0].credit_batch = 2; }},
      {"bundle bytes", [](Draft& d) { d.channels[0].bundle_bytes = 9; }},
      {"bundle delay", [](Draft& d) { d.channels[0].bundle_delay = Time{9}; }},
      {"kind", [](Draft& d) { d.ops[1].op.kind = OpKind::kFetchXor; }},
      {"lane", [](Draft& d) { d.ops[0].op.lane = 1; }},
      {"step", [](Draft& d) { d.ops[0].op.step = 1; }},
      {"read offset", [](Draft& d) { ++d.ops[0].reads[0].offset; }},
      {"bytes moved between slices",
       [](Draft& d) {
         ++d.ops[0].reads[0].bytes;
         --d.ops[0].reads[1].bytes;
       }},
      {"write", [](Draft& d) { ++d.ops[3].writes[0].offset; }},
      {"operand", [](Draft& d) { d.ops[1].arguments->operand.value = 4; }},
      {"operand's origin",
       [](Draft& d) {
         d.ops[1].arguments->operand = {Operand::From::kResult, OpId(1), 3};
       }},
      {"no operand", [](Draft& d) { d.ops[1].arguments->operand = {}; }},
      {"no arguments", [](Draft& d) { d.ops[1].arguments.reset(); }},
      {"address",
       [](Draft& d) {
         d.ops[1].arguments->address_offset = {Operand::From::kLiteral, {}, 3};
       }},
      {"duration", [](Draft& d) { d.ops[2].arguments->duration = Time{6}; }},
      {"edge's event", [](Draft& d) { d.edges[0].on = On::kIssued; }},
      {"edge", [](Draft& d) { d.edges.pop_back(); }},
      {"fact's value", [](Draft& d) { d.pre[0].value = ValueId(1); }},
      {"fact's offset", [](Draft& d) { d.post[0].value_offset = 1; }},
      {"fact's side",
       [](Draft& d) {
         d.pre.push_back(d.post[0]);
         d.post.clear();
       }},
      {"an operation less", [](Draft& d) { d.erase(OpId(3)); }},
  };
  std::vector<Digest> seen = {full().build().digest()};
  for (const auto& [what, change] : changes) {
    Draft draft = full();
    change(draft);
    seen.push_back(draft.build().digest());
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) EXPECT_NE(seen[i], seen.back()) << what;
  }
}

TEST(Digest, RegionsAndMessageCount) {
  using Change = std::function<void(Region&)>;
  const auto of = [](std::uint64_t bytes, const Change& change) {
    ScheduleBuilder builder(1);
    Op join;
    join.kind = OpKind::kJoin;
    join.rank = RankId(0);
    Region region;
    region.entry = builder.add(join);
    region.count = 1;
    if (change) {
      change(region);
      builder.add_region(region);
    }
    builder.set_message_bytes(bytes);
    return builder.build().digest();
  };
  const std::vector<Digest> all = {of(0, {}),
                                   of(1, {}),
                                   of(0, [](Region&) {}),
                                   of(0, [](Region& r) { r.kind = RegionKind::kAlt; }),
                                   of(0, [](Region& r) { r.max_attempts = 2; }),
                                   of(0, [](Region& r) { r.p.value = 5; }),
                                   of(0, [](Region& r) { r.outcome = RegionOutcome::kActual; }),
                                   of(0, [](Region& r) { r.backoff = Time{1}; })};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << i << " " << j;
  }
}

TEST(Digest, NamesDoNotCount) {
  ScheduleBuilder builder(1);
  const Digest untitled = builder.build().digest();
  builder.set_title("something");
  EXPECT_EQ(builder.build().digest(), untitled);
}

TEST(Digest, TheOrderOfAddingDoesNotCount) {
  // Ranks interleaved, slices shared or not, edges in another order and twice.
  Draft d;
  d.ranks = 2;
  const BufferId here = d.buffer(0, 8);
  const BufferId there = d.buffer(1, 8);
  const ChannelId on = d.channel(0, 1);
  for (int i = 0; i < 2; ++i) d.send(on, {{here, 0, 8}});
  for (int i = 0; i < 2; ++i) d.recv(on, {{there, 0, 8}});
  d.edge(OpId(0), OpId(1));
  d.edge(OpId(2), OpId(3));

  ScheduleBuilder builder(2);
  builder.add_buffer(RankId(0), 8);
  builder.add_buffer(RankId(1), 8);
  builder.add_channel(d.channels[0]);
  const SliceRange to = builder.add_slice({there, 0, 8});
  const SliceRange from = builder.add_slice({here, 0, 8});
  Op recv = d.ops[2].op;
  recv.writes = to;
  Op send = d.ops[0].op;
  send.reads = from;
  const OpId r0 = builder.add(recv);
  const OpId s0 = builder.add(send);
  const OpId r1 = builder.add(recv);
  const OpId s1 = builder.add(send);
  builder.add_edge(r0, r1);
  builder.add_edge(s0, s1);
  builder.add_edge(r0, r1);
  EXPECT_EQ(builder.build().digest(), d.build().digest());
}

TEST(Digest, Text) {
  const Digest digest{0x0123456789abcdefull, 0xfedcba9876543210ull};
  EXPECT_EQ(to_string(digest), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(digest_from("0123456789abcdeffedcba9876543210"), digest);
  for (const std::string text :
       {"", "0", "0123456789ABCDEFfedcba9876543210", "0123456789abcdeffedcba987654321",
        "0123456789abcdeffedcba98765432100", "0123456789abcdeffedcba987654321g"}) {
    EXPECT_FALSE(digest_from(text).has_value()) << text;
  }
}

TEST(DigestWriter, LengthsKeepTextsApart) {
  const auto of = [](std::initializer_list<std::string_view> texts) {
    DigestWriter out;
    for (std::string_view text : texts) out.add_text(text);
    return out.finish();
  };
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({}), of({""}));
}

TEST(DigestWriter, BlocksDoNotShow) {
  // The same bytes in other portions, past the end of a block.
  DigestWriter words;
  DigestWriter bytes;
  bytes.add_u8(1);
  words.add_u8(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    words.add_u32(i);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.add_u8(static_cast<std::uint8_t>(i >> shift));
    }
  }
  EXPECT_EQ(words.finish(), bytes.finish());
}

}  // namespace
}  // namespace slackline::testing
