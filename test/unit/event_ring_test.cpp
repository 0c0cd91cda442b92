// Events from many threads to many: nothing is missed, whatever happens at the same time.
#include "core/pipeline/event_ring.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "unit/catch_bridge.hpp"

using ai::pipeline::EventRing;
using ai::pipeline::Taken;

namespace {

template <typename Ring>
struct Reader {
  Ring& ring;
  typename Ring::Cursor cursor = 0;
  std::vector<std::uint32_t> ids = {};

  Taken Take() {
    ids.clear();
    return ring.Take(cursor, [this](std::uint32_t id) { ids.push_back(id); });
  }
};

using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a new reader looks at everything, then gets what comes", "[events]") {
  EventRing<8> ring;
  Reader<EventRing<8>> reader{ring};
  CHECK(ring.HasEvents(reader.cursor));
  CHECK(reader.Take() == Taken::kOverflow);
  CHECK_FALSE(ring.HasEvents(reader.cursor));
  CHECK(reader.Take() == Taken::kAll);
  CHECK(reader.ids.empty());
  ring.Publish(7);
  ring.Publish(9);
  CHECK(ring.HasEvents(reader.cursor));
  CHECK(reader.Take() == Taken::kAll);
  CHECK(reader.ids == Ids{7, 9});
  CHECK_FALSE(ring.HasEvents(reader.cursor));
}

TEST_CASE("a ring that went past a reader says so, once", "[events]") {
  EventRing<8> ring;
  Reader<EventRing<8>> reader{ring};
  reader.Take();
  for (std::uint32_t id = 1; id <= 8; ++id) {
    ring.Publish(id);
  }
  CHECK(reader.Take() == Taken::kAll);
  CHECK(reader.ids == Ids{1, 2, 3, 4, 5, 6, 7, 8});
  for (std::uint32_t id = 1; id <= 9; ++id) {
    ring.Publish(id);
  }
  CHECK(reader.Take() == Taken::kOverflow);
  ring.Publish(3);
  CHECK(reader.Take() == Taken::kAll);
  CHECK(reader.ids == Ids{3});
}

TEST_CASE("what nobody has read yet is not said again", "[events]") {
  EventRing<8> ring;
  Reader<EventRing<8>> one{ring};
  Reader<EventRing<8>> other{ring};
  one.Take();
  other.Take();
  CHECK(ring.Publish(5));
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(ring.Publish(5));
  }
  CHECK(one.Take() == Taken::kAll);
  CHECK(one.ids == Ids{5});
  CHECK(ring.Publish(5));  // one has read it, the other will read it twice
  CHECK(one.Take() == Taken::kAll);
  CHECK(one.ids == Ids{5});
  CHECK(other.Take() == Taken::kAll);
  CHECK(other.ids == Ids{5, 5});
}

TEST_CASE("a new reader makes no event go unsaid", "[events]") {
  EventRing<8> ring;
  CHECK(ring.Publish(5));
  Reader<EventRing<8>> reader{ring};
  reader.Take();  // it looks at everything, and what it sees may change from here on
  CHECK(ring.Publish(5));
  CHECK(reader.Take() == Taken::kAll);
  CHECK(reader.ids == Ids{5});
}

TEST_CASE("one who passes over events is told that there are others", "[events]") {
  EventRing<8> ring;
  CHECK(ring.Publish(5));
  const auto cursor = ring.SkipAll();
  CHECK_FALSE(ring.HasEvents(cursor));
  CHECK(ring.Publish(5));  // nobody has read the first one, but it was passed over
  CHECK(ring.HasEvents(cursor));
  CHECK(ring.SkipAll() != cursor);
}

namespace {

constexpr std::uint32_t kQueues = 6;
constexpr int kChanges = 30;  // by each writer: what is missed at the end is told by nothing else

/// Each queue is a counter, which is the change; readers copy it when they are told to.
struct World {
  EventRing<4> ring;
  std::atomic<std::uint64_t> queues[kQueues] = {};
  std::atomic<int> writers{0};
};

void Write(World& world, std::uint32_t first) {
  for (int i = 0; i < kChanges; ++i) {
    // Runs of one queue, which are published once, and others between them.
    const std::uint32_t queue = (first + static_cast<std::uint32_t>(i / 7)) % kQueues;
    world.queues[queue].fetch_add(1, std::memory_order_relaxed);
    world.ring.Publish(queue);
  }
  world.writers.fetch_sub(1);
}

struct Copy {
  std::uint64_t queues[kQueues] = {};
};

Copy Read(World& world) {
  Copy copy;
  EventRing<4>::Cursor cursor = 0;
  for (bool last = false; !last;) {
    last = world.writers.load() == 0;
    bool told[kQueues] = {};
    const Taken taken = world.ring.Take(cursor, [&](std::uint32_t id) { told[id] = true; });
    for (std::uint32_t queue = 0; queue < kQueues; ++queue) {
      if (told[queue] || taken == Taken::kOverflow) {
        copy.queues[queue] = world.queues[queue].load(std::memory_order_relaxed);
      }
    }
    std::this_thread::yield();
  }
  return copy;
}

}  // namespace

TEST_CASE("readers know every change of many writers", "[events]") {
  constexpr int kWriters = 4;
  constexpr int kReaders = 3;
  int missed = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto world = std::make_unique<World>();
    world->writers = kWriters;
    std::vector<Copy> copies(kReaders);
    std::vector<std::thread> threads;
    for (Copy& copy : copies) {
      threads.emplace_back([&] { copy = Read(*world); });
    }
    for (std::uint32_t i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] { Write(*world, i); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const Copy& copy : copies) {
      missed += std::equal(copy.queues, copy.queues + kQueues, world->queues) ? 0 : 1;
    }
  }
  CHECK(missed == 0);
}
