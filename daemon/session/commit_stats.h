// Counts and times of commits, over all sessions. Written on strands, read anywhere; nothing waits.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>

namespace sessiond {

class CommitStats {
 public:
  // One batch of `commands` that became durable with one sync.
  void count_batch(std::size_t commands, std::size_t bytes, std::chrono::steady_clock::duration took) {
    commits_.fetch_add(static_cast<std::int64_t>(commands), std::memory_order_relaxed);
    syncs_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    buckets_[bucket(static_cast<std::uint64_t>(us < 0 ? 0 : us))].fetch_add(
        static_cast<std::int64_t>(commands), std::memory_order_relaxed);
  }

  std::int64_t commits() const { return commits_.load(std::memory_order_relaxed); }
  std::int64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }
  std::int64_t history_bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // The time within which this share of the commits was done, rounded up to at most a quarter more; 0 without
  // any.
  std::int64_t quantile_us(double share) const {
    const auto wanted = static_cast<double>(commits()) * share;
    double seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += static_cast<double>(buckets_[i].load(std::memory_order_relaxed));
      if (seen > 0 && seen >= wanted) return static_cast<std::int64_t>(upper_bound_us(i));
    }
    return 0;
  }

 private:
  // Four buckets per power of two.
  static constexpr std::size_t buckets = 160;
  static std::size_t bucket(std::uint64_t us) {
    if (us < 4) return us;
    const auto power = static_cast<std::size_t>(std::bit_width(us)) - 1;
    const std::size_t index = (power - 1) * 4 + ((us >> (power - 2)) & 3);
    return index < buckets ? index : buckets - 1;
  }
  static std::uint64_t upper_bound_us(std::size_t index) {
    if (index < 4) return index;
    const std::size_t power = index / 4 + 1;
    return ((4 + index % 4 + 1) << (power - 2)) - 1;
  }

  std::atomic<std::int64_t> commits_{0};
  std::atomic<std::int64_t> syncs_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::array<std::atomic<std::int64_t>, buckets> buckets_{};
};

}  // namespace sessiond
