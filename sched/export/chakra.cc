#include "sched/export/chakra.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shown_text.h"
#include "sched/export/chakra_schema.h"
#include "sched/export/goal_operations.h"
#include "sched/import/chakra_trace.h"

namespace slackline::sched {
namespace {

using protozero::pbf_writer;

constexpr std::string_view kVersion = "1.0.0";
constexpr std::uint64_t kPsPerMicro = 1'000'000;
// Of all nodes together, beside four times what the schedule has. Joins of many operations that
// many others wait for would go beyond what memory holds.
constexpr std::uint64_t kMostDependencies = 1u << 22;

// Lanes, as read_chakra() has them.
std::uint16_t usual_lane(bool computes) { return computes ? 1 : 0; }

class Writer {
 public:
  explicit Writer(const Schedule& schedule)
      : schedule_(schedule), operations_(schedule, {"chakra", "Chakra", 1000, 0xffff, 1, false}) {}

  std::string write(RankId rank) {
    out_.clear();
    first_ = schedule_.first_op(rank).value;
    waits_.assign(schedule_.end_op(rank).value - first_, {});
    states_.assign(waits_.size(), State::kUnknown);
    message([&](pbf_writer& out) {
      out.add_string(chakra::metadata_field::kVersion, std::string(kVersion));
      if (schedule_.title().empty()) return;
      pbf_writer attribute(out, chakra::metadata_field::kAttribute);
      attribute.add_string(chakra::attribute_field::kName, "title");
      attribute.add_string(chakra::attribute_field::kString, shown(schedule_.title()));
    });
    for (std::uint32_t i = 0; i < waits_.size(); ++i) find_waits(i);
    for (std::uint32_t i = 0; i < waits_.size(); ++i) {
      if (schedule_.op(OpId(first_ + i)).kind != OpKind::kJoin) node(i);
    }
    return out_;
  }

 private:
  // A message with its length before it.
  template <class Fill>
  void message(const Fill& fill) {
    std::string bytes;
    {
      pbf_writer out(bytes);
      fill(out);
    }
    protozero::add_varint_to_buffer(&out_, bytes.size());
    out_ += bytes;
  }

  void node(std::uint32_t i) {
    namespace field = chakra::node_field;
    const OpId id(first_ + i);
    const Op& op = schedule_.op(id);
    const GoalOperation operation = operations_.of(id);
    const bool computes = operation.kind == OpKind::kCalc;
    const bool receives = operation.kind == OpKind::kRecv;
    message([&](pbf_writer& out) {
      out.add_uint64(field::kId, id.value);
      out.add_string(field::kName, std::string(name(op.kind)));
      out.add_enum(field::kType, computes   ? chakra::node_type::kCompute
                                 : receives ? chakra::node_type::kRecv
                                            : chakra::node_type::kSend);
      // As plain proto3 writes them: packed.
      out.add_packed_uint64(field::kDataDependencies, waits_[i].begin(), waits_[i].end());
      if (computes) duration(out, operation.amount);
      boolean(out, "is_cpu_op", false);
      if (!computes) {
        number(out, "comm_size", chakra::attribute_field::kInt64,
               static_cast<std::int64_t>(operation.amount));
        const std::int64_t own = op.rank.value;
        const std::int64_t peer = operation.peer;
        number(out, "comm_src", chakra::attribute_field::kInt32, receives ? peer : own);
        number(out, "comm_dst", chakra::attribute_field::kInt32, receives ? own : peer);
        number(out, "comm_tag", chakra::attribute_field::kInt32, operation.tag);
      }
      if (op.lane != usual_lane(computes)) {
        number(out, kChakraLane, chakra::attribute_field::kInt32, op.lane);
      }
    });
  }

  static void duration(pbf_writer& out, std::uint64_t ps) {
    const std::uint64_t micros = ps / kPsPerMicro + (ps % kPsPerMicro >= kPsPerMicro / 2 ? 1 : 0);
    if (micros != 0) out.add_uint64(chakra::node_field::kDuration, micros);
    if (ps % kPsPerMicro == 0) return;
    number(out, kChakraPicoseconds, chakra::attribute_field::kInt64, static_cast<std::int64_t>(ps));
  }

