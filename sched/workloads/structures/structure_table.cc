// What a hash table holds in the end.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sched/workloads/structures/structure_words.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::sched {
namespace {

// What should be in one part.
struct Expected {
  OpId op;  // its insert's first; none(): it was given
  ValueId value;
  std::uint64_t bytes = 0;
  std::uint64_t slot = 0;   // StructureOp::slot
  std::uint32_t times = 0;  // seen
};
using Entries = std::map<std::uint64_t, Expected>;

class PartCheck {
 public:
  PartCheck(std::uint32_t rank, Slots entries, Slots flags, bool fixed, std::vector<Finding>& found)
      : rank_(rank), entries_(entries), flags_(flags), fixed_(fixed), found_(found) {}

  void run(Entries& expected) {
    for (std::size_t slot = 0; slot < entries_.count(); ++slot) {
      const std::uint64_t entry = entries_[slot];
      const auto it = expected.find(entry);
      if (it != expected.end()) {
        look_at(it->first, it->second, slot);
      } else if (entry != 0) {
        report(Breach::kForeign, OpId::none(), entry, slot, "which nobody inserted there");
      }
      check_flag(slot, it != expected.end() && it->second.op.valid());
    }
    for (const auto& [entry, e] : expected) {
      if (e.times != 0) continue;
      found_.push_back({Breach::kLost, e.op,
                        fmt::format("{} is not in rank {}'s part", describe_entry(entry), rank_)});
    }
  }

 private:
  void look_at(std::uint64_t entry, Expected& e, std::size_t slot) {
    if (++e.times > 1) return report(Breach::kTwice, e.op, entry, slot, "a second time");
    const std::span<const std::byte> bytes = entries_.bytes(slot);
    if (const auto at = first_torn(bytes, e.value, e.bytes, bytes.size())) {
      report(Breach::kTorn, e.op, entry, slot,
             fmt::format("but its byte {} of {} is another's", *at, e.bytes));
    }
    if (fixed_) {
      if (slot != e.slot) report(Breach::kUnreachable, e.op, entry, slot, "not at its place");
      return;
    }
    for (std::size_t probe = e.slot; probe != slot; probe = (probe + 1) % entries_.count()) {
      const bool flagged = flags_.kept() && flags_[probe] != 0;
      if (entries_[probe] != 0 || flagged) continue;
      return report(Breach::kUnreachable, e.op, entry, slot,
                    fmt::format("but slot {} on the way from its home is free", probe));
    }
  }

  void check_flag(std::size_t slot, bool inserted) {
    if (!flags_.kept() || fixed_) return;
    const std::uint64_t expected = inserted ? kTaken : 0;
    if (flags_[slot] == expected) return;
    found_.push_back({Breach::kFlag, OpId::none(),
                      fmt::format("the flag of rank {}'s slot {} is {:#x}; expected {:#x}", rank_,
                                  slot, flags_[slot], expected)});
  }

  void report(Breach breach, OpId op, std::uint64_t entry, std::size_t slot,
              const std::string& what) {
    found_.push_back(
        {breach, op,
         fmt::format("{} is in rank {}'s slot {}, {}", describe_entry(entry), rank_, slot, what)});
  }

  const std::uint32_t rank_;
  const Slots entries_;
  const Slots flags_;
  const bool fixed_;
  std::vector<Finding>& found_;
};

}  // namespace

std::vector<Finding> check_table(const StructureProgram& program, const Trace& trace,
                                 const FinalMemory& memory) {
  std::vector<Finding> found;
  const bool by_call = program.options.via == StructureVia::kAm;
  std::vector<Entries> expected(program.parts.size());
  for (std::uint32_t r = 0; r < program.parts.size(); ++r) {
    for (const auto& given : program.parts[r].given) {
      expected[r][entry_of(given.value)] = {OpId::none(), given.value, given.bytes, given.place, 0};
    }
  }
  for (const StructureOp& op : program.ops) {
    if (op.access == StructureAccess::kInsert) {
      expected[op.target.value][op.entry()] = {op.first, op.value, op.bytes, op.slot, 0};
      continue;
    }
    const std::optional<Fetched> fetched = find_fetched(program, op, trace, memory);
    if (!fetched) continue;
    const auto report = [&](Breach breach, std::string_view brought) {
      found.push_back({breach, op.first,
                       fmt::format("rank {}'s find (operation {}) of {} brought {}", op.rank.value,
                                   op.index, describe_entry(op.entry()), brought)});
    };
    if (fetched->entry != op.entry()) {
      report(Breach::kWrong, fmt::format("{:#x}", fetched->entry));
    } else if (const auto at = first_torn(fetched->bytes, op.value, op.bytes, 0)) {
      report(Breach::kTorn, fmt::format("another's byte {} of {}", *at, op.bytes));
    }
  }
  for (std::uint32_t r = 0; r < program.parts.size(); ++r) {
    const Slots entries(memory(program.parts[r].entries), program.slot_bytes());
    if (!entries.kept()) continue;
    const BufferId flags = program.parts[r].flags;
    PartCheck(r, entries, Slots(flags.valid() ? memory(flags) : std::span<const std::byte>()),
              by_call, found)
        .run(expected[r]);
  }
  if (by_call) check_tickets(program, memory, found);
  return found;
}

}  // namespace slackline::sched
