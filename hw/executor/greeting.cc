#include "hw/executor/greeting.h"

#include "hw/bytes.h"

namespace slackline::hw {

std::vector<std::byte> pack(const Greeting& greeting) {
  ByteWriter writer;
  writer.add_list(std::span<const RemoteMemory>(greeting.memory));
  writer.add_list(std::span<const std::byte>(greeting.address));
  return writer.take();
}

Greeting unpack_greeting(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  Greeting greeting;
  greeting.memory = reader.list<RemoteMemory>();
  greeting.address = reader.list<std::byte>();
  return greeting;
}

}  // namespace slackline::hw