  static void number(pbf_writer& out, std::string_view name, std::uint32_t type,
                     std::int64_t value) {
    pbf_writer attribute(out, chakra::node_field::kAttribute);
    attribute.add_string(chakra::attribute_field::kName, name.data(), name.size());
    attribute.add_int64(type, value);
  }

  static void boolean(pbf_writer& out, std::string_view name, bool value) {
    pbf_writer attribute(out, chakra::node_field::kAttribute);
    attribute.add_string(chakra::attribute_field::kName, name.data(), name.size());
    attribute.add_bool(chakra::attribute_field::kBool, value);
  }

  enum class State : std::uint8_t { kUnknown, kOpen, kKnown };

  // Finds first those of the operations whose own waits become its waits, wherever they stand.
  void find_waits(std::uint32_t wanted) {
    std::vector<std::uint32_t> open = {wanted};
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      if (states_[i] == State::kKnown) {
        open.pop_back();
        continue;
      }
      states_[i] = State::kOpen;
      const std::size_t before = open.size();
      operations_.for_each_required(OpId(first_ + i), [&](OpId pred, On on) {
        const std::uint32_t p = pred.value - first_;
        if ((on == On::kDone && !is_join(pred)) || states_[p] == State::kKnown) return;
        if (states_[p] == State::kOpen) {
          throw Unsupported(fmt::format("chakra: {} waits for itself; expected no cycle",
                                        describe(schedule_, pred)));
        }
        open.push_back(p);
      });
      if (open.size() != before) continue;
      open.pop_back();
      gather_waits(i);
      states_[i] = State::kKnown;
    }
  }

  bool is_join(OpId id) const { return schedule_.op(id).kind == OpKind::kJoin; }

  // The ids of the operations whose ends operation `i` waits for, ascending; in a join's place
  // those that the join waits for. Those of an operation whose issue it waits for come in, but for
  // what is implied: by one more step back.
  void gather_waits(std::uint32_t i) {
    const OpId id(first_ + i);
    std::vector<std::uint64_t>& own = waits_[i];
    std::vector<std::uint64_t> inherited;
    operations_.for_each_required(id, [&](OpId pred, On on) {
      if (on == On::kDone && is_join(pred)) {
        const std::vector<std::uint64_t>& joined = waits_[pred.value - first_];
        own.insert(own.end(), joined.begin(), joined.end());
        return;
      }
      if (on == On::kDone) {
        own.push_back(pred.value);
        return;
      }
      if (schedule_.op(pred).lane != schedule_.op(id).lane || pred.value > id.value) {
        throw Unsupported(
            fmt::format("chakra: {} waits for the issue of {}, which {}; expected one before it on "
                        "its lane, or "
                        "a wait for its end",
                        describe(schedule_, id), describe(schedule_, pred),
                        pred.value > id.value ? "stands behind it" : "is on another lane"));
      }
      const std::vector<std::uint64_t>& of_pred = waits_[pred.value - first_];
      inherited.insert(inherited.end(), of_pred.begin(), of_pred.end());
    });
    const std::vector<std::uint64_t> direct = own;
    for (const std::uint64_t wait : inherited) {
      const bool implied = std::any_of(direct.begin(), direct.end(), [&](std::uint64_t one) {
        const std::vector<std::uint64_t>& before = waits_[one - first_];
        return std::binary_search(before.begin(), before.end(), wait);
      });
      if (!implied) own.push_back(wait);
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    dependencies_ += own.size();
    const std::uint64_t most =
        kMostDependencies + 4 * (std::uint64_t{schedule_.op_count()} + schedule_.edges().size());
    if (dependencies_ <= most) return;
    throw Unsupported(fmt::format(
        "chakra: {}: with what joins put together the traces have more than {} dependencies; "
        "expected fewer operations that wait for a join of many",
        describe(schedule_, id), most));
  }

  const Schedule& schedule_;
  GoalOperations operations_;
  std::uint32_t first_ = 0;                        // operation of the rank
  std::vector<std::vector<std::uint64_t>> waits_;  // of each operation of the rank
  std::vector<State> states_;                      // of each: whether they are known
  std::uint64_t dependencies_ = 0;                 // so far, of all ranks
  std::string out_;
};

}  // namespace

std::vector<std::string> write_chakra(const Schedule& schedule) {
  Writer writer(schedule);
  std::vector<std::string> traces;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    traces.push_back(writer.write(RankId(r)));
  }
  return traces;
}

}  // namespace slackline::sched
