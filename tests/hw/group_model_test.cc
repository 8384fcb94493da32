// A group that simulations make and one that carries bytes come to the same end when a member is
// killed at the same point: who is named, which messages each survivor completes, and how each
// closes; and survivors have posted the same. The machine's members are in one thread, over
// transports within the process, and hear of the loss and of each other in an order that is drawn;
// the simulation's by its clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/group/failure_run.h"
#include "analysis/group/messages.h"
#include "hw/group/member.h"
#include "hw/passing_transport.h"
#include "machine/platform.h"
#include "tests/hw/group_ranks.h"
#include "tests/hw/group_requests.h"
#include "tests/hw/loop_transport.h"

namespace slackline {
namespace {

using analysis::GroupRun;
using analysis::GroupScenario;
using hw::GroupControl;

// What a transport may still carry out, by line and kind, and of counts, which only grow, up to
// which.
struct Allowance {
  struct Count {
    std::uint64_t most = 0;
    std::uint64_t written = 0;
  };
  testing::Requests requests;
  std::vector<Count> rows;           // by member
  std::vector<std::uint64_t> small;  // root: by member, small messages
  std::uint32_t small_channel = 0;   // …which go by the channel of that number and the member's
  Count taken;                       // others: small messages of which the root is told
  std::uint64_t words = 0;
};

// Takes what is posted, and carries out no more than it may. Where a count is higher than it may
// be, since writes gave way to one another at other times, that which it may be is written.
class CutTransport final : public hw::PassingTransport {
 public:
  /// `taken`: what it took that moves blocks, while it takes all.
  CutTransport(std::unique_ptr<hw::Transport> under, Allowance* allowance, testing::Requests& taken)
      : PassingTransport(std::move(under)), allowance_(allowance), taken_(taken) {}

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    if (allowance_ == nullptr) {
      const std::size_t count = PassingTransport::post(requests);
      for (const hw::WorkRequest& request : requests.first(count)) {
        if (request.kind != hw::RequestKind::kWrite) ++taken_[{request.channel, request.kind}];
      }
      return count;
    }
    for (const hw::WorkRequest& request : requests) {
      post(request);
    }
    return requests.size();
  }

 private:
  static constexpr std::uint64_t kWord = sizeof(std::uint64_t);

  void post(const hw::WorkRequest& request) {
    if (request.kind != hw::RequestKind::kWrite) {
      std::uint64_t& left = allowance_->requests[{request.channel, request.kind}];
      if (left != 0 && left-- != 0) carry_out(request);
    } else if (request.tag < 2 * hw::GroupPort::kOtherTags) {
      post_count(request, allowance_->rows[request.tag - hw::GroupPort::kOtherTags]);
    } else if (allowance_->small.empty()) {
      post_count(request, allowance_->taken);
    } else {
      // The mark, which ends it, says how many there are with this one.
      const hw::Segment& bytes = request.local.front();
      const std::uint64_t count = word_at(bytes.data + bytes.bytes - kWord);
      if (count <= allowance_->small[request.channel - allowance_->small_channel]) {
        carry_out(request);
      }
    }
  }

  void post_count(hw::WorkRequest request, Allowance::Count& count) {
    count_ = std::min(word_at(request.local.front().data), count.most);
    if (count_ <= count.written) return;
    count.written = count_;
    hw::Segment segment = request.local.front();
    segment.data = reinterpret_cast<std::byte*>(&count_);
    request.local = {&segment, 1};
    carry_out(request);
  }

  void carry_out(const hw::WorkRequest& request) {
    if (PassingTransport::post({&request, 1}) == 0) ADD_FAILURE() << "no room";
  }

  static std::uint64_t word_at(const std::byte* place) {
    std::uint64_t word = 0;
    std::memcpy(&word, place, kWord);
    return word;
  }

  Allowance* allowance_;
  testing::Requests& taken_;
  std::uint64_t count_ = 0;  // copied when it is posted
};

// A group of the machine's.
class MachineGroup {
 public:
  MachineGroup(const GroupScenario& scenario, const GroupRun& simulated, std::uint64_t seed)
      : scenario_(scenario), random_(seed), size_(scenario.shape.members), ones_(size_) {
    const auto plan = std::make_shared<machine::GroupPlan>(scenario.shape);
    if (simulated.killed_s) {
      victim_ = scenario.kill->member;
      allow(*plan, simulated);
    }
    wires_.resize(size_ * size_);
    std::vector<hw::GroupAddress> addresses;
    for (std::uint32_t m = 0; m < size_; ++m) addresses.push_back(make(m, plan));
    for (One& one : ones_) one.member->connect(addresses, size_);
    for (One& one : ones_) one.member->start();
    for (std::size_t k = 0; k < scenario.messages.size(); ++k) {
      messages_.push_back(testing::make_message(k, scenario.messages[k]));
      const std::uint64_t bytes = scenario.messages[k];
      ones_[0].member->send(messages_.back(),
                            scenario.small.takes(bytes) ? nullptr : plan->message(bytes));
    }
    for (One& one : ones_) one.member->close();
  }

