/* SPDX-License-Identifier: Apache-2.0 */
/* Processes at the other end of a socket: one that signed in, one that did not, and one that ended. */
#include "link/login.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ALICE = 31337 };

/* A listening socket with a name that the kernel finds, and its address. */
static int listen_local(struct sockaddr_un *at, socklen_t *len)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    *len = sizeof at->sun_family;
    assert_int_equal(bind(fd, (struct sockaddr *)at, *len), 0);
    *len = sizeof *at;
    assert_int_equal(getsockname(fd, (struct sockaddr *)at, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static bool sign_in(uid_t uid)
{
    char text[16];
    int fd = open("/proc/self/loginuid", O_WRONLY | O_CLOEXEC);
    int n = snprintf(text, sizeof text, "%u", (unsigned)uid);
    bool done = fd >= 0 && write(fd, text, (size_t)n) == n;
    if (fd >= 0)
        close(fd);
    return done;
}

/* Connects as somebody who has signed in as this user, and waits; exits with 7 when the system lets nobody
 * sign in here. */
static pid_t connect_as(uid_t login, const struct sockaddr_un *at, socklen_t len)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (login != LOGIN_NONE && !sign_in(login))
        _exit(7);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)at, len) < 0)
        _exit(8);
    pause();
    _exit(9);
}

static void child_end(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

struct visit {
    int listener, fd;
    pid_t pid;
    uint64_t came;
};

/* False: nobody can sign in here. */
static bool visit_begin(struct visit *v, uid_t login)
{
    struct sockaddr_un at;
    socklen_t len;
    struct ucred who;
    socklen_t size = sizeof who;
    v->listener = listen_local(&at, &len);
    v->pid = connect_as(login, &at, len);
    int status;
    fcntl(v->listener, F_SETFL, O_NONBLOCK);
    while ((v->fd = accept4(v->listener, NULL, NULL, SOCK_CLOEXEC)) < 0) {
        if (waitpid(v->pid, &status, WNOHANG) == v->pid) {
            assert_int_equal(WEXITSTATUS(status), 7);
            close(v->listener);
            return false;
        }
        poll(&(struct pollfd){.fd = v->listener, .events = POLLIN}, 1, 20);
    }
    v->came = login_ticks();
    assert_int_equal(getsockopt(v->fd, SOL_SOCKET, SO_PEERCRED, &who, &size), 0);
    assert_int_equal(who.pid, v->pid);
    return true;
}

static void visit_end(struct visit *v)
{
    close(v->fd);
    close(v->listener);
}

static void the_login_of_a_process_is_known(void **state)
{
    struct visit v;
    if (!visit_begin(&v, ALICE))
        skip();
    assert_int_equal(login_of_peer(v.fd, v.pid, v.came), ALICE);
    child_end(v.pid);
    visit_end(&v);
}

/* The environment says nothing. */
static void nobody_is_known_by_the_environment(void **state)
{
    struct visit v;
    uid_t own = LOGIN_NONE;
    char text[16] = "";
    int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
        own = (uid_t)strtoul(text, NULL, 10);
    close(fd);
    setenv("SUDO_UID", "31337", 1);
    setenv("SUDO_USER", "alice", 1);
    assert_true(visit_begin(&v, LOGIN_NONE));
    assert_int_equal(login_of_peer(v.fd, v.pid, v.came), own);
    child_end(v.pid);
    visit_end(&v);
    unsetenv("SUDO_UID");
    unsetenv("SUDO_USER");
}

/* Its number may be another's by now. */
static void nobody_is_known_by_a_process_that_ended(void **state)
{
    struct visit v;
    if (!visit_begin(&v, ALICE))
        skip();
    child_end(v.pid);
    assert_int_equal(login_of_peer(v.fd, v.pid, v.came), LOGIN_NONE);
    visit_end(&v);
}

/* The process that connected has ended, and one that signed in has its number. */
static void a_number_that_is_anothers_by_now_is_nobody(void **state)
{
    struct visit gone, other;
    assert_true(visit_begin(&gone, LOGIN_NONE));
    if (!visit_begin(&other, ALICE)) {
        child_end(gone.pid);
        visit_end(&gone);
        skip();
    }
    child_end(gone.pid);
    assert_int_equal(login_of_peer(gone.fd, other.pid, gone.came - 1), LOGIN_NONE);
    assert_int_equal(login_of_peer(other.fd, other.pid, other.came), ALICE);
    child_end(other.pid);
    visit_end(&gone);
    visit_end(&other);
}

/* For kernels without pidfds of peers: a process that is younger than the connection did not make it. */
static void a_younger_process_is_another_one(void **state)
{
    const uint64_t before = login_ticks();
    const uint64_t tick = 1;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(9);
    }
    assert_true(login_began_by(getpid(), before));
    assert_true(login_began_by(pid, login_ticks() + tick));
    assert_false(login_began_by(pid, before - tick));
    child_end(pid);
    assert_false(login_began_by(pid, login_ticks()));
}

static void a_process_that_is_not_seen_is_nobody(void **state)
{
    struct visit v;
    assert_true(visit_begin(&v, LOGIN_NONE));
    assert_int_equal(login_of_peer(v.fd, 0, v.came), LOGIN_NONE);
    child_end(v.pid);
    visit_end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_login_of_a_process_is_known),
        cmocka_unit_test(nobody_is_known_by_the_environment),
        cmocka_unit_test(nobody_is_known_by_a_process_that_ended),
        cmocka_unit_test(a_number_that_is_anothers_by_now_is_nobody),
        cmocka_unit_test(a_younger_process_is_another_one),
        cmocka_unit_test(a_process_that_is_not_seen_is_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
