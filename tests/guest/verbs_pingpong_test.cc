// Every kind of verbs request that the transport uses, between two processes, byte by byte.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/guest/verbs_pair.h"

namespace slackline::guest {
namespace {

// Around 0, a word, a packet (4096 bytes) and the size that is sent inline; and one large.
constexpr std::size_t kSizes[] = {0, 1, 8, 255, 256, 257, 4095, 4096, 4097, 100'003, 1'048'576};
constexpr std::size_t kFrom = 0;         // where the bytes lie that are sent or read
constexpr std::size_t kInto = 2u << 20;  // where they arrive, somewhere inside
constexpr std::size_t kMargin = 64;      // bytes on both sides of them that must stay
constexpr std::byte kUntouched{0xEE};

std::byte pattern(std::size_t i, std::size_t seed) {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 7 + seed * 29 + 1) & 0xff);
}

void fill(Side& side, std::size_t offset, std::size_t bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) side.memory()[offset + i] = pattern(i, seed);
}

void clear(Side& side) {
  std::fill(side.memory().begin() + kInto - kMargin, side.memory().end(), kUntouched);
}

// The bytes lie at kInto, and nothing was changed around them.
void expect_arrived(Side& side, std::size_t bytes, std::size_t seed) {
  const auto memory = side.memory();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) wrong += memory[kInto + i] != pattern(i, seed);
  EXPECT_EQ(wrong, 0u) << "of " << bytes << " bytes";
  for (std::size_t i = 0; i < kMargin; ++i) {
    EXPECT_EQ(memory[kInto - kMargin + i], kUntouched) << kMargin - i << " bytes before";
    EXPECT_EQ(memory[kInto + bytes + i], kUntouched) << i << " bytes after " << bytes;
  }
}

std::uint64_t word(Side& side, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, side.memory().data() + offset, sizeof value);
  return value;
}

void set_word(Side& side, std::size_t offset, std::uint64_t value) {
  std::memcpy(side.memory().data() + offset, &value, sizeof value);
}

TEST(VerbsPingpong, SendWithImmediateThereAndBack) {
  const auto ping = [](Side& side, std::size_t seed) {
    fill(side, kFrom, kSizes[seed], seed);
    side.post(IBV_WR_SEND_WITH_IMM, seed, kFrom, kSizes[seed], 0, IBV_SEND_SIGNALED,
              htonl(static_cast<std::uint32_t>(0xA0000000u + seed)));
    side.expect(seed, IBV_WC_SEND);
  };
  const auto pong = [](Side& side, std::size_t seed) {
    const ibv_wc received = side.expect(1000 + seed, IBV_WC_RECV);
    EXPECT_EQ(received.byte_len, kSizes[seed]);
    EXPECT_TRUE(received.wc_flags & IBV_WC_WITH_IMM);
    EXPECT_EQ(ntohl(received.imm_data), 0xA0000000u + seed);
    expect_arrived(side, kSizes[seed], seed);
  };
  const auto receive = [](Side& side, std::size_t seed) {
    clear(side);
    side.post_receive(1000 + seed, kInto, kSizes[seed]);
    side.meet();
  };
  run_pair(
      [&](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          receive(side, i);
          ping(side, i);
          pong(side, i);
        }
      },
      [&](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          receive(side, i);
          pong(side, i);
          ping(side, i);
        }
      });
}

TEST(VerbsPingpong, SendWithoutImmediateArrivesInOrder) {
  run_pair(
      [](Side& side) {
        side.meet();
        for (std::size_t i = 0; i < 100; ++i) {
          set_word(side, 8 * i, i * i);
          side.post(IBV_WR_SEND, i, 8 * i, 8);
        }
        for (std::size_t i = 0; i < 100; ++i) side.expect(i, IBV_WC_SEND);
      },
      [](Side& side) {
        for (std::size_t i = 0; i < 100; ++i) side.post_receive(i, kInto + 8 * i, 8);
        side.meet();
        for (std::size_t i = 0; i < 100; ++i) {
          const ibv_wc received = side.expect(i, IBV_WC_RECV);
          EXPECT_FALSE(received.wc_flags & IBV_WC_WITH_IMM);
          EXPECT_EQ(word(side, kInto + 8 * i), i * i);
        }
      });
}

