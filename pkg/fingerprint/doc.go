/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fingerprint turns token ids into the block hashes by which the whole
// system names a cached prefix.
//
// A prompt is cut into blocks of a fixed number of tokens; a tail that does not
// fill a block has no name. The hash of a block alone is its content hash. The
// prefix hash of a block combines the prefix hash of the block before it with
// its own content hash, so one 64-bit word stands for everything from the start
// of the prompt to the end of the block. Engines name blocks too, but their
// hashes depend on process-local seeds and on versions; ours depends on the
// tokens only, which lets routers, subscribers and the index agree without
// asking each other.
//
// Three things can separate prompts with equal tokens. A cache salt gives the
// chain a parent of its own ([SaltParent]); inputs other than text, such as
// images, are keys of the block that holds their placeholder tokens
// ([WithKeys]). Model, adapter and tenant are not part of a hash: they belong
// to the scope in which hashes are compared.
//
// The construction is a contract with programs outside this repository and
// never changes: XXH3-64 with seed 1337, integers little-endian while hashing,
// hashes big-endian on the wire. The tests hold it to fixed vectors.
//
// All functions are pure, safe for concurrent use, and do not allocate beyond
// the growth of a destination slice.
package fingerprint
