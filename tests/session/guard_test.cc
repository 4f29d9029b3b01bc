// Exceptions inside: they end the request that caused them, with an answer, and nothing else.
#include <future>
#include <new>

#include "tests/session/session_support.h"

namespace sessiond {
namespace {

// Submits a command whose pieces may throw, and gives its answer.
Result<std::string> submit(Session& session,
                           std::function<Result<Outcome>(const Document&, const Moment&)> apply) {
  std::promise<Result<std::string>> answered;
  Command command;
  command.name = "test";
  command.apply = std::move(apply);
  command.done = [&](Result<std::string> reply) { answered.set_value(std::move(reply)); };
  session.submit(std::move(command));
  return answered.get_future().get();
}

}  // namespace

TEST_CASE("an exception in apply is an internal error of that command") {
  Sessions s;
  s.create("demo");
  const std::shared_ptr<Session> session = *s.registry.find("demo", {});
  const Result<std::string> thrown =
      submit(*session, [](const Document& document, const Moment&) -> Result<Outcome> {
        (void)document.at("no such member");
        return Outcome{};
      });
  REQUIRE(!thrown);
  CHECK(thrown.error().code == ErrorCode::internal);
  const Result<std::string> memory =
      submit(*session, [](const Document&, const Moment&) -> Result<Outcome> { throw std::bad_alloc(); });
  CHECK(memory.error().code == ErrorCode::internal);
  const Result<std::string> strange =
      submit(*session, [](const Document&, const Moment&) -> Result<Outcome> { throw 7; });
  CHECK(strange.error().code == ErrorCode::internal);
  const Result<std::string> late =
      submit(*session, [](const Document& document, const Moment&) -> Result<Outcome> {
        return Outcome{document, {}, [](const Envelope&, std::string&) { throw std::runtime_error("late"); }};
      });
  CHECK(late.error().code == ErrorCode::internal);
  CHECK(s.complete("demo", 0).contains("result"));
  CHECK(s.revision("demo") == 2);
}

TEST_CASE("an exception in a look or in a move answers and lets the strand go on") {
  Sessions s;
  s.create("demo");
  const std::shared_ptr<Session> session = *s.registry.find("demo", {});
  std::promise<Error> told;
  session->exclusively([](Result<Session::SnapshotPtr>) -> bool { throw std::bad_alloc(); },
                       [&](const Error& error) { told.set_value(error); });
  CHECK(told.get_future().get().code == ErrorCode::internal);
  CHECK(s.complete("demo", 0).contains("result"));
}

TEST_CASE("an exception in a worker ends there") {
  WorkerPool pool(2);
  for (int i = 0; i < 100; ++i) pool.post([] { throw std::runtime_error("no matter"); });
  std::promise<void> done;
  pool.post([&] { done.set_value(); });
  done.get_future().get();
  pool.wait_idle();
}

}  // namespace sessiond
