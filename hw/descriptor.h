// sched's owner of a file descriptor, under the name that this room has for it.
#pragma once

#include "base/descriptor.h"

namespace slackline::hw {

using sched::Descriptor;

}  // namespace slackline::hw
