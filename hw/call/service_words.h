// What ranks ask of each other's service threads, and what those answer, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/memory/page_facts.h"
#include "hw/transport.h"

namespace slackline::hw {

class ByteReader;

/// Of chunks that a rank has at the most for one other, and that one request asks for.
inline constexpr std::uint32_t kMostChunks = 1u << 16;
inline constexpr std::uint32_t kMostChunksAtOnce = 128;
/// Of NUMA nodes that a rank can tell of.
inline constexpr std::size_t kMostNodes = 256;

struct ServiceRequest {
  enum class Kind : std::uint8_t {
    kChunks,
    kAllocate,        // memory of its own
    kAllocateInNode,  // memory out of the rank's regions of superpages
    kFree,
    kNodes,  // which NUMA nodes there are
    kLeave,
  };
  Kind kind = Kind::kChunks;
  std::uint64_t bytes = 0;  // of a chunk, or of the memory
  std::uint32_t count = 0;  // of chunks; kFree: the memory's id
  std::int32_t node = -1;   // kAllocateInNode: which; −1: any
};
std::vector<std::byte> encode(const ServiceRequest& request);
/// These throw BadBytes.
ServiceRequest read_service_request(ByteReader& reader);

/// What was granted; `error` if it was not.
struct ServiceAnswer {
  std::string error;
  std::uint32_t id = 0;  // of the first
  std::vector<RemoteMemory> memory;
  PageFacts pages{};                  // kAllocateInNode: of the region that it is in
  std::vector<std::int32_t> nodes{};  // kNodes
};
/// It fits into one message to a rank. Of the error at most 2 KiB.
std::vector<std::byte> encode(const ServiceAnswer& answer);
/// An answer to `request`: it grants all that was asked for, or nothing.
ServiceAnswer read_service_answer(ByteReader& reader, const ServiceRequest& request);

}  // namespace slackline::hw
