// What a rank tells all others before a run; carried by somebody else.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hw/bytes.h"
#include "hw/transport.h"

namespace slackline::hw {

struct Greeting {
  Address address;                   // of the transport; empty if no channels were opened
  std::vector<RemoteMemory> memory;  // RankMemory::remote()

  friend bool operator==(const Greeting&, const Greeting&) = default;
};

std::vector<std::byte> pack(const Greeting& greeting);
/// Throws BadBytes.
Greeting read_greeting(ByteReader& reader);

}  // namespace slackline::hw