TEST(VerbsPingpong, Write) {
  run_pair(
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          fill(side, kFrom, kSizes[i], i);
          side.meet();
          side.post(IBV_WR_RDMA_WRITE, i, kFrom, kSizes[i], kInto);
          side.expect(i, IBV_WC_RDMA_WRITE);
          side.meet();
        }
      },
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          clear(side);
          side.meet();
          side.meet();
          expect_arrived(side, kSizes[i], i);
          EXPECT_TRUE(side.idle()) << "a write without immediate says nothing to its target";
        }
      });
}

TEST(VerbsPingpong, WriteWithImmediate) {
  run_pair(
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          fill(side, kFrom, kSizes[i], i);
          side.meet();
          side.post(IBV_WR_RDMA_WRITE_WITH_IMM, i, kFrom, kSizes[i], kInto, IBV_SEND_SIGNALED,
                    htonl(static_cast<std::uint32_t>(i)));
          side.expect(i, IBV_WC_RDMA_WRITE);
        }
      },
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          clear(side);
          side.post_receive(i, 0, 0);
          side.meet();
          const ibv_wc received = side.expect(i, IBV_WC_RECV_RDMA_WITH_IMM);
          EXPECT_EQ(ntohl(received.imm_data), i);
          EXPECT_EQ(received.byte_len, kSizes[i]);
          expect_arrived(side, kSizes[i], i);
        }
      });
}

TEST(VerbsPingpong, Read) {
  run_pair(
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          clear(side);
          side.meet();
          side.post(IBV_WR_RDMA_READ, i, kInto, kSizes[i], kFrom);
          side.expect(i, IBV_WC_RDMA_READ);
          expect_arrived(side, kSizes[i], i);
          side.meet();
        }
      },
      [](Side& side) {
        for (std::size_t i = 0; i < std::size(kSizes); ++i) {
          fill(side, kFrom, kSizes[i], i);
          side.meet();
          side.meet();
        }
      });
}

TEST(VerbsPingpong, FetchAdd) {
  constexpr std::uint64_t kStart = 0xFFFFFFF0;  // the sum passes 32 bits
  run_pair(
      [](Side& side) {
        side.meet();
        std::uint64_t sum = kStart;
        for (std::uint64_t i = 0; i < 100; ++i) {
          side.post_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, i, kFrom, kInto, i);
          side.expect(i, IBV_WC_FETCH_ADD);
          EXPECT_EQ(word(side, kFrom), sum);
          sum += i;
        }
        side.meet();
      },
      [](Side& side) {
        clear(side);
        set_word(side, kInto, kStart);
        side.meet();
        side.meet();
        EXPECT_EQ(word(side, kInto), kStart + 99 * 100 / 2);
      });
}

TEST(VerbsPingpong, CompareAndSwap) {
  run_pair(
      [](Side& side) {
        side.meet();
        // Expected value wrong: nothing is swapped, and the true value comes back.
        side.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, kFrom, kInto, 6, 99);
        side.expect(1, IBV_WC_COMP_SWAP);
        EXPECT_EQ(word(side, kFrom), 5u);
        for (std::uint64_t value = 5; value < 100; ++value) {
          side.post_atomic(IBV_WR_ATOMIC_CMP_AND_SWP, value, kFrom, kInto, value, value + 1);
          side.expect(value, IBV_WC_COMP_SWAP);
          EXPECT_EQ(word(side, kFrom), value);
        }
        side.meet();
      },
      [](Side& side) {
        set_word(side, kInto, 5);
        side.meet();
        side.meet();
        EXPECT_EQ(word(side, kInto), 100u);
      });
}

