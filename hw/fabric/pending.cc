#include "hw/fabric/pending.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::hw {

FabricPending* FabricPendings::take() {
  if (free_.empty()) {
    all_.emplace_back();
    return &all_.back();
  }
  FabricPending* const taken = free_.back();
  free_.pop_back();
  return taken;
}

void FabricPendings::release(FabricPending* pending) {
  if (pending->withdrawn) --(pending->channel != nullptr ? awaited_ : kept_);
  pending->withdrawn = false;
  pending->channel = nullptr;
  free_.push_back(pending);
}

void FabricPendings::withdraw(const FabricEndpoint& endpoint) {
  for (FabricPending& pending : all_) {
    if (pending.channel == nullptr || !pending.channel->closing) continue;
    pending.withdrawn = true;
    ++awaited_;
    // What it answers does not matter: the completion does.
    fi_cancel(&endpoint.ep(pending.channel->small)->fid, static_cast<FabricContext*>(&pending));
  }
}

void FabricPendings::give_up() {
  for (FabricPending& pending : all_) {
    if (pending.channel == nullptr || !pending.withdrawn) continue;
    kept_numbers_.insert(pending.channel->number);
    pending.channel = nullptr;
    --awaited_;
    ++kept_;
  }
  if (awaited_ != 0) {
    throw InternalError(fmt::format("{} receives are awaited that nobody took back", awaited_));
  }
}

}  // namespace slackline::hw
