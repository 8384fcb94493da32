// An error on its way from one rank to the others.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "hw/bytes.h"

namespace slackline::hw {

/// Carries an error between ranks, so that all throw alike. One that only one rank has seen would
/// leave the others waiting.
struct Failed {
  enum class Fault : std::uint8_t {
    kNone,
    kInput,
    kUnsupported,
    kEnvironment,
    kInternal,
    kLost,
    kStalled
  };
  Fault fault = Fault::kNone;
  std::string message;
  std::uint32_t rank = 0;  // kLost: which
};
/// Memory that has run out is the environment's fault. What is no Error is Slackline's own.
Failed describe_failure(const std::exception& error);
[[noreturn]] void rethrow(const Failed& failed);
/// What is said of a rank that is gone and not lost, while all are needed: it has ended in order,
/// and told nobody why.
std::string why_left(std::uint32_t rank);

/// Of the message at most 64 KiB.
void write_failed(const Failed& failed, ByteWriter& writer);
/// Throws BadBytes.
Failed read_failed(ByteReader& reader);

}  // namespace slackline::hw
