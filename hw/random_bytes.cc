#include "hw/random_bytes.h"

#include <sodium.h>

#include "base/error.h"

namespace slackline::hw {

void draw_bytes(std::span<std::byte> bytes) {
  if (sodium_init() < 0) {
    throw EnvironmentError(
        "the kernel gives no random bytes: expected getrandom() or /dev/urandom");
  }
  randombytes_buf(bytes.data(), bytes.size());
}

std::uint64_t drawn_number() {
  std::uint64_t number = 0;
  draw_bytes(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

}  // namespace slackline::hw
