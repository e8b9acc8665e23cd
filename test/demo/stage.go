/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// stage is what runs during a demo.
type stage struct {
	// ctx ends with the demo, and with its cause when a program dies.
	ctx     context.Context
	fail    context.CancelCauseFunc
	cfg     config
	root    string
	dir     string
	out     io.Writer
	console *console
	server  *server
	// closers end what was started, the newest first.
	closers []func() error
}

// newStage starts the API server, with its data in a new temporary folder.
func newStage(ctx context.Context, cfg config, root string, out io.Writer) (*stage, error) {
	dir, err := os.MkdirTemp("", "inference-cache-demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{cfg: cfg, root: root, dir: dir, out: out, console: &console{out: out}}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	started := time.Now()
	if s.server, err = startServer(s.ctx, root, dir); err != nil {
		s.fail(nil)
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.onClose(s.server.stop)
	s.watch(s.server.process)
	step(out, "started", "API server at https://%s, gRPC at %s (%.1f s)",
		s.server.apiAddress, s.server.grpcAddress, time.Since(started).Seconds())
	return s, nil
}

func (s *stage) onClose(fn func() error) {
	s.closers = append(s.closers, fn)
}

// watch ends the demo when a program that it needs has died.
func (s *stage) watch(p *process) {
	go func() {
		select {
		case <-p.ended:
			s.fail(p.failure())
		case <-s.ctx.Done():
		}
	}()
}

// close ends everything. The logs are kept if the demo failed.
func (s *stage) close(good bool) error {
	s.fail(nil)
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	if good {
		errs = append(errs, os.RemoveAll(s.dir))
	} else {
		fmt.Fprintf(s.out, "the logs are in %s\n", s.dir)
	}
	return errors.Join(errs...)
}

// attach creates the engine's CacheBackend and starts its subscriber.
func (s *stage) attach(e *engine) error {
	var err error
	if e.backend, err = s.server.createBackend(s.ctx, s.root, e.manifest); err != nil {
		return err
	}
	if err := e.subscribe(s.root, s.dir, s.server); err != nil {
		return err
	}
	s.onClose(e.subscriber.stop)
	s.watch(e.subscriber)
	step(s.out, "attached", "%s as pod %s of CacheBackend %s", e.title, e.pod, e.backend)
	return nil
}

// recorded plays the recorded engines, all at once.
func (s *stage) recorded() error {
	var engines []*recordedEngine
	for _, source := range sources() {
		e, err := source.open()
		if err != nil {
			return err
		}
		s.onClose(e.player.Close)
		if err := s.attach(&e.engine); err != nil {
			return err
		}
		engines = append(engines, e)
	}
	s.console.head()
	scores := make([]score, len(engines))
	group, ctx := errgroup.WithContext(s.ctx)
	for i, e := range engines {
		group.Go(func() error {
			var err error
			scores[i], err = e.play(ctx, s)
			return err
		})
	}
	if err := s.cause(group.Wait()); err != nil {
		return err
	}
	if err := s.console.scores(scores); err != nil {
		return err
	}
	var backends []string
	for _, e := range engines {
		backends = append(backends, e.backend)
	}
	return s.finish(scores, backends, engines[0].lastLookup())
}

// finish shows what can be asked by hand and waits for the end, or judges.
func (s *stage) finish(scores []score, backends []string, request *pb.LookupRouteRequest) error {
	if err := s.awaitComplete(request); err != nil {
		return s.cause(err)
	}
	t := s.tour()
	if err := t.show(s.ctx, backends, request); err != nil {
		return s.cause(err)
	}
	if s.cfg.check {
		return judge(scores)
	}
	t.commands(backends[0])
	<-s.ctx.Done()
	return s.cause(nil)
}

// awaitComplete waits until the index says that it knows all engines. After its
// start it gives those that it has never heard of some time to turn up.
func (s *stage) awaitComplete(request *pb.LookupRouteRequest) error {
	waiting := false
	return poll(s.ctx, "the index to be complete", func() (bool, error) {
		response, err := s.server.lookup(s.ctx, request)
		if err != nil || response.GetComplete() {
			return true, err
		}
		if !waiting {
			waiting = true
			fmt.Fprintln(s.out)
			step(s.out, "waiting", "for the index to call itself complete, which a new one does after some seconds")
		}
		return false, nil
	})
}

func (s *stage) tour() *tour {
	return &tour{root: s.root, server: s.server, out: s.out, kubectl: findKubectl(s.root)}
}

// simulated runs the simulated engines until the demo is interrupted.
func (s *stage) simulated() error {
	var engines []*simulatedEngine
	for i, source := range simulations() {
		e, err := simulate(source, uint64(i+1))
		if err != nil {
			return err
		}
		s.onClose(e.sim.Close)
		if err := s.attach(&e.engine); err != nil {
			return err
		}
		engines = append(engines, e)
	}
	turns := 0
	if s.cfg.check {
		turns = checkedTurns
	} else {
		s.tour().commands(engines[0].backend)
	}
	scores, err := s.runAll(engines, turns)
	if err := s.cause(err); err != nil {
		return err
	}
	if err := s.console.scores(scores); err != nil || !s.cfg.check {
		return err
	}
	return judge(scores)
}

// cause prefers the reason for which the demo was ended to the errors that
// follow from it. An interrupt is no error.
func (s *stage) cause(err error) error {
	switch cause := context.Cause(s.ctx); {
	case cause == nil:
		return err
	case errors.Is(cause, context.Canceled):
		return nil
	default:
		return cause
	}
}

// judge fails unless every answer that can be compared was right.
func judge(scores []score) error {
	var errs []error
	for _, s := range scores {
		switch {
		case s.compared == 0:
			errs = append(errs, fmt.Errorf("%s: nothing was compared", s.engine))
		case s.wrong() > 0:
			errs = append(errs, fmt.Errorf("%s: %d of %d answers were wrong", s.engine, s.wrong(), s.compared))
		}
	}
	return errors.Join(errs...)
}
