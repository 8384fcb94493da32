// An error on its way from one rank to the others.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {

/// Carries an error between ranks, so that all throw alike. One that only one rank has seen would
/// leave the others waiting.
struct Failed {
  enum class Fault : std::uint8_t { kNone, kInput, kUnsupported, kEnvironment, kInternal };
  Fault fault = Fault::kNone;
  std::string message;
};
Failed describe_failure(const Error& error);
[[noreturn]] void rethrow(const Failed& failed);

/// Of the message at most 64 KiB.
void write_failed(const Failed& failed, ByteWriter& writer);
/// Throws BadBytes.
Failed read_failed(ByteReader& reader);

}  // namespace slackline::hw
