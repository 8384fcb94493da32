// What ranks ask of each other's service threads, and what those answer, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

class ByteReader;

/// Of chunks that a rank has at the most for one other.
inline constexpr std::uint32_t kMostChunks = 1u << 16;

struct ServiceRequest {
  enum class Kind : std::uint8_t { kChunks, kAllocate, kFree, kLeave };
  Kind kind = Kind::kChunks;
  std::uint64_t bytes = 0;  // of a chunk, or of the memory
  std::uint32_t count = 0;  // of chunks; kFree: the memory's id
};
std::vector<std::byte> encode(const ServiceRequest& request);
/// These throw BadBytes.
ServiceRequest read_service_request(ByteReader& reader);

/// What was granted; `error` if it was not.
struct ServiceAnswer {
  std::string error;
  std::uint32_t id = 0;  // of the first
  std::vector<RemoteMemory> memory;
};
/// Of the error at most 4 KiB.
std::vector<std::byte> encode(const ServiceAnswer& answer);
/// An answer to `request`: it grants all that was asked for, or nothing.
ServiceAnswer read_service_answer(ByteReader& reader, const ServiceRequest& request);

}  // namespace slackline::hw
