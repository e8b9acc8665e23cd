/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// indexPatience is how long a subscriber may take to subscribe, and the index to
// know what an engine has sent.
const indexPatience = 30 * time.Second

// Metrics of the subscriber, whose values say how far it is.
const (
	metricEngineSequence = "inferencecache_subscriber_engine_sequence"
	metricWaiting        = "inferencecache_subscriber_changes_waiting"
	metricMade           = "inferencecache_subscriber_delta_sequence"
	metricAcknowledged   = "inferencecache_subscriber_acknowledged_sequence"
)

// awaitSubscriber waits until somebody has subscribed to an engine's events.
func awaitSubscriber(ctx context.Context, publisher interface{ WaitSubscribed(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	return publisher.WaitSubscribed(ctx)
}

// awaitIndex waits until the index has applied everything that the engine has
// sent: the subscriber has taken the newest message, holds nothing back, and
// what it made of it is acknowledged.
func (e *engine) awaitIndex(ctx context.Context) error {
	newest, sent := e.newest()
	if !sent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	what := fmt.Sprintf("message %d of %s to reach the index", newest, e.backend)
	// One reading of the metrics is not of one moment. Only those that begin
	// after the message was taken say something about what became of it.
	taken := false
	return poll(ctx, what, func() (bool, error) {
		values, err := e.progress(ctx)
		if err != nil {
			// The subscriber may not listen yet; that it died is noticed elsewhere.
			return false, nil
		}
		if !taken {
			sequence, known := values[metricEngineSequence]
			taken = known && sequence >= float64(newest)
			return false, nil
		}
		return values[metricWaiting] == 0 && values[metricAcknowledged] == values[metricMade], nil
	})
}

// progress reads the subscriber's metrics.
func (e *engine) progress(ctx context.Context) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.metricsAddr+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	return samples(body), nil
}

// samples reads the text format, for metrics with one series each.
func samples(text []byte) map[string]float64 {
	values := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		name, _, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err == nil && !strings.HasPrefix(line, "#") {
			values[name] = value
		}
	}
	return values
}
