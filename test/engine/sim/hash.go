/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"crypto/sha256"
	"encoding/binary"
)

// digest names a block inside one engine.
type digest [sha256.Size]byte

// sglangSaltDomain is what SGLang puts before a salt to make the root of a
// salted chain.
const sglangSaltDomain = "sglang-cache-salt-v1\x00"

// chainVLLM returns the digests of the full blocks of tokens. The first block's
// parent is the engine's random root; adapter and salt enter as extra keys, the
// salt on the first block only.
func chainVLLM(root digest, tokens []uint32, blockSize int, adapter, salt string) []digest {
	var out []digest
	parent := root
	for n := 0; (n+1)*blockSize <= len(tokens); n++ {
		buf := append([]byte(nil), parent[:]...)
		buf = appendTokens(buf, tokens[n*blockSize:(n+1)*blockSize])
		buf = append(append(buf, adapter...), 0)
		if n == 0 {
			buf = append(buf, salt...)
		}
		parent = sha256.Sum256(buf)
		out = append(out, parent)
	}
	return out
}

// chainSGLang returns the digests of the full pages of tokens. Without salt and
// adapter the first page has no digest before it.
func chainSGLang(tokens []uint32, pageSize int, adapter, salt string) []digest {
	var out []digest
	var before []byte
	if salt != "" || adapter != "" {
		domain := ""
		if salt != "" {
			domain = sglangSaltDomain
		}
		root := sha256.Sum256([]byte(domain + salt + adapter))
		before = root[:]
	}
	for ; len(tokens) >= pageSize; tokens = tokens[pageSize:] {
		d := digest(sha256.Sum256(appendTokens(append([]byte(nil), before...), tokens[:pageSize])))
		before = d[:]
		out = append(out, d)
	}
	return out
}

func appendTokens(buf []byte, tokens []uint32) []byte {
	for _, token := range tokens {
		buf = binary.LittleEndian.AppendUint32(buf, token)
	}
	return buf
}
