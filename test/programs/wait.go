/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Patience is for what has to happen, on an overloaded machine.
const Patience = 2 * time.Minute

// pollInterval is the time between two tries.
const pollInterval = 20 * time.Millisecond

// given are the addresses that FreeAddress has returned in this process.
var given sync.Map

// FreeAddress returns a loopback address that was free a moment ago. Its port is
// below those that systems give to outgoing connections: somebody who comes back
// to an address after a death must not find it taken by a connection. No two calls
// of a process return the same one, because some are used much later.
func FreeAddress() (string, error) {
	const first, ports, tries = 12000, 20000, 64
	var last error
	for range tries {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			last = err
			continue
		}
		if _, before := given.LoadOrStore(address, true); !before {
			return address, listener.Close()
		}
		last = errors.Join(fmt.Errorf("%s was given to somebody before", address), listener.Close())
	}
	return "", fmt.Errorf("no free port: %w", last)
}

// Poll tries until it succeeds, or for [Patience]; the error is the last one.
func Poll(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-ticker.C:
		}
	}
}
