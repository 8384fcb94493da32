// What queues hold in the end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "sched/value_bytes.h"
#include "sched/workloads/structures/structure_words.h"
#include "sched/workloads/structures/structure_workload.h"

namespace slackline::sched {
namespace {

// The word behind an entry that tells that it has arrived.
std::uint64_t sum_of(ValueId value, std::uint64_t entry_bytes) {
  std::array<std::byte, 8> bytes{};
  write_value(value, entry_bytes, bytes);
  return std::bit_cast<std::uint64_t>(bytes);
}

class QueueCheck {
 public:
  QueueCheck(const StructureProgram& program, std::uint32_t host, const Trace& trace,
             const FinalMemory& memory, std::vector<Finding>& found)
      : program_(program),
        part_(program.parts[host]),
        host_(host),
        trace_(trace),
        memory_(memory),
        slots_(part_.entries.valid() ? memory(part_.entries) : std::span<const std::byte>(),
               program.slot_bytes()),
        entry_bytes_(program.options.entry),
        found_(found) {
    for (const auto& given : part_.given) {
      elements_[entry_of(given.value)] = {nullptr, given.value, given.bytes, given.place, 0, 0};
    }
  }

  void add(const StructureOp& op) {
    level_ = op.level;
    if (op.access == StructureAccess::kPush) {
      elements_[op.entry()] = {&op, op.value, op.bytes, op.slot, 0, 0};
      ++pushes_;
    } else {
      pops_.push_back(&op);
    }
  }

  void run() {
    const bool fixed = program_.options.via == StructureVia::kAm || level_ == Promise::kLocal;
    if (!fixed) check_words();
    // Where places are used again only pops tell what was there.
    const std::uint64_t held = pushes_ + part_.given.size();
    if (slots_.kept() && held <= program_.slots) {
      fixed ? check_places() : check_ring(held);
    }
    check_pops(fixed);
  }

 private:
  struct Element {
    const StructureOp* push = nullptr;  // null: it was given
    ValueId value;
    std::uint64_t bytes = 0;
    std::uint64_t place = 0;
    std::uint32_t there = 0;
    std::uint32_t popped = 0;
  };

  OpId op_of(const Element& e) const { return e.push == nullptr ? OpId::none() : e.push->first; }
  void report(Breach breach, OpId op, std::string what) {
    found_.push_back({breach, op, fmt::format("rank {}'s queue: {}", host_, std::move(what))});
  }

  void check_words() {
    const Slots control(part_.control.valid() ? memory_(part_.control)
                                              : std::span<const std::byte>());
    if (!control.kept()) return;
    const bool marks = level_ == Promise::kReadWrite;
    const std::uint64_t pops = pops_.size();
    const std::array<std::pair<std::string_view, std::uint64_t>, 4> expected = {
        {{"tail", pushes_},
         {"ready tail", marks ? pushes_ : 0},
         {"head", pops},
         {"ready head", marks ? pops : 0}}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (control[i] == expected[i].second) continue;
      report(Breach::kPointer, OpId::none(),
             fmt::format("its {} is {}; expected {}", expected[i].first, control[i],
                         expected[i].second));
    }
  }

  // Every place in turn: each element once, one producer's in the order of its pushes.
  void check_ring(std::uint64_t held) {
    std::map<std::uint32_t, const StructureOp*> last;
    for (std::uint64_t place = 0; place < program_.slots; ++place) {
      const std::uint64_t entry = slots_[place];
      if (entry == 0) continue;
      const auto it = elements_.find(entry);
      if (it == elements_.end() || place >= held) {
        report(Breach::kForeign, OpId::none(),
               fmt::format("place {} holds {}, which nobody pushed there", place,
                           describe_entry(entry)));
        continue;
      }
      Element& e = it->second;
      if (++e.there > 1) {
        report(Breach::kTwice, op_of(e),
               fmt::format("{} is there twice, again in place {}", describe_entry(entry), place));
      }
      check_bytes(e, place);
      if (level_ == Promise::kChecksum &&
          slots_.word(place, entry_bytes_) != sum_of(e.value, entry_bytes_)) {
        report(Breach::kWrong, op_of(e),
               fmt::format("the checksum of {} does not fit", describe_entry(entry)));
      }
      if (e.push == nullptr || program_.in_flight != 1) continue;
      const StructureOp*& before = last[e.push->rank.value];
      if (before != nullptr && before->index > e.push->index) {
        report(Breach::kOrder, op_of(e),
               fmt::format("rank {}'s push {} stands behind its push {}", e.push->rank.value,
                           e.push->index, before->index));
      }
      before = e.push;
    }
    report_lost();
  }

