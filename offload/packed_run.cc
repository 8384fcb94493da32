#include "offload/packed_run.h"

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/error.h"

namespace slackline::offload {
namespace {

struct ResultCutOff : InternalError {
  ResultCutOff() : InternalError("offload: a run's result is cut off") {}
};

}  // namespace

std::string pack(const NicQueues& nic) {
  base::ByteWriter<std::string> out;
  out.add_list(std::span<const sched::OpTimes>(nic.times));
  out.add(nic.not_ready());
  out.add(nic.stuck());
  out.add(std::uint64_t{nic.faults().size()});
  for (const std::string& fault : nic.faults()) out.add_text(fault);
  return out.take();
}

Emulation unpack(std::string_view bytes) {
  base::BasicByteReader<ResultCutOff> in(bytes);
  Emulation result;
  result.trace.ops = in.list<sched::OpTimes>();
  result.not_ready = in.get<std::uint64_t>();
  result.stuck = in.get<std::uint32_t>();
  result.faults.resize(in.get<std::uint64_t>());
  for (std::string& fault : result.faults) fault = in.text();
  return result;
}

}  // namespace slackline::offload
