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
	"time"
)

// Patience is for what has to happen, on an overloaded machine.
const Patience = 2 * time.Minute

// pollInterval is the time between two tries.
const pollInterval = 20 * time.Millisecond

// FreeAddress returns a loopback address that was free a moment ago. Its port is
// below those that systems give to outgoing connections: somebody who comes back
// to an address after a death must not find it taken by a connection.
func FreeAddress() (string, error) {
	const first, ports, tries = 12000, 20000, 64
	var last error
	for range tries {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
		last = err
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
