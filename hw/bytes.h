// Plain values in messages between ranks of one kind of machine.
#pragma once

#include "base/bytes.h"
#include "base/error.h"

namespace slackline::hw {

struct MessageCutShort : EnvironmentError {
  MessageCutShort() : EnvironmentError("a message of a rank is cut short") {}
};

using ByteWriter = base::ByteWriter<>;
using ByteReader = base::ByteReader<MessageCutShort>;

}  // namespace slackline::hw
