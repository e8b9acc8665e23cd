/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of our own HTTP server, which answers a scraper and a kubelet.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = 10 * time.Second
	headerBytes   = 16 << 10
)

// Address returns where metrics and health are served, empty when they are not.
func (s *Subscriber) Address() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// serve answers /metrics and /healthz until ctx ends. Health is that of this
// program: an engine or an index that is away is not cured by a restart of it.
func (s *Subscriber) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a client that is gone needs no answer
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, WriteTimeout: answerTimeout, MaxHeaderBytes: headerBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
