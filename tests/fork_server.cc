// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program (LD_PRELOAD), this stops it before main() and has it run main() in a child process for each
// request of started.py. To load and link deal.II and what it needs takes 0.4 s of processor time, ten times as long as
// a small run, and it is done once then. A child begins as a process of its own does: its arguments, environment,
// folder and streams are those of the request, and no thread runs yet.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{
  using Main = int (*)(int, char **, char **);

  Main        real_main;
  std::string request; ///< words that end with a zero: folder, number of arguments, arguments, variables of the environment

  /** Waits for a request. @return whether there is one: the length of a message is 0 when the other side has gone. */
  bool receive(int server, int (&streams)[3])
  {
    request.resize(200000); // messages of such sockets are not longer
    iovec                 text{request.data(), request.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(streams))];
    msghdr                message{};
    message.msg_iov        = &text;
    message.msg_iovlen     = 1;
    message.msg_control    = control;
    message.msg_controllen = sizeof(control);
    const ssize_t length   = ::recvmsg(server, &message, 0);
    if (length <= 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
      return false;
    request.resize(length);
    std::memcpy(streams, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(streams));
    return true;
  }

  /** In the child: becomes what the request asks for. */
  int run(const int (&streams)[3])
  {
    std::vector<char *> words;
    for (std::size_t i = 0; i < request.size(); i += std::strlen(&request[i]) + 1)
      words.push_back(&request[i]);
    const int n_arguments = std::atoi(words.at(1));
    ::clearenv();
    for (std::size_t i = 2 + n_arguments; i < words.size(); ++i)
      ::putenv(words[i]);
    words.resize(2 + n_arguments);
    words.push_back(nullptr);
    for (int i = 0; i < 3; ++i)
      ::dup2(streams[i], i);
    for (const int stream : streams)
      ::close(stream);
    if (::chdir(words[0]) != 0)
      return 127;
    static std::vector<char *> arguments; // exit() comes after this function
    arguments.assign(words.begin() + 2, words.end());
    return real_main(n_arguments, arguments.data(), environ);
  }

  int serve(int, char **, char **)
  {
    const int server = std::atoi(std::getenv("LEOPARD_FORK_SERVER"));
    int       streams[3];
    while (receive(server, streams))
      {
        const pid_t child = ::fork();
        if (child == 0)
          {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that has waited long enough kills the server
            ::close(server);
            return run(streams);
          }
        for (const int stream : streams)
          ::close(stream);
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child || ::send(server, &status, sizeof(status), MSG_NOSIGNAL) < 0)
          ::_exit(1);
      }
    ::_exit(0);
  }
} // namespace

/** What the C library's own start of a program calls, in its place. */
extern "C" int __libc_start_main(Main main, int argc, char **argv, void (*init)(), void (*fini)(), void (*rtld_fini)(), void *stack_end) // NOLINT
{
  using Start      = int (*)(Main, int, char **, void (*)(), void (*)(), void (*)(), void *);
  const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
  real_main        = main;
  return start(std::getenv("LEOPARD_FORK_SERVER") != nullptr ? serve : main, argc, argv, init, fini, rtld_fini, stack_end);
}
