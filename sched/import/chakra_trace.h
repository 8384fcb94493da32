// The Chakra trace of one rank as it stands in its file, without its meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace slackline::sched {

enum class ChakraType : std::uint8_t {
  kMetadata = 1,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kRecv,
  kCollective
};

/// Numbers that attributes of any whole type say; nothing where there is no such attribute.
struct ChakraNode {
  std::uint64_t at = 0;  // where its bytes begin in the file
  std::uint64_t id = 0;
  ChakraType type = ChakraType::kMetadata;
  bool on_cpu = false;  // is_cpu_op
  std::uint64_t micros = 0;
  std::uint32_t first_wait = 0;  // in ChakraRank::waits_for
  std::uint32_t waits = 0;
  std::string_view group;                    // pg_name
  std::optional<std::int64_t> size;          // comm_size, bytes
  std::optional<std::int64_t> source;        // comm_src, a rank
  std::optional<std::int64_t> target;        // comm_dst, a rank
  std::optional<std::int64_t> tag;           // comm_tag
  std::optional<std::int64_t> collective;    // comm_type
  std::optional<std::int64_t> instructions;  // num_ops
  std::optional<std::int64_t> lane;          // kChakraLane
  std::optional<std::int64_t> picoseconds;   // kChakraPicoseconds
  bool some_dimensions = false;              // involved_dim leaves one out
};

struct ChakraRank {
  std::vector<ChakraNode> nodes;         // as they stand
  std::vector<std::uint64_t> waits_for;  // ids of nodes
};

/// What Slackline's traces say beside, for Slackline alone: the lane of a node that its type does
/// not tell, and the time of one that is no whole number of microseconds.
inline constexpr std::string_view kChakraLane = "slackline_lane";
inline constexpr std::string_view kChakraPicoseconds = "slackline_duration_ps";

/// The trace of bytes; texts are views of them. `with_control` counts ctrl_deps, too. Throws
/// InputError, naming file and byte, on what is not length-delimited messages of the schema:
/// GlobalMetadata, then Nodes.
ChakraRank parse_chakra(std::string_view bytes, std::string_view file, bool with_control);

}  // namespace slackline::sched