  void run() {
    run_until_quiet();
    if (!victim_) return;
    ones_[*victim_].alive = false;
    for (std::uint32_t m = 0; m < size_; ++m) {
      if (m != *victim_) unaware_.push_back(m);
    }
    std::ranges::shuffle(unaware_, random_);
    run_until_quiet();
  }

  /// What it has asked of its transport for blocks.
  const testing::Requests& taken(std::uint32_t m) const { return ones_[m].taken; }

  // "failed 2 by 1, 2 right, told of 1", as it is seen from outside.
  std::string end_of(std::uint32_t m) {
    One& one = ones_[m];
    if (victim_ == m) return "killed";
    if (!one.member->closing()) return "never";
    const hw::GroupClosing& closing = *one.member->closing();
    return fmt::format("{} {} by {}, {} {}, told of {}", closing.delivered ? "delivered" : "failed",
                       closing.messages, closing.rank ? fmt::format("{}", *closing.rank) : "none",
                       one.receiver.messages(), one.receiver.all_right() ? "right" : "WRONG",
                       fmt::join(one.receiver.failures(), " "));
  }

 private:
  struct One {
    testing::Receiver receiver{0};
    std::unique_ptr<hw::GroupMember> member;
    bool alive = true;
    testing::Requests taken = {};  // that its transport took for blocks
  };

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }

  // Of each kind and line, as many requests as the simulation's member had issued: on a channel
  // they go in the order of the program.
  void allow(machine::GroupPlan& plan, const GroupRun& simulated) {
    const analysis::GroupCut& cut = simulated.cut;
    for (const std::uint64_t count : cut.rows) allowance_.rows.push_back({count});
    allowance_.words = cut.words;
    allowance_.taken.most = cut.counted;
    if (victim_ == 0u) allowance_.small = cut.small;
    allowance_.small_channel = static_cast<std::uint32_t>(plan.lines().size()) + size_ * size_;
    allowance_.requests = testing::requests_of(plan, scenario_, simulated, *victim_);
  }

  hw::GroupAddress make(std::uint32_t m, const std::shared_ptr<machine::GroupPlan>& plan) {
    hw::GroupSetup setup;
    for (std::uint32_t each = 0; each < size_; ++each) setup.ranks.push_back(each);
    setup.self = m;
    setup.plan = plan;
    setup.atomic_delivery = scenario_.atomic_delivery;
    setup.small = scenario_.small;
    setup.callbacks = ones_[m].receiver.callbacks();
    setup.timeout = std::chrono::hours(1);
    setup.failure_timeout = std::chrono::hours(1);
    auto transport =
        std::make_unique<CutTransport>(std::make_unique<testing::LoopTransport>(loop_),
                                       victim_ == m ? &allowance_ : nullptr, ones_[m].taken);
    ones_[m].member = std::make_unique<hw::GroupMember>(
        std::move(transport), std::move(setup),
        [this, m](std::uint32_t to, const GroupControl& control) { say(m, to, control); });
    return ones_[m].member->open();
  }

  void say(std::uint32_t from, std::uint32_t to, const GroupControl& control) {
    if (!ones_[from].alive) return;
    if (victim_ == from && (allowance_.words == 0 || allowance_.words-- == 0)) return;
    wires_[from * size_ + to].push_back(control);
  }

  // One thing after another, until nothing is left: a member's turn, a word, a loss that is seen.
  void run_until_quiet() {
    for (int quiet = 0; quiet < 3;) {
      bool moved = false;
      for (std::uint32_t turn = 0; turn < size_; ++turn) {
        One& one = ones_[pick(size_)];
        if (!one.alive) continue;
        moved = one.member->poll() || moved;
        moved = one.member->progress() || moved;
      }
      moved = deliver() || moved;
      if (!unaware_.empty() && pick(3) == 0) {
        see(unaware_.back());
        unaware_.pop_back();
        moved = true;
      }
      if (moved || !unaware_.empty()) {
        quiet = 0;
        continue;
      }
      // Nobody's turn is left out.
      for (One& one : ones_) {
        if (!one.alive) continue;
        moved = one.member->poll() || moved;
        moved = one.member->progress() || moved;
      }
      quiet = moved ? 0 : quiet + 1;
    }
  }

