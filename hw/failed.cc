#include "hw/failed.h"

#include <cstddef>
#include <string_view>

#include "base/shown_text.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kMostText = 64 << 10;

}  // namespace

Failed describe_failure(const Error& error) {
  Failed::Fault fault = Failed::Fault::kInternal;
  if (dynamic_cast<const InputError*>(&error) != nullptr) fault = Failed::Fault::kInput;
  if (dynamic_cast<const Unsupported*>(&error) != nullptr) fault = Failed::Fault::kUnsupported;
  if (dynamic_cast<const EnvironmentError*>(&error) != nullptr) fault = Failed::Fault::kEnvironment;
  return {fault, error.what()};
}

void rethrow(const Failed& failed) {
  switch (failed.fault) {
    case Failed::Fault::kInput:
      throw InputError(failed.message);
    case Failed::Fault::kUnsupported:
      throw Unsupported(failed.message);
    case Failed::Fault::kEnvironment:
      throw EnvironmentError(failed.message);
    default:
      throw InternalError(failed.message);
  }
}

void write_failed(const Failed& failed, ByteWriter& writer) {
  writer.add(failed.fault);
  writer.add_text(std::string_view(failed.message).substr(0, kMostText));
}

Failed read_failed(ByteReader& reader) {
  Failed failed;
  failed.fault = reader.choice(Failed::Fault::kInternal);
  failed.message = sched::shown(reader.text(kMostText));
  return failed;
}

}  // namespace slackline::hw