TEST(VerbsPingpong, InlineBytesMayChangeAtOnce) {
  run_pair(
      [](Side& side) {
        side.meet();
        for (const std::size_t bytes :
             {std::size_t{0}, std::size_t{1}, std::size_t{Side::kInline}}) {
          fill(side, kFrom, bytes, bytes);
          side.post(IBV_WR_SEND, bytes, kFrom, bytes, 0, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
          std::fill_n(side.memory().begin(), bytes, std::byte{0});
          side.expect(bytes, IBV_WC_SEND);
        }
        // Inline is not for large ones: refused when posted.
        EXPECT_THROW(side.post(IBV_WR_SEND, 1, kFrom, 1u << 16, 0, IBV_SEND_INLINE),
                     std::runtime_error);
      },
      [](Side& side) {
        const std::size_t sizes[] = {0, 1, Side::kInline};
        clear(side);
        for (std::size_t i = 0; i < 3; ++i) side.post_receive(i, kInto + 4096 * i, sizes[i]);
        side.meet();
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(side.expect(i, IBV_WC_RECV).byte_len, sizes[i]);
          for (std::size_t j = 0; j < sizes[i]; ++j) {
            ASSERT_EQ(side.memory()[kInto + 4096 * i + j], pattern(j, sizes[i])) << "byte " << j;
          }
        }
      });
}

TEST(VerbsPingpong, UnsignalledBatchesCompleteByTheirLast) {
  constexpr std::size_t kBatches = 20, kBatch = 32, kPiece = 512;
  run_pair(
      [](Side& side) {
        fill(side, kFrom, kBatches * kBatch * kPiece, 3);
        side.meet();
        for (std::size_t batch = 0; batch < kBatches; ++batch) {
          // One list, handed over in one call.
          ibv_sge pieces[kBatch];
          ibv_send_wr requests[kBatch]{};
          for (std::size_t i = 0; i < kBatch; ++i) {
            const std::size_t offset = (batch * kBatch + i) * kPiece;
            pieces[i] = side.entry(kFrom + offset, kPiece);
            requests[i].wr_id = batch * kBatch + i;
            requests[i].sg_list = &pieces[i];
            requests[i].num_sge = 1;
            requests[i].opcode = IBV_WR_RDMA_WRITE;
            requests[i].wr.rdma.remote_addr = side.other().memory + kInto + offset;
            requests[i].wr.rdma.rkey = side.other().remote_key;
            requests[i].next = i + 1 < kBatch ? &requests[i + 1] : nullptr;
          }
          requests[kBatch - 1].send_flags = IBV_SEND_SIGNALED;
          ibv_send_wr* refused = nullptr;
          ASSERT_EQ(ibv_post_send(side.queue_pair(), requests, &refused), 0);
          side.expect(batch * kBatch + kBatch - 1, IBV_WC_RDMA_WRITE);
        }
        EXPECT_TRUE(side.idle()) << "one completion a batch, and no more";
        side.meet();
      },
      [](Side& side) {
        clear(side);
        side.meet();
        side.meet();
        expect_arrived(side, kBatches * kBatch * kPiece, 3);
      });
}

TEST(VerbsPingpong, ReadsOutstandingAreAnsweredInOrder) {
  run_pair(
      [](Side& side) {
        side.meet();
        for (std::size_t i = 0; i < Side::kQueueDepth; ++i) {
          side.post(IBV_WR_RDMA_READ, i, kInto + 8 * i, 8, kFrom + 8 * i);
        }
        for (std::size_t i = 0; i < Side::kQueueDepth; ++i) {
          side.expect(i, IBV_WC_RDMA_READ);
          EXPECT_EQ(word(side, kInto + 8 * i), 7 * i);
        }
      },
      [](Side& side) {
        for (std::size_t i = 0; i < Side::kQueueDepth; ++i) set_word(side, kFrom + 8 * i, 7 * i);
        side.meet();
      });
}

TEST(VerbsPingpong, WritePastTheMemoryIsRefusedByTheTarget) {
  run_pair(
      [](Side& side) {
        side.meet();
        side.post(IBV_WR_RDMA_WRITE, 1, kFrom, 8, Side::kMemory - 4);
        EXPECT_EQ(side.next_request().status, IBV_WC_REM_ACCESS_ERR);
        side.post(IBV_WR_RDMA_WRITE, 2, kFrom, 8, kInto);
        EXPECT_EQ(side.next_request().status, IBV_WC_WR_FLUSH_ERR) << "the queue pair is in error";
        side.meet();
      },
      [](Side& side) {
        clear(side);
        side.meet();
        side.meet();
        EXPECT_EQ(word(side, Side::kMemory - 8), 0xEEEEEEEEEEEEEEEEu);
        EXPECT_EQ(word(side, kInto), 0xEEEEEEEEEEEEEEEEu);
      });
}

}  // namespace
}  // namespace slackline::guest
