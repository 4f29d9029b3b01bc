#include "tests/crash/counted_process.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>

namespace sessiond::test {
namespace {

struct CountedCall {
  int number;
  const char* name;
};

// Writes to sockets, pipes and the log go through write and sendmsg; files are written with pwrite only.
constexpr std::array counted_calls{
    CountedCall{SYS_pwrite64, "pwrite64"},   CountedCall{SYS_pwritev, "pwritev"},
    CountedCall{SYS_fdatasync, "fdatasync"}, CountedCall{SYS_fsync, "fsync"},
    CountedCall{SYS_syncfs, "syncfs"},       CountedCall{SYS_ftruncate, "ftruncate"},
    CountedCall{SYS_truncate, "truncate"},   CountedCall{SYS_fallocate, "fallocate"},
    CountedCall{SYS_rename, "rename"},       CountedCall{SYS_renameat, "renameat"},
    CountedCall{SYS_renameat2, "renameat2"}, CountedCall{SYS_mkdir, "mkdir"},
    CountedCall{SYS_mkdirat, "mkdirat"},     CountedCall{SYS_rmdir, "rmdir"},
    CountedCall{SYS_unlink, "unlink"},       CountedCall{SYS_unlinkat, "unlinkat"},
    CountedCall{SYS_link, "link"},           CountedCall{SYS_linkat, "linkat"},
    CountedCall{SYS_symlinkat, "symlinkat"}, CountedCall{SYS_chmod, "chmod"},
    CountedCall{SYS_fchmod, "fchmod"},       CountedCall{SYS_bind, "bind"},
    CountedCall{SYS_open, "open"},           CountedCall{SYS_openat, "openat"},
    CountedCall{SYS_openat2, "openat2"}};

// Stops for the tracer at every call of the table.
std::vector<sock_filter> make_filter() {
  std::vector<sock_filter> out;
  out.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const CountedCall& call : counted_calls) {
    out.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call.number), 0, 1));
    out.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  out.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return out;
}

// The leak checker of a sanitizer cannot work in a traced process.
std::vector<std::string> environment() {
  std::vector<std::string> out;
  std::string options = "detect_leaks=0";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with("ASAN_OPTIONS="))
      options = text.substr(text.find('=') + 1) + ":" + options;
    else
      out.push_back(text);
  }
  out.push_back("ASAN_OPTIONS=" + options);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// In the child: waits until it is traced, then becomes the program. No memory is allocated here.
[[noreturn]] void become(int gate, const sock_fprog& filter, char* const* arguments, char* const* variables) {
  char byte = 0;
  if (::read(gate, &byte, 1) != 1) _exit(126);
  const int silent = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(silent, stream);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(126);
  execvpe(arguments[0], arguments, variables);
  _exit(127);
}

// The name of the call that the thread is about to make, if it changes files; opens do when they create.
const char* changing_call(pid_t thread) {
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_SECCOMP)
    return nullptr;
  const int number = static_cast<int>(info.seccomp.nr);
  const auto& arguments = info.seccomp.args;
  unsigned long flags = O_CREAT;
  if (number == SYS_open) flags = arguments[1];
  if (number == SYS_openat) flags = arguments[2];
  if (number == SYS_openat2)  // the first member of open_how
    flags = static_cast<unsigned long>(ptrace(PTRACE_PEEKDATA, thread, arguments[2], nullptr));
  if ((flags & (O_CREAT | O_TRUNC)) == 0) return nullptr;
  for (const CountedCall& call : counted_calls)
    if (call.number == number) return call.name;
  return nullptr;
}

}  // namespace

CountedProcess::CountedProcess(std::vector<std::string> command, std::size_t kill_at) {
  std::promise<int> ended;
  ended_ = ended.get_future().share();
  tracer_ = std::thread([this, command = std::move(command), kill_at, ended = std::move(ended)]() mutable {
    ended.set_value(trace(std::move(command), kill_at));
  });
}

CountedProcess::~CountedProcess() {
  while (running()) {
    signal(SIGKILL);
    ended_.wait_for(std::chrono::milliseconds(10));
  }
  tracer_.join();
}

void CountedProcess::signal(int number) const {
  if (const pid_t pid = pid_; pid > 0 && running()) kill(pid, number);
}

std::optional<int> CountedProcess::wait(std::chrono::milliseconds limit) const {
  if (ended_.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return ended_.get();
}

// Only the thread that traces may ask about the child, so it forks it, too.
int CountedProcess::trace(std::vector<std::string> command, std::size_t kill_at) {
  std::vector<std::string> variables = environment();
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> environment_pointers = pointers(variables);
  std::vector<sock_filter> instructions = make_filter();
  const sock_fprog filter{static_cast<unsigned short>(instructions.size()), instructions.data()};
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    ::close(gate[1]);
    become(gate[0], filter, arguments.data(), environment_pointers.data());
  }
  ::close(gate[0]);
  constexpr long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                           PTRACE_O_TRACEVFORK | PTRACE_O_TRACESECCOMP;
  const bool traced = child > 0 && ptrace(PTRACE_SEIZE, child, nullptr, options) == 0;
  const bool opened = traced && ::write(gate[1], "g", 1) == 1;
  ::close(gate[1]);  // an untraced child ends here by itself
  if (opened) {
    pid_ = child;
    return follow(child, kill_at);
  }
  if (child > 0) waitpid(child, nullptr, __WALL);
  return -1;
}

int CountedProcess::follow(pid_t child, std::size_t kill_at) {
  for (;;) {
    int status = 0;
    // Of this thread's children only: the others belong to the rest of the test.
    const pid_t thread = waitpid(-1, &status, __WALL | __WNOTHREAD);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) return -1;
    if (!WIFSTOPPED(status)) {
      if (thread != child) continue;
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    const int event = status >> 16;
    const char* call = event == PTRACE_EVENT_SECCOMP ? changing_call(thread) : nullptr;
    if (call != nullptr && ++calls_ == kill_at) {
      killed_at_ = call;
      kill(child, SIGKILL);  // a stopped thread dies without making its call
      continue;
    }
    ptrace(PTRACE_CONT, thread, nullptr, static_cast<long>(event == 0 ? WSTOPSIG(status) : 0));
  }
}

}  // namespace sessiond::test
