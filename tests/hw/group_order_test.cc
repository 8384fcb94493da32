// In which order a member posts when a message stands there: what it makes ready for one more, then
// its rows, then its words. A simulated group's and a machine's are held against each other. Of the
// simulated one the order shows by kills: after n things, and after one more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/group/failure_run.h"
#include "hw/passing_transport.h"
#include "machine/platform.h"
#include "tests/hw/loop_transport.h"
#include "tests/hw/one_thread_group.h"

namespace slackline {
namespace {

using analysis::GroupRun;
using analysis::GroupScenario;

using Order = std::vector<std::string>;

// Of an operation ahead of no message: the receive of the first block comes first, then the
// readiness, then the receives of others'.
bool is_credit(machine::GroupPlan& plan, std::uint32_t member, std::size_t place) {
  const std::uint32_t first = plan.first_line(member);
  return place == 1 && first != machine::kNoLine && plan.credit_of(first) != machine::kNoLine;
}

GroupRun killed_after(GroupScenario scenario, std::uint32_t member, std::uint64_t things) {
  analysis::GroupKill kill;
  kill.member = member;
  kill.after = things;
  kill.detection = sched::Time(1'000'000'000'000);
  scenario.kill = kill;
  return analysis::run_group(
      scenario, machine::parse_platform_spec("star:rate=8Gbps,latency=1us,o_post=100ns"));
}

Order simulated_order(const GroupScenario& scenario, std::uint32_t member) {
  machine::GroupPlan plan(scenario.shape);
  Order order;
  GroupRun before = killed_after(scenario, member, 1);
  for (std::uint64_t things = 2; before.killed_s; ++things) {
    GroupRun now = killed_after(scenario, member, things);
    if (!now.killed_s) break;
    const auto& ahead = now.members[member].issued_ahead;
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      if (ahead[i] == before.members[member].issued_ahead[i]) continue;
      order.push_back(is_credit(plan, member, i) ? "send" : "receive");
    }
    for (std::uint32_t m = 0; m < scenario.shape.members; ++m) {
      if (now.cut.rows[m] != before.cut.rows[m]) order.push_back(fmt::format("row for {}", m));
    }
    if (now.cut.words != before.cut.words) order.emplace_back("word");
    before = std::move(now);
  }
  return order;
}

// Notes what is posted that is no message's: those requests have tags beyond all operations.
class NotingTransport final : public hw::PassingTransport {
 public:
  NotingTransport(std::unique_ptr<hw::Transport> under, Order& order)
      : PassingTransport(std::move(under)), order_(order) {}
  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    constexpr std::uint64_t kOperations = 1 << 20;
    const std::size_t taken = PassingTransport::post(requests);
    for (const hw::WorkRequest& request : requests.first(taken)) {
      if (request.tag < kOperations) continue;
      if (request.kind == hw::RequestKind::kWrite) {
        order_.push_back(fmt::format("row for {}", request.tag - hw::GroupPort::kOtherTags));
      } else {
        order_.emplace_back(request.kind == hw::RequestKind::kRecv ? "receive" : "send");
      }
    }
    return taken;
  }

 private:
  Order& order_;
};

// By member. Turns go round, and words come in the order in which they are told.
std::vector<Order> machine_orders(const GroupScenario& scenario) {
  struct Word {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    hw::GroupControl control;
  };
  const std::uint32_t size = scenario.shape.members;
  const auto plan = std::make_shared<machine::GroupPlan>(scenario.shape);
  testing::Loop loop;
  std::vector<Order> orders(size);
  std::deque<Word> words;
  std::deque<testing::Receiver> receivers;
  std::vector<std::unique_ptr<hw::GroupMember>> members;
  std::vector<hw::GroupAddress> addresses;
  for (std::uint32_t m = 0; m < size; ++m) {
    receivers.emplace_back(0);
    members.push_back(std::make_unique<hw::GroupMember>(
        std::make_unique<NotingTransport>(std::make_unique<testing::LoopTransport>(loop),
                                          orders[m]),
        testing::patient_setup(plan, m, scenario.atomic_delivery, {}, receivers.back()),
        [&, m](std::uint32_t to, const hw::GroupControl& control) {
          orders[m].emplace_back("word");
          words.push_back({m, to, control});
        }));
    addresses.push_back(members[m]->open());
  }
  for (auto& member : members) member->connect(addresses, size);
  for (auto& member : members) member->start();
  // What is posted ahead of the one message is not asked for.
  for (Order& order : orders) order.clear();
  std::deque<std::vector<std::byte>> messages;
  testing::send_next(*members[0], messages, scenario.messages.front());
  for (auto& member : members) member->close();
  for (int quiet = 0; quiet < 3; ++quiet) {
    for (auto& member : members) {
      const bool polled = member->poll();
      if (member->progress() || polled) quiet = 0;
    }
    while (!words.empty()) {
      const Word word = words.front();
      words.pop_front();
      members[word.to]->hear(word.from, word.control);
      quiet = 0;
    }
  }
  for (const auto& member : members) {
    EXPECT_TRUE(member->closing() && member->closing()->delivered);
  }
  return orders;
}

TEST(GroupOrder, IsThatOfTheMachinesGroup) {
  std::size_t with_all = 0;  // members that post ahead, write rows and tell words
  for (const std::string_view pattern : machine::group_patterns()) {
    for (const std::uint32_t members : {2u, 3u, 4u, 5u}) {
      for (const sched::Ready ready : {sched::Ready::kSend, sched::Ready::kNone}) {
        for (const bool atomic : {false, true}) {
          GroupScenario scenario;
          scenario.shape.pattern = pattern;
          scenario.shape.members = members;
          scenario.shape.block_bytes = 256;
          scenario.shape.ready = ready;
          scenario.messages = {3 * 256};
          scenario.atomic_delivery = atomic;
          SCOPED_TRACE(fmt::format("{} of {}, readiness {}, {}", pattern, members,
                                   ready == sched::Ready::kSend, atomic ? "atomic" : "plain"));
          const std::vector<Order> machine = machine_orders(scenario);
          for (std::uint32_t m = 0; m < members; ++m) {
            EXPECT_EQ(simulated_order(scenario, m), machine[m]) << "member " << m;
            with_all += atomic && machine[m].front() == "receive" ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(with_all, 100u);
}

// By hand: the root of two, and of three in a chain, and the members behind it.
TEST(GroupOrder, IsReadinessThenRowsThenWords) {
  GroupScenario scenario;
  scenario.shape.pattern = "chain";
  scenario.shape.members = 2;
  scenario.shape.block_bytes = 256;
  scenario.messages = {256};
  scenario.atomic_delivery = true;
  EXPECT_EQ(simulated_order(scenario, 0), (Order{"receive", "row for 1", "word", "word"}));
  EXPECT_EQ(simulated_order(scenario, 1), (Order{"receive", "send", "row for 0", "word"}));
  scenario.shape.members = 3;
  EXPECT_EQ(simulated_order(scenario, 0),
            (Order{"receive", "row for 1", "row for 2", "word", "word", "word", "word"}));
  EXPECT_EQ(simulated_order(scenario, 1),
            (Order{"receive", "send", "receive", "row for 0", "row for 2", "word", "word"}));
  EXPECT_EQ(simulated_order(scenario, 2),
            (Order{"receive", "send", "row for 0", "row for 1", "word", "word"}));
}

}  // namespace
}  // namespace slackline
