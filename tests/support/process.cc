#include "tests/support/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sessiond::test {
namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

std::vector<std::string> environment_of(const ProcessOptions& options, const std::string& home) {
  std::map<std::string, std::string> all{{"HOME", home}, {"LC_ALL", "C.UTF-8"}};
  for (const char* name : {"PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name); value != nullptr) all[name] = value;
  for (const auto& [name, value] : options.environment) all[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : all) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

void redirect(const std::string& path, int flags, int target) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, target) < 0) _exit(126);
  ::close(file);
}

// In the child, between fork and exec.
[[noreturn]] void become(const std::string& directory, const ProcessOptions& options, char* const* arguments,
                         char* const* environment) {
  redirect(directory + "/stdin", O_RDONLY, STDIN_FILENO);
  redirect(directory + "/stdout", O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  redirect(directory + "/stderr", O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  if (options.open_files_max) {
    const rlimit limit{*options.open_files_max, *options.open_files_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  execvpe(arguments[0], arguments, environment);
  _exit(127);
}

}  // namespace

Process::Process(const ProcessOptions& options) {
  write_file(directory_.file("stdin"), options.input);
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = environment_of(options, directory_.path());
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(directory_.path(), options, arguments.data(), variables.data());
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Process::~Process() {
  if (running()) {
    signal(SIGKILL);
    wait();
  }
  if (pidfd_ >= 0) ::close(pidfd_);
}

void Process::signal(int number) const {
  if (!status_) kill(pid_, number);
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
  if (status_) return status_;
  const auto deadline = Clock::now() + limit;
  pollfd ended{.fd = pidfd_, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, left_ms(deadline)) < 0)
    if (errno != EINTR) return std::nullopt;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

std::string Process::out() const { return read_file(directory_.file("stdout")); }
std::string Process::err() const { return read_file(directory_.file("stderr")); }

bool Process::wait_for_err(const std::string& text, std::chrono::milliseconds limit) {
  return eventually([&] { return err().find(text) != std::string::npos; }, limit);
}

Finished run(const ProcessOptions& options) {
  Process process(options);
  const std::optional<int> status = process.wait();
  return {status.value_or(-1), process.out(), process.err()};
}

std::string as_user(const Identity& identity, const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    if (setgroups(identity.groups.size(), identity.groups.data()) != 0 || setgid(identity.gid) != 0 ||
        setuid(identity.uid) != 0)
      _exit(1);
    const std::string text = work();
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "the child failed";
}

std::chrono::milliseconds cpu_time(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream after(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) after >> skipped;
  long user = 0;
  long system = 0;
  after >> user >> system;
  return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

std::size_t status_value(pid_t pid, const std::string& name) {
  std::istringstream lines(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    const std::size_t value = std::strtoul(line.c_str() + name.size() + 1, nullptr, 10);
    return line.ends_with(" kB") ? value * 1024 : value;
  }
  return 0;
}

bool waits_for_events_only(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  // "number arg1 arg2 arg3 arg4 ...", or "running".
  const std::string call = read_file(proc + "/task/" + std::to_string(pid) + "/syscall");
  std::istringstream words(call);
  long number = -1;
  unsigned long arguments[4] = {};
  words >> number >> std::hex;
  for (unsigned long& argument : arguments) words >> argument;
  if (!words) return false;
  const bool epoll = number == SYS_epoll_wait || number == SYS_epoll_pwait;
  if (!epoll || static_cast<int>(arguments[3]) != -1) return false;
  for (const auto& entry : std::filesystem::directory_iterator(proc + "/fdinfo")) {
    const std::string info = read_file(entry.path());
    const std::size_t value = info.find("it_value: ");
    if (value == std::string::npos || info.compare(value + 10, 6, "(0, 0)") == 0) continue;
    if (std::strtol(info.c_str() + value + 11, nullptr, 10) < 10) return false;
  }
  return true;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!condition()) {
    if (Clock::now() >= deadline) return false;
    poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace sessiond::test