  // By call, or locally: which place is which element's is known.
  void check_places() {
    for (auto& [entry, e] : elements_) {
      const std::uint64_t there = slots_[e.place];
      if (there == entry) {
        ++e.there;
        check_bytes(e, e.place);
      } else if (there != 0 && !elements_.contains(there)) {
        report(
            Breach::kForeign, OpId::none(),
            fmt::format("place {} holds {}, which nobody pushed", e.place, describe_entry(there)));
      }
    }
    report_lost();
  }
  void check_bytes(const Element& e, std::uint64_t place) {
    const auto at =
        first_torn(slots_.bytes(place).first(entry_bytes_), e.value, e.bytes, entry_bytes_);
    if (!at) return;
    report(Breach::kTorn, op_of(e),
           fmt::format("byte {} of {} of {} is another's", *at, e.bytes,
                       describe_entry(entry_of(e.value))));
  }
  void report_lost() {
    for (const auto& [entry, e] : elements_) {
      if (e.there == 0) report(Breach::kLost, op_of(e), describe_entry(entry) + " is not there");
    }
  }

  void check_pops(bool fixed) {
    std::map<std::uint64_t, const Element*> by_place;  // of the queue, not of the ring
    for (const StructureOp* pop : pops_) {
      const std::optional<Fetched> brought = find_fetched(program_, *pop, trace_, memory_);
      if (!brought) continue;
      const std::uint64_t fetched = brought->entry;
      const auto it = elements_.find(fetched);
      const bool right = it != elements_.end() && (!fixed || fetched == pop->entry());
      if (!right) {
        report(Breach::kWrong, pop->first,
               fmt::format("rank {}'s pop (operation {}) brought {:#x}, which is no element of it",
                           pop->rank.value, pop->index, fetched));
        continue;
      }
      if (const auto at = first_torn(brought->bytes, it->second.value, it->second.bytes, 0)) {
        report(Breach::kTorn, pop->first,
               fmt::format("rank {}'s pop (operation {}) brought another's byte {} of {}",
                           pop->rank.value, pop->index, *at, it->second.bytes));
      }
      if (++it->second.popped > 1) {
        report(Breach::kTwice, pop->first, describe_entry(fetched) + " was popped twice");
      }
      if (fixed || trace_.results.empty()) continue;
      const std::uint64_t place = trace_.results[pop->ticket.value];
      by_place[place] = &it->second;
      const bool kept = slots_.kept() && pushes_ + part_.given.size() <= program_.slots;
      if (kept && slots_[place % program_.slots] != fetched) {
        report(Breach::kWrong, pop->first,
               fmt::format("rank {}'s pop (operation {}) did not bring what is in its place {}",
                           pop->rank.value, pop->index, place));
      }
    }
    if (program_.in_flight != 1) return;
    std::map<std::uint32_t, std::uint32_t> last;  // by producer
    for (const auto& [place, e] : by_place) {
      if (e->push == nullptr) continue;
      const auto [before, first] = last.try_emplace(e->push->rank.value, e->push->index);
      if (!first && before->second > e->push->index) {
        report(Breach::kOrder, op_of(*e),
               fmt::format("rank {}'s push {} was popped behind its push {}", e->push->rank.value,
                           e->push->index, before->second));
      }
      before->second = e->push->index;
    }
  }

  const StructureProgram& program_;
  const StructurePart& part_;
  const std::uint32_t host_;
  const Trace& trace_;
  const FinalMemory& memory_;
  const Slots slots_;
  const std::uint64_t entry_bytes_;
  std::vector<Finding>& found_;
  Promise level_ = Promise::kReadWrite;
  std::map<std::uint64_t, Element> elements_;  // by entry
  std::uint64_t pushes_ = 0;
  std::vector<const StructureOp*> pops_;
};

}  // namespace

std::vector<Finding> check_queues(const StructureProgram& program, const Trace& trace,
                                  const FinalMemory& memory) {
  std::vector<Finding> found;
  std::map<std::uint32_t, QueueCheck> queues;
  for (const StructureOp& op : program.ops) {
    queues.try_emplace(op.structure(), program, op.structure(), trace, memory, found)
        .first->second.add(op);
  }
  for (auto& [host, queue] : queues) queue.run();
  if (program.options.via == StructureVia::kAm) check_tickets(program, memory, found);
  return found;
}

}  // namespace slackline::sched
