#include "offload/packed_run.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace slackline::offload {
namespace {

class Parcel {
 public:
  Parcel() = default;
  explicit Parcel(std::string bytes) : bytes_(std::move(bytes)) {}
  void put(const void* from, std::size_t size) {
    bytes_.append(static_cast<const char*>(from), size);
  }
  void take(void* to, std::size_t size) {
    if (size > bytes_.size() - at_) throw InternalError("offload: a run's result is cut off");
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }
  template <class T>
  void put_number(T number) {
    put(&number, sizeof number);
  }
  template <class T>
  T number() {
    T number;
    take(&number, sizeof number);
    return number;
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

static_assert(std::is_trivially_copyable_v<sched::OpTimes>);

}  // namespace

std::string pack(const NicQueues& nic) {
  Parcel out;
  out.put_number(std::uint64_t{nic.times.size()});
  out.put(nic.times.data(), nic.times.size() * sizeof(sched::OpTimes));
  out.put_number(nic.not_ready());
  out.put_number(nic.stuck());
  out.put_number(std::uint64_t{nic.faults().size()});
  for (const std::string& fault : nic.faults()) {
    out.put_number(std::uint64_t{fault.size()});
    out.put(fault.data(), fault.size());
  }
  return std::move(out.bytes());
}

Emulation unpack(std::string bytes) {
  Parcel in(std::move(bytes));
  Emulation result;
  result.trace.ops.resize(in.number<std::uint64_t>());
  in.take(result.trace.ops.data(), result.trace.ops.size() * sizeof(sched::OpTimes));
  result.not_ready = in.number<std::uint64_t>();
  result.stuck = in.number<std::uint32_t>();
  result.faults.resize(in.number<std::uint64_t>());
  for (std::string& fault : result.faults) {
    fault.resize(in.number<std::uint64_t>());
    in.take(fault.data(), fault.size());
  }
  return result;
}

}  // namespace slackline::offload
