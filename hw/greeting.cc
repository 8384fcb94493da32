#include "hw/greeting.h"

#include <cstring>

namespace slackline::hw {

// The number of pieces of memory, these, and the address to the end.
std::vector<std::byte> pack(const Greeting& greeting) {
  const std::uint64_t count = greeting.memory.size();
  const std::size_t memory = count * sizeof(RemoteMemory);
  std::vector<std::byte> bytes(sizeof count + memory + greeting.address.size());
  std::memcpy(bytes.data(), &count, sizeof count);
  if (count != 0) std::memcpy(bytes.data() + sizeof count, greeting.memory.data(), memory);
  std::copy(greeting.address.begin(), greeting.address.end(),
            bytes.end() - static_cast<std::ptrdiff_t>(greeting.address.size()));
  return bytes;
}

Greeting unpack_greeting(std::span<const std::byte> bytes) {
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count) throw EnvironmentError("a rank's greeting is cut short");
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes = bytes.subspan(sizeof count);
  if (count > bytes.size() / sizeof(RemoteMemory)) {
    throw EnvironmentError("a rank's greeting is cut short");
  }
  Greeting greeting;
  greeting.memory.resize(count);
  const std::size_t memory = count * sizeof(RemoteMemory);
  if (count != 0) std::memcpy(greeting.memory.data(), bytes.data(), memory);
  greeting.address.assign(bytes.begin() + static_cast<std::ptrdiff_t>(memory), bytes.end());
  return greeting;
}

}  // namespace slackline::hw
