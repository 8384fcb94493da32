#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/bindings.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/pattern/transfer_list.h"

namespace slackline::python {
namespace {

namespace py = pybind11;

// Buffer, offset, bytes.
using SliceWords = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
// An operation, and whether its issue is enough.
using Wait = std::pair<std::uint32_t, bool>;
// Operand::From, the operation, value, addend, modulus.
using OperandWords =
    std::tuple<std::uint8_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;
// Step, source, destination, block.
using TransferWords = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

sched::Slice slice_of(const SliceWords& words) {
  return {sched::BufferId(std::get<0>(words)), std::get<1>(words), std::get<2>(words)};
}

sched::Operand operand_of(const OperandWords& words) {
  const auto& [from_number, op, value, addend, modulus] = words;
  const auto from = static_cast<sched::Operand::From>(from_number);
  const sched::Operand operand{from, {}, value, addend, modulus};
  return operand.is_dynamic() ? sched::Operand{from, sched::OpId(op), value, addend, modulus}
                              : operand;
}

sched::SliceRange slices_of(const std::vector<SliceWords>& words, sched::ScheduleBuilder& to) {
  std::vector<sched::Slice> slices;
  std::transform(words.begin(), words.end(), std::back_inserter(slices), slice_of);
  return slices.empty() ? sched::SliceRange{} : to.add_slices(slices);
}

// `notify` and `kind` by their names, and channel −1 for none.
std::uint32_t add_op(sched::ScheduleBuilder& builder, const std::string& kind, std::uint32_t rank,
                     std::uint32_t step, std::uint16_t lane, std::int64_t channel,
                     const std::string& notify, const std::vector<SliceWords>& reads,
                     const std::vector<SliceWords>& writes, std::int64_t duration_ps,
                     const OperandWords& operand, const OperandWords& compare,
                     const OperandWords& offset, const std::vector<Wait>& after) {
  sched::Op op;
  op.kind = sched::op_kind_named(kind).value();
  op.notify = sched::notify_named(notify).value();
  op.lane = lane;
  op.rank = sched::RankId(rank);
  op.channel = sched::ChannelId(static_cast<std::uint32_t>(channel));
  op.step = step;
  op.reads = slices_of(reads, builder);
  op.writes = slices_of(writes, builder);
  sched::OpArguments arguments;
  arguments.duration = sched::Time(duration_ps);
  arguments.operand = operand_of(operand);
  arguments.compare = operand_of(compare);
  arguments.address_offset = operand_of(offset);
  const sched::OpId id =
      arguments == sched::OpArguments() ? builder.add(op) : builder.add(op, arguments);
  for (const auto& [pred, issued] : after) {
    builder.add_edge(sched::OpId(pred), id, issued ? sched::On::kIssued : sched::On::kDone);
  }
  return id.value;
}

std::uint32_t add_channel(sched::ScheduleBuilder& builder, std::uint32_t src, std::uint32_t dst,
                          std::uint32_t window, std::int64_t credit_on, bool datagram) {
  sched::Channel channel{};
  channel.src = sched::RankId(src);
  channel.dst = sched::RankId(dst);
  channel.window = window;
  channel.credit_on = sched::ChannelId(static_cast<std::uint32_t>(credit_on));
  if (datagram) channel.service = sched::Service::kDatagram;
  return builder.add_channel(channel).value;
}

// The pattern that the transfers are, made into a schedule as those with a name are.
sched::Schedule of_transfers(const std::string& title, std::uint32_t ranks, std::uint32_t root,
                             std::uint64_t bytes, std::uint64_t block_bytes,
                             const std::vector<TransferWords>& transfers, bool put,
                             const std::string& ready, std::uint32_t window,
                             std::uint32_t in_flight, bool lockstep) {
  sched::Spec spec;
  spec.multicast = {ranks, bytes, block_bytes, sched::RankId(root)};
  spec.transfers.lowering = put ? sched::Lowering::kPut : sched::Lowering::kSend;
  spec.transfers.in_flight = in_flight;
  spec.credits.window = window;
  spec.credits.ready = ready == "none"    ? sched::Ready::kNone
                       : ready == "write" ? sched::Ready::kWrite
                                          : sched::Ready::kSend;
  spec.order = lockstep ? sched::Order::kLockstep : sched::Order::kAsync;
  std::vector<sched::Transfer> told;
  for (const auto& [step, src, dst, block] : transfers) {
    told.push_back({step, sched::RankId(src), sched::RankId(dst), block});
  }
  sched::Plan plan = sched::plan_of_transfers(spec.multicast, std::move(told));
  plan.title = title;
  return sched::compile_plan(plan, spec);
}

}  // namespace

void bind_builder(py::module_& module) {
  using sched::ScheduleBuilder;
  py::class_<ScheduleBuilder>(module, "Builder")
      .def(py::init<std::uint32_t>(), py::arg("ranks"))
      .def("set_title", &ScheduleBuilder::set_title)
      .def("set_message_bytes", &ScheduleBuilder::set_message_bytes)
      .def("add_buffer",
           [](ScheduleBuilder& b, std::uint32_t rank, std::uint64_t bytes) {
             return b.add_buffer(sched::RankId(rank), bytes).value;
           })
      .def("add_channel", add_channel)
      .def("add_op", add_op)
      .def("add_edge",
           [](ScheduleBuilder& b, std::uint32_t pred, std::uint32_t succ, bool issued) {
             b.add_edge(sched::OpId(pred), sched::OpId(succ),
                        issued ? sched::On::kIssued : sched::On::kDone);
           })
      .def("add_flag_match",
           [](ScheduleBuilder& b, std::uint32_t put, std::uint32_t poll) {
             b.add_flag_match(sched::OpId(put), sched::OpId(poll));
           })
      .def("add_fact",
           [](ScheduleBuilder& b, bool post, const SliceWords& slice, std::uint32_t value,
              std::uint64_t from, std::uint32_t terms) {
             const sched::Fact fact(slice_of(slice), sched::ValueId(value), from, terms);
             post ? b.add_post(fact) : b.add_pre(fact);
           })
      .def(
          "add_retry",
          [](ScheduleBuilder& b, std::uint32_t entry, std::uint32_t count, std::uint32_t attempts) {
            sched::Region region;
            region.entry = sched::OpId(entry);
            region.count = count;
            region.max_attempts = attempts;
            region.outcome = sched::RegionOutcome::kActual;
            b.add_region(region);
          })
      .def("build", [](ScheduleBuilder& b) {
        const py::gil_scoped_release release;
        return std::make_shared<sched::Schedule>(b.build());
      });
  module.def(
      "of_transfers",
      [](const std::string& title, std::uint32_t ranks, std::uint32_t root, std::uint64_t bytes,
         std::uint64_t block_bytes, const std::vector<TransferWords>& transfers, bool put,
         const std::string& ready, std::uint32_t window, std::uint32_t in_flight, bool lockstep) {
        return std::make_shared<sched::Schedule>(of_transfers(title, ranks, root, bytes,
                                                              block_bytes, transfers, put, ready,
                                                              window, in_flight, lockstep));
      },
      py::call_guard<py::gil_scoped_release>());
}

}  // namespace slackline::python
