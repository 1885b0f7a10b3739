/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AGENT_SHRINK_H
#define FETTLE_AGENT_SHRINK_H

/* Gives back the memory that only the start and the handshake needed: free pieces of the heap, and
 * the pages of programs and libraries, which come back from the page cache when they are used. From then on
 * every page that is used stays: a disk that hangs could not bring it back. */
void shrink_memory(void);

#endif
