// The part of machine/run/execution.h that carries messages: from a queue at a NIC, over the ports,
// to what their arrival sets free.
#include "machine/run/execution.h"

namespace slackline::machine {

void Execution::queue_message(OpId id) {
  const bool reply = is_reply(id);
  const PathInBrief& way = way_of(id, reply);
  if (paths_[way.like].local) return copy_message(id, reply);
  const std::uint64_t bytes = message_bytes(id, reply);
  ports_of(id, reply, bytes).join(now_s_, id, way.src_nic, way.dst_nic, bytes);
}

// Within a machine, through its memory: past the NIC, and at once.
void Execution::copy_message(OpId id, bool reply) {
  times(id).wire_s = now_s_;
  for (OpId m = behind(id); m.valid(); m = behind(m)) times(m).wire_s = now_s_;
  if (!reply && sched::has_reply(op(id).kind)) request_s_[id.value] = now_s_;
  const PathId path = path_of(id, reply);
  const double sent_s = paths_.sent_s(now_s_, path, message_bytes(id, reply));
  const bool cut = paths_.may_fail() && sent_s + kInstant_s > paths_[path].cut_s;
  const double end_s = cut ? std::max(now_s_, paths_[path].cut_s) : sent_s;
  end_at(end_s, {id, cut ? Kind::kLost : Kind::kSent});
}

void Execution::start_message(const PortArbiter::Start& start, bool large) {
  const OpId id = start.op;
  const bool reply = is_reply(id);
  PortArbiter& ports = large ? large_ : small_;
  if (paths_.may_fail() &&
      has_failed(ends(id, reply).first)) {  // what its NIC still has queued never leaves
    ports.free_in(start.dst);
    return;
  }
  const std::uint64_t bytes = start.bytes;
  sched::OpTimes& t = times(id);
  // What is in a bundle was issued earlier than what it may be behind: that would go in circles.
  if (!reply && !bundled_ && start.behind.valid() && t.issued_s < now_s_) t.cause = start.behind;
  if (is_ack(id, reply)) {
    ack_start_s_[id.value] = now_s_;
  } else {
    t.wire_s = now_s_;
    for (OpId m = behind(id); m.valid(); m = behind(m)) times(m).wire_s = now_s_;
  }
  if (!reply && sched::has_reply(op(id).kind)) request_s_[id.value] = now_s_;
  const bool held_to_the_end = serial_ && bytes != 0;
  if (!held_to_the_end) {
    free_at_start(ports, start, gap_s(way_of(id, reply)), {id, out_free(large, reply)});
  }
  if (bytes == 0) return start_empty(id, reply);
  PathId path = path_of(id, reply);
  if (adaptive_ && large) path = ways_.begin(id, path);
  if (paths_.may_fail() && now_s_ + kInstant_s > paths_.like(path).cut_s) {
    if (large && !serial_) count_large(start.src, start.dst);
    ended_now_.push_back({id, Kind::kLost});
    return;
  }
  if (!large) {
    const double sent_s = is_ack(id, reply) ? paths_.ack_sent_s(now_s_, path, bytes)
                                            : paths_.sent_s(now_s_, path, bytes);
    const double cut_s = paths_.like(path).cut_s;
    clock_.at(std::min(sent_s, cut_s), {id, sent_s < cut_s ? Kind::kSent : Kind::kLost});
    return;
  }
  if (!serial_) count_large(start.src, start.dst);
  clock_.transmit(now_s_, path, bytes, id);
}

// A message without bytes has left as it starts. It holds no port to its end, and writes nothing
// but its own times and its receive's. So where all that comes of it is of later instants, which
// the clock keeps in no order, it makes no difference whether it comes of it here or in the
// message's turn among the events that end now, and an event less is sorted and looked up. Without
// latency, or without an acknowledgement to wait for, something may come of it in this instant:
// then it has its turn.
void Execution::start_empty(OpId id, bool reply) {
  const PathId way = path_of(id, reply);
  const Path& like = paths_.like(way);
  const bool cut = now_s_ + kInstant_s > like.cut_s;
  if (cut || !acknowledged_ || !is_later(now_s_ + like.latency_s)) {
    ended_now_.push_back({id, cut ? Kind::kLost : Kind::kSent});
    return;
  }
  on_its_way(id, way, reply);
  for (OpId m = behind(id); m.valid(); m = behind(m)) on_its_way(m, way, reply);
}

void Execution::count_large(NicId src, NicId dst) {
  const std::uint32_t out = large_out_[src.value]++;
  const std::uint32_t in = large_in_[dst.value]++;
  shared_ = shared_ || out != 0 || in != 0;
}

// A message that has left, or was lost, gives back what it held.
void Execution::leave_ports(OpId id, bool reply) {
  const PathInBrief& way = way_of(id, reply);
  if (paths_[way.like].local) return;
  if (bundled_ && !bundles_.stands_for_all(id)) return;
  const std::uint64_t bytes = message_bytes(id, reply);
  if (adaptive_ && is_large(id, reply, bytes)) ways_.end(id);
  if (serial_ && bytes != 0) {
    PortArbiter& ports = ports_of(id, reply, bytes);
    const double start_s = is_ack(id, reply) ? ack_start_s_[id.value] : times(id).wire_s;
    free_at_end(ports, way.src_nic, way.dst_nic, start_s, gap_s(way),
                {id, out_free(&ports == &large_, reply)});
  } else if (!serial_ && is_large(id, reply, bytes)) {
    --large_out_[way.src_nic.value];
    --large_in_[way.dst_nic.value];
  }
}

// Nothing comes of it: what waits for its arrival or its acknowledgement never happens.
void Execution::lost(OpId id) { leave_ports(id, is_reply(id)); }

void Execution::sent(OpId id) {
  const bool reply = is_reply(id);
  const PathId way = adaptive_ ? ways_.of(id, path_of(id, reply)) : path_of(id, reply);
  leave_ports(id, reply);
  on_its_way(id, way, reply);
}

// The last byte has left.
void Execution::on_its_way(OpId id, PathId way, bool reply) {
  const Op& o = op(id);
  const Path& like = paths_.like(way);
  const double arrival_s = now_s_ + like.latency_s;
  if (reply) {
    done_at(id, arrival_s + complete_s(id));
    return;
  }
  if (sched::has_reply(o.kind)) {
    // Neither memory, nor an accelerator's port, nor a switch has a NIC that reads over PCIe.
    const bool by_nic = !like.passes_no_nic() && !like.to_switch;
    end_at(arrival_s + (by_nic ? read_s_ : 0), {id, Kind::kArrived});
    return;
  }
  if (!is_acknowledged(o.channel)) {
    done_at(id, now_s_ + complete_s(id));
  } else if (!sched::is_fifo_source(o)) {
    acknowledge(id, arrival_s);
  }
  if (o.kind == OpKind::kPut && memory_.moves(id)) end_at(arrival_s, {id, Kind::kArrived});
  if (meetings_.holds(id)) {
    meet(id, arrival_s);
  } else if (o.match.valid()) {
    times(o.match).wire_s = arrival_s;
    if (std::isfinite(times(o.match).issued_s)) land(o.match, id);
  }
}

// Which receive, or which of a poll's turns, a message is for is known from how many came before.
void Execution::meet(OpId id, double arrival_s) {
  const OpId receive = meetings_.arrived(id, arrival_s);
  if (!receive.valid()) return;
  times(receive).wire_s = arrival_s;
  land(receive, id);
}

// The source learns of it, unless the way back is cut before the acknowledgement leaves.
void Execution::acknowledge(OpId id, double landed_s) {
  const Path& back = paths_.like(path_of(id, true));
  if (platform_.ack_bytes != 0 && !back.passes_no_nic()) {
    return end_at(landed_s, {id, Kind::kAcknowledged});
  }
  if (landed_s + kInstant_s > back.cut_s) return;
  done_at(id, landed_s + back.latency_s + complete_s(id));
}

// The receiver's NIC sends the acknowledgement, a message like others.
void Execution::send_ack(OpId id) {
  if (paths_.may_fail() && has_failed(ends(id, true).first)) return;
  replying_[id.value] = 1;
  queue_message(id);
}

// A message and its receive, or its poll, have met: the later of arrival and posting decides.
void Execution::land(OpId receive, OpId source_id) {
  const Op& o = op(receive);
  sched::OpTimes& t = times(receive);
  const bool message_last = t.wire_s >= t.issued_s;
  const double landed_s = message_last ? t.wire_s : t.issued_s;
  if (message_last) t.cause = source_id;
  if (bundled_ && sees_ && o.kind == OpKind::kRecv) {
    const bool in_bundle = message_last && bundles_.concern(op(source_id));
    bundle_of_receive_[receive.value] = in_bundle ? bundles_.oldest_with(source_id) : OpId::none();
  }
  done_at(receive, landed_s + complete_s(receive));
  const Op& source = op(source_id);
  if (source.kind == OpKind::kSend && memory_.moves(source_id)) {
    memory_.receive(source_id, receive);
  }
  if (o.kind == OpKind::kRecv && is_acknowledged(source.channel)) {
    if (!message_last) times(source_id).cause = receive;
    acknowledge(source_id, landed_s);
  }
}

void Execution::arrived(OpId id) {
  if (paths_.may_fail() && has_failed(ends(id, false).second)) return;
  const OpKind kind = op(id).kind;
  if (!sched::is_atomic(kind) && memory_.moves(id)) memory_.move(id);
  if (kind == OpKind::kPut) return;
  if (kind == OpKind::kGet) {
    replying_[id.value] = 1;
    queue_message(id);
    return;
  }
  service_.arrived(id, now_s_);
  if (words_.arrive(memory_.address_of(id), id)) serve_atomic(id);
}

// The atomic has its word to itself.
void Execution::serve_atomic(OpId id) {
  const sched::BufferId buffer = schedule_.slices(op(id).reads).front().buffer;
  const std::uint64_t offset = memory_.address_of(id) - kept_.begin_of(buffer);
  const double service_s = service_.serve_s(id, buffer, offset, now_s_);
  if (service_s > 0) {
    clock_.at(now_s_ + service_s, {id, Kind::kServed});
  } else {
    ended_now_.push_back({id, Kind::kServed});
  }
}

void Execution::served(OpId id) {
  memory_.apply(id);
  replying_[id.value] = 1;
  queue_message(id);
  const OpId next = words_.leave(memory_.address_of(id));
  if (next.valid()) serve_atomic(next);
}

}  // namespace slackline::machine
