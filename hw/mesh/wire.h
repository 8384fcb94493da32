// What the ranks of a mesh say to each other, as bytes. Numbers are little-endian; text is its
// length in 32 bits, then its bytes.
//
// All of it is sealed (hw/mesh/seal.h). A connection begins with a Hello, whose beginning (magic
// bytes, protocol, version, rank) stays as it is in every protocol, so that a rank of another
// version can be told so. Then come frames: a header {kind, topic, left} and payload. `left` counts
// the bytes of the payload from here on; a long payload comes in parts of kPartBytes, each with a
// header, so that short frames may go between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hw/mesh.h"

namespace slackline::hw {

inline constexpr std::uint32_t kMeshProtocol = 3;

/// Bytes that are none of this protocol.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class WireWriter {
 public:
  WireWriter& u32(std::uint32_t value);
  WireWriter& u64(std::uint64_t value);
  WireWriter& text(std::string_view value);
  WireWriter& raw(std::span<const std::byte> bytes);
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Throws WireError where there are fewer bytes than asked for, and at the end if there are more.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint32_t u32();
  std::uint64_t u64();
  std::string text();
  std::span<const std::byte> raw(std::size_t count);
  bool at_end() const { return bytes_.empty(); }
  void end() const {
    if (!at_end()) throw WireError("more bytes than it has");
  }

 private:
  std::span<const std::byte> bytes_;
};

/// What the texts of a member have at the most.
inline constexpr std::size_t kMostHostText = 512;
inline constexpr std::size_t kMostAddressText = 128;

/// A rank, as others need to know it.
struct Member {
  std::string host;  // who has the same shares memory, process numbers and clock
  std::uint64_t pid = 0;
  std::string address;  // where it listens while ranks join, in digits; rank 0: empty
  std::uint32_t port = 0;
};

/// How a rank introduces itself.
struct Hello {
  std::uint32_t protocol = kMeshProtocol;
  std::string version;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t run = 0;  // the number that the root gave the run; 0 to the root, who gives it
  Member member;
  std::vector<std::string> agreed;
};

/// What stands before a Hello.
inline constexpr std::size_t kPreambleBytes = 16;
struct Preamble {
  std::uint32_t protocol = 0;
  std::uint32_t bytes = 0;  // of the Hello that follows; at most kHelloBytes
};
inline constexpr std::uint32_t kHelloBytes = 1 << 20;

/// Preamble and Hello. Throws InputError if it is longer than kHelloBytes.
Bytes encode(const Hello& hello);
/// Nothing for bytes that are none.
std::optional<Preamble> decode_preamble(std::span<const std::byte, kPreambleBytes> bytes);
/// Of another protocol: version and rank alone. Throws WireError.
Hello decode_hello(std::uint32_t protocol, std::span<const std::byte> bytes);

/// Why a join fails, the same at every rank: the error's exit code (1: PeerLost, 2: InputError, 3:
/// EnvironmentError).
struct JoinVerdict {
  std::uint32_t exit_code = 1;
  std::uint32_t rank = 0;  // PeerLost
  std::string message;
};
[[noreturn]] void throw_verdict(const JoinVerdict& verdict);
Bytes encode(const JoinVerdict& verdict);
/// `ranks`: how many there are.
JoinVerdict decode_verdict(std::span<const std::byte> bytes, std::uint32_t ranks);

/// What two ranks of a run do not agree on: the first thing, naming both and what they have.
std::optional<JoinVerdict> disagreement(const Hello& one, const Hello& other);

Bytes encode(std::span<const Member> members);
std::vector<Member> decode_members(std::span<const std::byte> bytes);

Bytes encode(const Loss& loss);
Loss decode_loss(std::span<const std::byte> bytes);

enum class FrameKind : std::uint32_t {
  // While ranks join.
  kWelcome = 1,  // root to rank: the run's number
  kTable,        // root to rank: milliseconds left, then members: the next ones, until it was all
  kReady,        // rank to root: connected to all
  kWaiting,      // rank to root: it is there, and somebody else is not connected
  kVerdict,      // both ways: the join has failed
  kGo,           // root to rank: all are ready
  // After that.
  kHeartbeat = 16,
  kLost,
  kFarewell,
  kClockAsk,
  kClockTell,
  // Of any length.
  kMessage = 32,
  kGather,
};

struct FrameHeader {
  FrameKind kind = FrameKind::kHeartbeat;
  std::uint32_t topic = 0;
  std::uint64_t left = 0;
};
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::size_t kPartBytes = 256 << 10;
inline constexpr std::uint64_t kMessageBytes = std::uint64_t{1} << 40;  // a message has at most

std::array<std::byte, kHeaderBytes> encode(const FrameHeader& header);
/// Throws WireError for a kind that is none, and for a frame that is too long.
FrameHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes);

/// A frame of at most kPartBytes, header included.
Bytes encode_frame(FrameKind kind, std::span<const std::byte> payload = {});

struct Frame {
  FrameKind kind = FrameKind::kHeartbeat;
  std::uint32_t topic = 0;
  Bytes payload;
};

/// Puts frames together from bytes as they come.
class FrameReader {
 public:
  /// Appends the frames that are complete now. Throws WireError; of no use after that.
  void feed(std::span<const std::byte> bytes, std::vector<Frame>& frames);
  /// Bytes of a message that is not complete yet.
  std::size_t held() const { return long_.payload.size(); }

 private:
  void begin_part();
  void end_part(std::vector<Frame>& frames);

  std::array<std::byte, kHeaderBytes> header_bytes_;
  std::size_t header_count_ = 0;
  FrameHeader header_;
  std::uint64_t part_left_ = 0;
  bool in_part_ = false;
  Frame long_;  // under way
  std::uint64_t long_left_ = 0;
  Frame short_;
};

/// Whether frames of the kind may have any length.
constexpr bool is_long(FrameKind kind) { return kind >= FrameKind::kMessage; }

}  // namespace slackline::hw
