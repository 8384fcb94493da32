#include "hw/fabric/submit.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <array>

#include "base/error.h"

namespace slackline::hw {
namespace {

using Vectors = std::array<iovec, kMostFabricSegments>;

ssize_t submit_message(fid_ep* ep, const Submission& s, Vectors& vectors) {
  const WorkRequest& request = s.request;
  fi_msg_tagged message{};
  message.msg_iov = vectors.data();
  message.desc = const_cast<void**>(s.descriptors.data());
  message.iov_count = request.local.size();
  message.addr = s.peer;
  message.tag = message_tag(s.salt, request.channel);
  message.context = s.context;
  if (request.kind == RequestKind::kRecv) return fi_trecvmsg(ep, &message, FI_COMPLETION);
  message.data = s.data;
  return fi_tsendmsg(
      ep, &message,
      FI_COMPLETION | FI_REMOTE_CQ_DATA | (s.delivered ? FI_DELIVERY_COMPLETE : std::uint64_t{0}));
}

ssize_t submit_one_sided(fid_ep* ep, const Submission& s, Vectors& vectors, std::size_t bytes) {
  const WorkRequest& request = s.request;
  const fi_rma_iov target{request.remote.address, bytes, request.remote.key};
  fi_msg_rma message{};
  message.msg_iov = vectors.data();
  message.desc = const_cast<void**>(s.descriptors.data());
  message.iov_count = request.local.size();
  message.addr = s.peer;
  message.rma_iov = &target;
  message.rma_iov_count = 1;
  message.context = s.context;
  if (request.kind == RequestKind::kRead) return fi_readmsg(ep, &message, FI_COMPLETION);
  // Complete means that the bytes stand there, not that they left. Without bytes there is nothing
  // to wait for, and shm loses such a write.
  std::uint64_t flags = FI_COMPLETION | (bytes != 0 ? FI_DELIVERY_COMPLETE : 0);
  if (request.kind == RequestKind::kWriteImm) {
    flags |= FI_REMOTE_CQ_DATA;
    message.data = completion_data(s.salt, request.channel, request.immediate);
  }
  return fi_writemsg(ep, &message, flags);
}

fi_op operation_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kFetchAnd:
      return FI_BAND;
    case RequestKind::kFetchOr:
      return FI_BOR;
    case RequestKind::kFetchXor:
      return FI_BXOR;
    default:
      return FI_SUM;
  }
}

ssize_t submit_atomic(fid_ep* ep, const Submission& s) {
  const WorkRequest& request = s.request;
  if (request.local.size() != 1 || request.local[0].bytes != 8) {
    throw InternalError("an atomic's result has 8 bytes");
  }
  *s.operands = {request.operand, request.compare};
  void* const result = request.local[0].data;
  void* const descriptor = s.descriptors[0];
  if (request.kind != RequestKind::kCompareSwap) {
    return fi_fetch_atomic(ep, &s.operands->value, 1, nullptr, result, descriptor, s.peer,
                           request.remote.address, request.remote.key, FI_UINT64,
                           operation_of(request.kind), s.context);
  }
  return fi_compare_atomic(ep, &s.operands->value, 1, nullptr, &s.operands->compare, nullptr,
                           result, descriptor, s.peer, request.remote.address, request.remote.key,
                           FI_UINT64, FI_CSWAP, s.context);
}

}  // namespace

ssize_t submit(fid_ep* ep, const Submission& s) {
  const WorkRequest& request = s.request;
  if (request.local.size() > kMostFabricSegments) throw InternalError("too many segments");
  Vectors vectors;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < request.local.size(); ++i) {
    vectors[i] = {request.local[i].data, request.local[i].bytes};
    bytes += request.local[i].bytes;
  }
  switch (request.kind) {
    case RequestKind::kSend:
    case RequestKind::kRecv:
      return submit_message(ep, s, vectors);
    case RequestKind::kWrite:
    case RequestKind::kWriteImm:
    case RequestKind::kRead:
      return submit_one_sided(ep, s, vectors, bytes);
    case RequestKind::kFetchAdd:
    case RequestKind::kFetchAnd:
    case RequestKind::kFetchOr:
    case RequestKind::kFetchXor:
    case RequestKind::kCompareSwap:
      return submit_atomic(ep, s);
  }
  throw InternalError("an unknown kind of request");
}

}  // namespace slackline::hw
