#include "hw/executor/greeting.h"

namespace slackline::hw {

std::vector<std::byte> pack(const Greeting& greeting) {
  ByteWriter writer;
  writer.add_list(std::span<const RemoteMemory>(greeting.memory));
  writer.add_list(std::span<const std::byte>(greeting.address));
  return writer.take();
}

Greeting read_greeting(ByteReader& reader) {
  Greeting greeting;
  greeting.memory = reader.list<RemoteMemory>();
  greeting.address = reader.list<std::byte>();
  return greeting;
}

}  // namespace slackline::hw
