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

// Lanes, as read_chakra() has them.
std::uint16_t usual_lane(OpKind kind, bool computes) {
  return computes && kind != OpKind::kJoin ? 1 : 0;
}

class Writer {
 public:
  explicit Writer(const Schedule& schedule)
      : schedule_(schedule), operations_(schedule, {"chakra", "Chakra", 1000, 0xffff}) {}

  std::string write(RankId rank) {
    out_.clear();
    first_ = schedule_.first_op(rank).value;
    waits_.assign(schedule_.end_op(rank).value - first_, {});
    message([&](pbf_writer& out) {
      out.add_string(chakra::metadata_field::kVersion, std::string(kVersion));
      if (schedule_.title().empty()) return;
      pbf_writer attribute(out, chakra::metadata_field::kAttribute);
      attribute.add_string(chakra::attribute_field::kName, "title");
      attribute.add_string(chakra::attribute_field::kString, shown(schedule_.title()));
    });
    for (std::uint32_t i = 0; i < waits_.size(); ++i) node(i);
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
    find_waits(i);
    const bool computes = operation.kind == OpKind::kCalc;
    const bool receives = operation.kind == OpKind::kRecv;
    message([&](pbf_writer& out) {
      out.add_uint64(field::kId, id.value);
      out.add_string(field::kName, std::string(name(op.kind)));
      out.add_enum(field::kType, op.kind == OpKind::kJoin ? chakra::node_type::kMetadata
                                 : computes               ? chakra::node_type::kCompute
                                 : receives               ? chakra::node_type::kRecv
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
      if (op.lane != usual_lane(op.kind, computes)) {
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

  // The ids of the operations whose ends operation `i` waits for, ascending. Those of an operation
  // whose issue it waits for come in, but for what is implied: by one more step back.
  void find_waits(std::uint32_t i) {
    const OpId id(first_ + i);
    std::vector<std::uint64_t>& own = waits_[i];
    std::vector<std::uint64_t> inherited;
    operations_.for_each_required(id, [&](OpId pred, On on) {
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
  }

  const Schedule& schedule_;
  GoalOperations operations_;
  std::uint32_t first_ = 0;                        // operation of the rank
  std::vector<std::vector<std::uint64_t>> waits_;  // of each operation of the rank
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
