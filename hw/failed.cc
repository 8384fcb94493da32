#include "hw/failed.h"

#include <fmt/format.h>

#include <cstddef>
#include <new>
#include <string_view>

#include "base/error.h"
#include "base/shown_text.h"
#include "hw/run.h"
#include "hw/transport.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kMostText = 64 << 10;

template <class Kind>
bool is(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

}  // namespace

Failed describe_failure(const std::exception& error) {
  using Fault = Failed::Fault;
  if (const auto* lost = dynamic_cast<const PeerLost*>(&error)) {
    return {Fault::kLost, lost->what(), lost->rank()};
  }
  if (is<std::bad_alloc>(error)) return {Fault::kEnvironment, "out of memory"};
  Fault fault = Fault::kInternal;
  if (is<InputError>(error)) fault = Fault::kInput;
  if (is<Unsupported>(error)) fault = Fault::kUnsupported;
  if (is<EnvironmentError>(error)) fault = Fault::kEnvironment;
  if (is<Stalled>(error)) fault = Fault::kStalled;
  return {fault, error.what()};
}

std::string why_left(std::uint32_t rank) {
  return fmt::format("rank {} has left in the midst of a run", rank);
}

void rethrow(const Failed& failed) {
  switch (failed.fault) {
    case Failed::Fault::kInput:
      throw InputError(failed.message);
    case Failed::Fault::kUnsupported:
      throw Unsupported(failed.message);
    case Failed::Fault::kEnvironment:
      throw EnvironmentError(failed.message);
    case Failed::Fault::kLost:
      throw PeerLost(failed.rank, failed.message);
    case Failed::Fault::kStalled:
      throw Stalled(failed.message);
    default:
      throw InternalError(failed.message);
  }
}

void write_failed(const Failed& failed, ByteWriter& writer) {
  writer.add(failed.fault);
  writer.add_text(std::string_view(failed.message).substr(0, kMostText));
  if (failed.fault == Failed::Fault::kLost) writer.add(failed.rank);
}

Failed read_failed(ByteReader& reader) {
  Failed failed;
  failed.fault = reader.choice(Failed::Fault::kStalled);
  failed.message = sched::shown(reader.text(kMostText));
  if (failed.fault == Failed::Fault::kLost) failed.rank = reader.get<std::uint32_t>();
  return failed;
}

}  // namespace slackline::hw
