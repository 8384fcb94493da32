#include "hw/mesh/seal.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "hw/mesh/wire.h"
#include "hw/random_bytes.h"

namespace slackline::hw {
namespace {

static_assert(kRecordTagBytes == crypto_aead_chacha20poly1305_ietf_ABYTES);
static_assert(sizeof(Seal::Key) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);
static_assert(kKeyHalfBytes == crypto_scalarmult_BYTES);
static_assert(kRecordBytes == kPartBytes + kHeaderBytes);  // a part of a frame is one record

using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

// A key seals each number once, and no key serves twice: that is all a nonce has to be.
Nonce nonce_of(std::uint64_t number) {
  Nonce nonce{};
  for (std::size_t i = 0; i < sizeof number; ++i) {
    nonce[i] = static_cast<unsigned char>(number >> (8 * i));
  }
  return nonce;
}

std::array<std::byte, kRecordHeaderBytes> header_of(std::size_t length) {
  std::array<std::byte, kRecordHeaderBytes> header{};
  for (std::size_t i = 0; i < header.size(); ++i) {
    header[i] = static_cast<std::byte>(length >> (8 * i) & 0xff);
  }
  return header;
}

}  // namespace

Seal::~Seal() {
  sodium_memzero(to_peer_.data(), to_peer_.size());
  sodium_memzero(from_peer_.data(), from_peer_.size());
}

void Seal::append(std::span<const std::byte> head, std::span<const std::byte> rest,
                  Bytes& records) {
  do {
    const std::size_t of_head = std::min(head.size(), kRecordBytes);
    const std::size_t of_rest = std::min(rest.size(), kRecordBytes - of_head);
    const std::size_t length = of_head + of_rest;
    const auto header = header_of(length);
    const std::size_t begin = records.size();
    records.resize(begin + kRecordHeaderBytes + length + kRecordTagBytes);
    std::byte* const body = records.data() + begin + kRecordHeaderBytes;
    std::copy(header.begin(), header.end(), records.data() + begin);
    std::copy_n(head.begin(), of_head, body);
    std::copy_n(rest.begin(), of_rest, body + of_head);
    const Nonce nonce = nonce_of(sent_++);
    crypto_aead_chacha20poly1305_ietf_encrypt(raw(body), nullptr, raw(body), length,
                                              raw(header.data()), header.size(), nullptr,
                                              nonce.data(), to_peer_.data());
    head = head.subspan(of_head);
    rest = rest.subspan(of_rest);
  } while (!head.empty() || !rest.empty());
}

std::size_t Seal::rest_of(std::span<const std::byte, kRecordHeaderBytes> header) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    length |= std::to_integer<std::uint32_t>(header[i]) << (8 * i);
  }
  if (length > kRecordBytes) throw WireError("a record that is too long");
  return length + kRecordTagBytes;
}

std::span<std::byte> Seal::open(std::span<const std::byte, kRecordHeaderBytes> header,
                                std::span<std::byte> rest) {
  const Nonce nonce = nonce_of(opened_++);
  if (crypto_aead_chacha20poly1305_ietf_decrypt(
          raw(rest.data()), nullptr, nullptr, raw(rest.data()), rest.size(), raw(header.data()),
          header.size(), nonce.data(), from_peer_.data()) != 0) {
    throw WireError("bytes that are not sealed with this run's secret");
  }
  return rest.first(rest.size() - kRecordTagBytes);
}

KeyExchange::KeyExchange(const std::optional<Secret>& secret) {
  if (secret) std::memcpy(secret_.data(), secret->bytes().data(), secret_.size());
  draw_bytes(std::as_writable_bytes(std::span(own_)));
  crypto_scalarmult_base(raw(mine_.data()), own_.data());
}

KeyExchange::~KeyExchange() {
  sodium_memzero(secret_.data(), secret_.size());
  sodium_memzero(own_.data(), own_.size());
}

std::unique_ptr<Seal> KeyExchange::agree(std::span<const std::byte, kKeyHalfBytes> its,
                                         bool connected) const {
  Seal::Key common{};
  if (crypto_scalarmult(common.data(), own_.data(), raw(its.data())) != 0) return nullptr;
  const std::byte* const first = connected ? mine_.data() : its.data();
  const std::byte* const second = connected ? its.data() : mine_.data();
  std::array<unsigned char, 2 * sizeof(Seal::Key)> keys{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, secret_.data(), secret_.size(), keys.size());
  constexpr std::string_view kWhat = "slackline mesh";
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(kWhat.data()),
                            kWhat.size());
  crypto_generichash_update(&state, common.data(), common.size());
  crypto_generichash_update(&state, raw(first), kKeyHalfBytes);
  crypto_generichash_update(&state, raw(second), kKeyHalfBytes);
  crypto_generichash_final(&state, keys.data(), keys.size());
  Seal::Key of_connected{};
  Seal::Key of_listening{};
  std::copy_n(keys.begin(), of_connected.size(), of_connected.begin());
  std::copy_n(keys.begin() + of_connected.size(), of_listening.size(), of_listening.begin());
  auto seal = connected ? std::make_unique<Seal>(of_connected, of_listening)
                        : std::make_unique<Seal>(of_listening, of_connected);
  for (Seal::Key* key : {&common, &of_connected, &of_listening}) {
    sodium_memzero(key->data(), key->size());
  }
  sodium_memzero(keys.data(), keys.size());
  sodium_memzero(&state, sizeof state);
  return seal;
}

std::size_t RecordReader::gather(std::span<const std::byte> bytes) {
  if (header_count_ < kRecordHeaderBytes) {
    const std::size_t count = std::min(bytes.size(), kRecordHeaderBytes - header_count_);
    std::copy_n(bytes.begin(), count, header_.begin() + header_count_);
    header_count_ += count;
    if (header_count_ == kRecordHeaderBytes) expected_ = Seal::rest_of(header_);
    return count;
  }
  const std::size_t count = std::min(bytes.size(), expected_ - rest_.size());
  rest_.insert(rest_.end(), bytes.begin(), bytes.begin() + count);
  return count;
}

std::optional<std::span<std::byte>> RecordReader::opened(Seal& seal) {
  if (header_count_ < kRecordHeaderBytes || rest_.size() < expected_) return std::nullopt;
  taken_.swap(rest_);
  rest_.clear();
  header_count_ = 0;
  return seal.open(header_, taken_);
}

}  // namespace slackline::hw
