/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pollInterval is how often the metrics are read.
const pollInterval = 5 * time.Millisecond

// Metrics of the subscriber that say how far it is.
const (
	engineSequence = "inferencecache_subscriber_engine_sequence"
	engineRestarts = "inferencecache_subscriber_engine_restarts_total"
	changesWaiting = "inferencecache_subscriber_changes_waiting"
	deltaSequence  = "inferencecache_subscriber_delta_sequence"
	acknowledged   = "inferencecache_subscriber_acknowledged_sequence"
)

// Point is how far an engine is.
type Point struct {
	// Sequence is that of the newest message, -1 before the first one.
	Sequence int64
	// Restarts is how often the engine has started anew since the subscriber
	// began.
	Restarts int
	// Replicas is the number of index replicas that have to know; 0 means 1.
	Replicas int
}

// Await returns when the index has applied everything up to a point, or with the
// error of ctx: the subscriber whose metrics are at an address has taken the
// message, holds nothing back, and what it made of it is acknowledged. It is for
// subscribers with one rank.
func Await(ctx context.Context, metricsAddress string, to Point) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	// One reading of the metrics is not of one moment. Only those that begin
	// after the message was taken say something about what became of it.
	taken := false
	for {
		// A subscriber that does not answer yet has not come far.
		if now, err := read(ctx, metricsAddress); err == nil {
			if taken && now.value(changesWaiting) == 0 && now.acknowledged(max(1, to.Replicas)) {
				return nil
			}
			taken = taken || now.value(engineSequence) >= float64(to.Sequence) && now.value(engineRestarts) >= float64(to.Restarts)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for message %d to reach the index: %w", to.Sequence, ctx.Err())
		case <-ticker.C:
		}
	}
}

// Deltas returns the sequence of the newest delta that the subscriber has made in
// its epoch. Sequences of different epochs say nothing about each other, and those
// that [Await] compares may be of two. Who wants to be certain waits once more,
// after this number has changed.
func Deltas(ctx context.Context, metricsAddress string) (float64, error) {
	now, err := read(ctx, metricsAddress)
	return now.value(deltaSequence), err
}

// read gets and parses the metrics at an address.
func read(ctx context.Context, address string) (reading, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // only read from
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return samples(body), nil
}

// reading holds the values of each metric, whatever their labels.
type reading map[string][]float64

// value is that of a metric with one series. One that is not shown is less than
// any number.
func (r reading) value(name string) float64 {
	if len(r[name]) != 1 {
		return math.Inf(-1)
	}
	return r[name][0]
}

// acknowledged tells whether so many replicas, and all that are reported to, have
// the newest delta.
func (r reading) acknowledged(replicas int) bool {
	newest := r.value(deltaSequence)
	return len(r[acknowledged]) >= replicas &&
		!slices.ContainsFunc(r[acknowledged], func(sequence float64) bool { return sequence != newest })
}

// samples reads the text format.
func samples(text []byte) reading {
	values := reading{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, _, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		if value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64); err == nil {
			values[name] = append(values[name], value)
		}
	}
	return values
}
