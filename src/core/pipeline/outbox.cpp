#include "core/pipeline/outbox.hpp"

#include <algorithm>
#include <set>

#include "core/provider/batch.hpp"

namespace ai::pipeline {

std::int64_t Outbox::Add(const RowPtr& row) {
  std::int64_t others = 0;
  for (std::size_t i = 0; i < row->chunks.size(); ++i) {
    const Chunk& chunk = row->chunks[i];
    if (chunk.kept || chunk.vector) {
      ++others;
    } else {
      unsent_.push_back({row, i});
    }
  }
  row->to_send = row->waiting;
  return others;
}

void Outbox::PutBack(std::span<const Item> items) {
  unsent_.insert(unsent_.begin(), items.begin(), items.end());
}

std::vector<Item> Outbox::NextBatch(const SourceTraits& source, std::size_t most,
                                    InterruptCheck interrupt, std::int64_t& truncated) {
  std::vector<Item> items;
  const provider::Limits limits =
      source.provider != nullptr ? source.provider->limits() : provider::Limits{most};
  provider::Batch size(limits);
  while (!unsent_.empty() && items.size() < most) {
    const Item& item = unsent_.front();
    if (!item.row->ended && source.provider != nullptr) {
      Chunk& chunk = item.get();
      const auto prepared = provider::Prepare(chunk.text, limits, source.encoding, interrupt);
      if (!size.Fits(prepared)) {
        break;
      }
      size.Add(prepared);
      chunk.sent_bytes = prepared.text.size();
      chunk.tokens = prepared.tokens;
      truncated += prepared.truncated ? 1 : 0;
    }
    if (!item.row->ended) {
      items.push_back(item);
    }
    unsent_.pop_front();
  }
  return items;
}

std::vector<RowPtr> Outbox::TakeUnstarted() {
  std::vector<RowPtr> rows;
  std::set<const Row*> unbegun;
  for (auto item = unsent_.begin(); item != unsent_.end();) {
    const RowPtr row = item->row;
    const auto end =
        std::find_if(item, unsent_.end(), [&](const Item& other) { return other.row != row; });
    const bool all_unsent = static_cast<std::size_t>(end - item) == row->to_send;
    if (!row->ended && all_unsent) {
      rows.push_back(row);
      unbegun.insert(row.get());
    }
    item = end;
  }
  std::erase_if(unsent_, [&](const Item& item) { return unbegun.contains(item.row.get()); });
  return rows;
}

void Outbox::Delay(Request request, SteadyTime not_before) {
  request.not_before = not_before;
  delayed_.push_back(std::move(request));
}

std::list<Request> Outbox::TakeDelayed(SteadyTime now) {
  std::list<Request> due;
  for (auto request = delayed_.begin(); request != delayed_.end();) {
    const auto next = std::next(request);
    if (request->not_before <= now) {
      due.splice(due.end(), delayed_, request);
    }
    request = next;
  }
  return due;
}

void Outbox::RemoveEnded() {
  std::erase_if(unsent_, [](const Item& item) { return item.row->ended; });
  delayed_.remove_if([](Request& request) {
    request.RemoveEnded();
    return request.items.empty();
  });
}

void Outbox::SetRoute(std::optional<Route> route, SteadyTime now) {
  route_ = std::move(route);
  route_found_ = now;
}

void Outbox::LimitBatch(std::size_t items) {
  max_items_ = std::min(max_items_.value_or(items), items);
}

std::size_t Outbox::BatchSize(const SourceTraits& source) const {
  return std::min(max_items_.value_or(source.batch_size), source.batch_size);
}

void Outbox::Clear() {
  unsent_.clear();
  delayed_.clear();
  route_.reset();
  in_flight_ = 0;
}

}  // namespace ai::pipeline
