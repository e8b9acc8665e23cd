/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

// Foresee returns how many tokens of a prompt the engine would reuse if it were
// the next one: what [Response.CachedTokens] would say. It changes nothing, not
// even the order in which blocks are evicted.
func (e *Engine) Foresee(r Request) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cache.foresee(r)
}

func (c *paged) foresee(r Request) int {
	limit := (len(r.Tokens) - 1) / c.blockSize
	chain := chainVLLM(c.root, r.Tokens, c.blockSize, r.Adapter, r.Salt)
	return c.match(chain[:max(0, limit)]) * c.blockSize
}

func (c *radix) foresee(r Request) int {
	limit := (len(r.Tokens) - 1) / c.pageSize
	chain := chainSGLang(r.Tokens, c.pageSize, r.Adapter, r.Salt)[:max(0, limit)]
	at, pages := c.roots[namespace{r.Adapter, r.Salt, r.ExtraKey}], 0
	for at != nil && pages < len(chain) {
		at = at.children[chain[pages]]
		for i := 0; at != nil && i < len(at.hashes); i++ {
			if pages == len(chain) || at.hashes[i] != chain[pages] {
				return pages * c.pageSize
			}
			pages++
		}
	}
	return pages * c.pageSize
}
