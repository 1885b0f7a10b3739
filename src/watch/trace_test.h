/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_WATCH_TRACE_TEST_H
#define FETTLE_WATCH_TRACE_TEST_H

/*
 * Whole repairs in virtual time, as files: test/data/watch/NAME.trace has what happens in lines that begin
 * with "> ", and after each what the watch says. The real cluster decides and keeps the records. Run the test
 * with FETTLE_GOLDEN=write to write anew what is said.
 */

/* The watch says what the trace of this name has, word for word. */
void trace_walk(const char *name);

#endif
