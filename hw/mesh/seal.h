// How two ranks prove that they know the run's secret, and seal what they say after it.
//
// Both ends draw a key pair for this connection alone and send the public half; the end that
// connected sends first. From the secret, both public halves and what the two key pairs have in
// common (X25519) each end makes one key for each direction. Then the end that connected sends an
// empty record, the other looks whether it opens, and answers with an empty record of its own. So
// the end that listens says nothing that a stranger could learn from before the stranger has proved
// that it knows the secret; who records all this and learns the secret later still cannot read it.
// This beginning is the same in every protocol of the mesh.
//
// All that follows are records: the length of what is sealed, in 32 bits, and that many bytes and a
// tag (ChaCha20-Poly1305). Each direction counts its records, so that none can be left out, said
// twice or moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "hw/mesh.h"
#include "hw/mesh/secret.h"

namespace slackline::hw {

inline constexpr std::size_t kKeyHalfBytes = 32;
inline constexpr std::size_t kRecordHeaderBytes = 4;
inline constexpr std::size_t kRecordTagBytes = 16;
/// What a record may seal.
inline constexpr std::size_t kRecordBytes = (256 << 10) + 16;
/// An empty record: the proof.
inline constexpr std::size_t kProofBytes = kRecordHeaderBytes + kRecordTagBytes;

/// The keys of one end of a connection, and how many records have gone each way.
class Seal {
 public:
  using Key = std::array<unsigned char, 32>;
  Seal(const Key& to_peer, const Key& from_peer) : to_peer_(to_peer), from_peer_(from_peer) {}
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;
  ~Seal();

  /// Appends records that seal `head` and after it `rest`: as few as can be, at least one.
  void append(std::span<const std::byte> head, std::span<const std::byte> rest, Bytes& records);

  /// How many bytes follow a record's header. Throws WireError if a record has no so many.
  static std::size_t rest_of(std::span<const std::byte, kRecordHeaderBytes> header);
  /// Opens the record in its place, and gives what was sealed. Throws WireError if the peer did not
  /// seal it as its next.
  std::span<std::byte> open(std::span<const std::byte, kRecordHeaderBytes> header,
                            std::span<std::byte> rest);

 private:
  Key to_peer_, from_peer_;
  std::uint64_t sent_ = 0;
  std::uint64_t opened_ = 0;
};

/// One end's part in agreeing on keys.
class KeyExchange {
 public:
  /// `secret`: none is as a secret that everybody knows.
  explicit KeyExchange(const std::optional<Secret>& secret);
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;
  ~KeyExchange();

  /// What the peer must be sent.
  std::span<const std::byte, kKeyHalfBytes> mine() const { return mine_; }
  /// The keys. Nothing if the peer's is no public key.
  std::unique_ptr<Seal> agree(std::span<const std::byte, kKeyHalfBytes> its, bool connected) const;

 private:
  std::array<unsigned char, 32> secret_{};
  std::array<unsigned char, 32> own_{};
  std::array<std::byte, kKeyHalfBytes> mine_{};
};

/// Opens records as their bytes come. It holds at most one record.
class RecordReader {
 public:
  /// Calls take(plain) for each record that is whole. Throws WireError; of no use after that.
  template <typename Take>
  void feed(Seal& seal, std::span<const std::byte> bytes, Take&& take) {
    while (!bytes.empty()) {
      bytes = bytes.subspan(gather(bytes));
      if (const auto plain = opened(seal)) take(std::span<const std::byte>(*plain));
    }
  }

 private:
  // How many of the bytes belong to the record under way.
  std::size_t gather(std::span<const std::byte> bytes);
  std::optional<std::span<std::byte>> opened(Seal& seal);

  std::array<std::byte, kRecordHeaderBytes> header_{};
  std::size_t header_count_ = 0;
  std::size_t expected_ = 0;
  Bytes rest_;
  Bytes taken_;  // the last record that was whole
};

}  // namespace slackline::hw