  bool deliver() {
    std::vector<std::size_t> full;
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      if (!wires_[w].empty()) full.push_back(w);
    }
    if (full.empty()) return false;
    const std::size_t w = full[pick(full.size())];
    const GroupControl control = wires_[w].front();
    wires_[w].pop_front();
    const auto from = static_cast<std::uint32_t>(w / size_);
    const auto to = static_cast<std::uint32_t>(w % size_);
    if (!ones_[to].alive) return true;
    if (!ones_[to].member->closing()) {
      ones_[to].member->hear(from, control);
    } else if (const auto answer = machine::answer_without_group(control.word)) {
      say(to, from, {*answer, control.group});
    }
    return true;
  }

  void see(std::uint32_t m) {
    if (!ones_[m].member->closing()) ones_[m].member->lose(*victim_, "it is gone", false);
  }

  const GroupScenario& scenario_;
  std::mt19937_64 random_;
  const std::uint32_t size_;
  std::optional<std::uint32_t> victim_;
  Allowance allowance_;
  testing::Loop loop_;
  std::vector<One> ones_;
  std::deque<std::vector<std::byte>> messages_;
  std::vector<std::deque<GroupControl>> wires_;  // from · members + to
  std::vector<std::uint32_t> unaware_;
};

std::string end_of(const GroupRun& run, std::uint32_t m) {
  const auto& outcome = run.members[m].outcome;
  if (!outcome) return "killed";
  const auto completed = std::ranges::count_if(run.members[m].completed_s,
                                               [](double time_s) { return std::isfinite(time_s); });
  const std::string named = outcome->member ? fmt::format("{}", *outcome->member) : "";
  return fmt::format("{} {} by {}, {} right, told of {}",
                     outcome->delivered ? "delivered" : "failed", outcome->messages,
                     outcome->member ? named : "none", completed, named);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint64_t operator()(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_;
};

// Messages on both sides of the switch to slots, and at it.
void draw_mix(Draw& draw, GroupScenario& scenario) {
  const bool as_derecho = draw(0, 3) == 0;
  scenario.shape.block_bytes = as_derecho ? 4096 : 256;
  scenario.small.bytes = as_derecho ? 10'240 : draw(1, 500);
  scenario.small.slots = static_cast<std::uint32_t>(draw(1, 6));
  scenario.messages.clear();
  for (std::uint64_t left = draw(1, 14); left != 0; --left) {
    const std::uint64_t kind = draw(0, 9);
    scenario.messages.push_back(kind == 0   ? draw(0, 6 * scenario.shape.block_bytes)
                                : kind == 1 ? scenario.small.bytes + 1
                                : kind == 2 ? scenario.small.bytes
                                            : draw(0, scenario.small.bytes));
  }
}

// `mix`: with small messages, some of which may be all there are.
GroupScenario scenario_of(std::uint64_t seed, bool mix) {
  Draw draw(seed);
  GroupScenario scenario;
  const auto patterns = machine::group_patterns();
  scenario.shape.pattern = patterns[draw(0, patterns.size() - 1)];
  scenario.shape.members = static_cast<std::uint32_t>(draw(2, 7));
  scenario.shape.block_bytes = 256;
  scenario.shape.in_flight = static_cast<std::uint32_t>(draw(0, 2));
  scenario.shape.ready = draw(0, 3) == 0 ? sched::Ready::kNone : sched::Ready::kSend;
  scenario.shape.window =
      scenario.shape.ready == sched::Ready::kNone ? 1 : static_cast<std::uint32_t>(draw(1, 3));
  for (std::uint64_t left = draw(1, 3); left != 0; --left) {
    scenario.messages.push_back(draw(0, 6 * 256));
  }
  if (mix) draw_mix(draw, scenario);
  scenario.atomic_delivery = draw(0, 1) == 0;
  analysis::GroupKill kill;
  kill.member = static_cast<std::uint32_t>(draw(0, scenario.shape.members - 1));
  kill.detection = sched::Time(1'000'000'000'000);  // when all that can still come has come
  if (draw(0, 1) == 0) {
    const auto self = kill.member;
    kill.seen_by.emplace();
    for (std::uint32_t m = 0; m < scenario.shape.members; ++m) {
      if (m != self && draw(0, 1) == 0) kill.seen_by->push_back(m);
    }
    if (kill.seen_by->empty()) kill.seen_by.reset();
  }
  // Some are killed after all blocks, while they write rows or agree to close.
  machine::GroupPlan plan(scenario.shape);
  const auto messages = analysis::messages_of_group(plan, scenario.messages, scenario.small);
  std::uint64_t things = 2 * (scenario.shape.members - 1) + messages.counts[kill.member].size();
  for (std::size_t k = 0; k < scenario.messages.size(); ++k) {
    const analysis::GroupMessageOps& ops = messages.ops(k, kill.member);
    things += ops.end.value - ops.own.value;
    if (scenario.atomic_delivery) things += scenario.shape.members - 1;
  }
  kill.after = draw(1, things);
  scenario.kill = kill;
  return scenario;
}

// SLACKLINE_GROUP_FAILURES says how many.
std::uint64_t failures() {
  const char* const said = std::getenv("SLACKLINE_GROUP_FAILURES");
  return said == nullptr ? 1100 : std::strtoull(said, nullptr, 10);
}

// What was drawn.
struct Tally {
  std::uint64_t killed = 0;
  std::uint64_t delivered = 0;  // as some survivor knows
  std::uint64_t partly = 0;     // …and some does not
  std::uint64_t some = 0;       // some survivor completed some messages, and not all
  std::uint64_t uneven = 0;     // survivors completed more and less
};

void end_alike(const GroupScenario& scenario, std::uint64_t seed, Tally& tally) {
  SCOPED_TRACE(fmt::format(
      "seed {}: {} of {} members, window {}, in flight {}, sizes {}, small up to {} in {} "
      "slots{}, rank {} after {}",
      seed, scenario.shape.pattern, scenario.shape.members, scenario.shape.window,
      scenario.shape.in_flight, fmt::join(scenario.messages, " "), scenario.small.bytes,
      scenario.small.slots, scenario.atomic_delivery ? ", atomic" : "", scenario.kill->member,
      *scenario.kill->after));
  const auto platform = machine::parse_platform_spec(
      seed % 2 == 0 ? "star:rate=8Gbps,latency=1us,o_post=100ns,o_complete=50ns"
                    : "star:rate=100Gbps,latency=5us,o_post=1us");
  const GroupRun simulated = analysis::run_group(scenario, platform);
  MachineGroup machine(scenario, simulated, seed);
  machine.run();
  machine::GroupPlan plan(scenario.shape);
  bool some = false, all = true;
  std::uint64_t least = scenario.messages.size(), most = 0;
  for (std::uint32_t m = 0; m < scenario.shape.members; ++m) {
    ASSERT_EQ(end_of(simulated, m), machine.end_of(m)) << "member " << m;
    // Whoever is left has posted the same, ahead of a message that comes no more, too.
    if (simulated.members[m].outcome) {
      ASSERT_EQ(testing::requests_of(plan, scenario, simulated, m), machine.taken(m))
          << "member " << m;
    }
    const auto& outcome = simulated.members[m].outcome;
    if (!outcome) continue;
    some = some || outcome->delivered;
    all = all && outcome->delivered;
    least = std::min(least, outcome->messages);
    most = std::max(most, outcome->messages);
  }
  tally.killed += simulated.killed_s ? 1 : 0;
  tally.delivered += some ? 1 : 0;
  tally.partly += some && !all ? 1 : 0;
  tally.some += most > 0 && least < scenario.messages.size() ? 1 : 0;
  tally.uneven += least < most ? 1 : 0;
}

TEST(GroupModel, EndsAsTheMachinesGroupDoes) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < failures(); ++seed) {
    end_alike(scenario_of(seed, false), seed, tally);
    if (HasFatalFailure()) return;
  }
  // What was drawn has all there is.
  if (failures() < 1000) return;
  EXPECT_GT(tally.killed, failures() * 4 / 5);
  EXPECT_GT(tally.delivered, failures() / 10);
  EXPECT_GT(tally.partly, failures() / 200);
}

TEST(GroupModel, EndsAsTheMachinesGroupDoesWithSmallMessages) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < failures(); ++seed) {
    end_alike(scenario_of(seed, true), seed, tally);
    if (HasFatalFailure()) return;
  }
  if (failures() < 1000) return;
  EXPECT_GT(tally.killed, failures() * 4 / 5);
  EXPECT_GT(tally.delivered, failures() / 10);
  EXPECT_GT(tally.partly, failures() / 200);
  EXPECT_GT(tally.some, failures() / 3);
  EXPECT_GT(tally.uneven, failures() / 20);
}

}  // namespace
}  // namespace slackline
