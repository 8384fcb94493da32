// A transport that multicasts: what ranks that only copy would send on, the network's datagrams
// bring to all at once, and what is lost comes again over the reliable channels of the transport
// below. All other channels are that transport's.
//
// On a flow's channels (ChannelEnd::flow) bytes go as datagrams from the flow's source to every
// receiver of the flow, in one sending. The schedule's order stays: the end that sends on a channel
// says by it that a message was issued, once the executor has posted it, and a receive is complete
// only then. The receiver asks that end for packets that have not come, and tells it when it has
// all: then the send is complete. So a copier's process does no more than say so, and repair
// (hw/multicast/sender.h, hw/multicast/receiver.h).
//
// A channel of a flow takes two of the transport below: its own number, and one from 2^31 on for
// the way back. Other channels must have numbers below 2^31.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "hw/multicast/datagrams.h"
#include "hw/transport.h"

namespace slackline::hw {

struct RepairOptions {
  /// After the last sign of a message, packets of it that have not come count as lost.
  std::chrono::microseconds patience{2'000};
  /// What each end of a channel keeps of packets that came before their receive was posted.
  std::size_t early_bytes = std::size_t{4} << 20;
};

/// connect() throws EnvironmentError as Datagrams::join() does, and if a peer does not multicast;
/// poll() if one says what is no word of this. Nobody sleeps on datagrams: wait() naps 50 us at
/// most while a channel of a flow is open.
std::unique_ptr<Transport> make_multicast_transport(std::unique_ptr<Transport> under,
                                                    std::unique_ptr<Datagrams> datagrams,
                                                    const RepairOptions& options = {});

}  // namespace slackline::hw
