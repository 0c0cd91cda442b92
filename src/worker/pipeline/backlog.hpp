// The work in the worker's database: vectorizers and embedding jobs, as queues of the pipeline.
#pragma once

#include <map>

#include "core/pipeline/backlog.hpp"
#include "worker/jobs/job_source.hpp"
#include "worker/pipeline/vectorizer_poll.hpp"

namespace ai::worker {

class DatabaseBacklog final : public pipeline::Backlog {
 public:
  /// Updates tables with each poll.
  DatabaseBacklog(std::string lease, const SourceContext& context, QueueTables& tables)
      : lease_(std::move(lease)), context_(context), tables_(tables) {}

  pipeline::PollResult Poll(const pipeline::PollRequest& request) override;
  pipeline::Step<std::unique_ptr<pipeline::Source>> Open(pipeline::QueueId queue) override;
  void Closed(pipeline::QueueId queue) override;
  pipeline::Step<> AddUsage(pipeline::QueueId queue, const std::string& model,
                            const pipeline::Usage& usage) override;
  pipeline::Step<> RecordError(pipeline::QueueId queue, std::string_view step,
                               const Failure& failure) override;
  pipeline::Step<> RecordOpenBreaker(pipeline::QueueId queue,
                                     const pipeline::Opening& opening) override;

 private:
  void PollJobs(pg::Spi& spi, bool suspects, pipeline::PollResult& result);
  std::vector<pipeline::QueueId> KnownOf(std::span<const pipeline::QueueEvent> events) const;
  void CountOwners(const pipeline::PollRequest& request, const pipeline::PollResult& result);
  pipeline::QueueId IdOf(const JobGroup& group);
  const JobGroup& GroupOf(pipeline::QueueId queue) const;
  std::unique_ptr<pipeline::Source> OpenJobs(pg::Spi& spi, const JobGroup& group);
  void NoteJobError(const JobGroup& group, const Failure& failure);

  std::string lease_;
  SourceContext context_;
  QueueTables& tables_;
  VectorizerPoll vectorizers_;
  std::map<JobGroup, pipeline::QueueId> groups_;
  pipeline::QueueId last_group_ = 0;
  std::unique_ptr<JobStatements> job_statements_;
  pipeline::OwnerId first_owner_ = InvalidOid;  // of a poll of all queues
  bool several_owners_ = false;
};

}  // namespace ai::worker
