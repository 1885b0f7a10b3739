/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_AUDIT_TILE_H
#define FETTLE_AUDIT_TILE_H

#include "audit/tree.h"
#include "base/text.h"

/*
 * Tiles (c2sp.org/tlog-tiles): a log as files that never change. Tile N of level L has the nodes of height
 * 8 * L with the indexes N * 256 and on, 256 of them when it is full. A bundle has the entries of a tile of
 * level 0.
 */

enum { TILE_HEIGHT = 8, TILE_WIDTH = 1 << TILE_HEIGHT, TILE_LEVELS = 8, TILE_PATH_BYTES = 64 };

struct tile {
    bool entries; /* a bundle; its level is 0 */
    unsigned level;
    uint64_t index;
    unsigned width; /* 1 to TILE_WIDTH; fewer than that: of a tree that ends in it */
};

/* "0/x001/234" or "entries/x001/234.p/12", as it follows "tile/". -EINVAL for every other text: each tile has
 * one path. */
int tile_parse(const char *path, struct tile *out, struct err *e);
/* The same with "tile/" before it. Returns out. */
char *tile_format(const struct tile *t, char out[static TILE_PATH_BYTES]);

/* How many hashes the tile has in a tree of this size; 0: it is not there. */
unsigned tile_width(unsigned level, uint64_t index, uint64_t size);

/* Calls fn with each tile of a tree of this size that one of size `had` has not, and with their bundles:
 * level by level, each in order. A negative errno of fn ends it. */
typedef int tile_fn(void *arg, const struct tile *t, struct err *e);
int tiles_each(uint64_t had, uint64_t size, tile_fn *fn, void *arg, struct err *e);

/* A node of a full or partial tile: as tree_read_fn wants it, of the hashes of its tile. height is at least
 * that of the tile's level, and below that of the next. */
struct tree_hash tile_node(const struct tree_hash *hashes, unsigned height, uint64_t index);

#endif
