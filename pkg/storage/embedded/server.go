/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

const (
	// Raft's clock. Elections of a lone member cannot be lost, so a short
	// timeout only shortens the start: it replays its log and leads at once.
	tickMilliseconds     = 20
	electionMilliseconds = 200

	// catchUpEntries is how much of the raft log stays in memory after a
	// snapshot. It exists for slow followers; there are none.
	catchUpEntries = 100

	// progressInterval makes idle watches advance their revision, which keeps
	// the API server's watch cache fresh (and its bookmarks useful).
	progressInterval = 5 * time.Second

	// defaultReadyPatience is how long a started etcd may take until it serves.
	// Its files are read by then; what is left takes a second, and for ever when
	// its log ends before its database.
	defaultReadyPatience = time.Minute
)

// Server is a running etcd. It is safe for concurrent use.
type Server struct {
	log    logr.Logger
	cfg    Config
	etcd   *embed.Etcd
	socket string

	quiet *atomic.Bool
	// copying is held for reading while a snapshot is sent.
	copying     sync.RWMutex
	stopMonitor context.CancelFunc
	monitor     sync.WaitGroup
	cleanup     []func() error
	closeOnce   sync.Once
	closeErr    error
}

// Start runs an etcd server on cfg.Dir and returns when it serves. The context
// bounds the start only; the server runs until Close.
//
// The error is a *dirlock.InUseError when another server holds the directory. After
// any error everything that was opened is closed again, except that etcd itself
// leaks its open database when it fails in the middle of reading its files; the
// process cannot use that directory again then and is expected to exit.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("embedded etcd: %w", err)
	}
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("embedded etcd: %w", err)
	}
	s := &Server{log: cfg.Logger, cfg: cfg, quiet: &atomic.Bool{}}
	if err := s.start(ctx); err != nil {
		s.quiet.Store(true)
		return nil, errors.Join(fmt.Errorf("embedded etcd: %w", err), s.Close())
	}
	return s, nil
}

// start acquires, in order: directory, lock, identity, socket directory, etcd,
// monitor. What it acquired is given up by Close, in reverse.
func (s *Server) start(ctx context.Context) error {
	dir := filepath.Join(s.cfg.Dir, etcdDir)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("make data directory: %w", explainDisk(err))
	}
	lock, err := dirlock.Acquire(s.cfg.Dir)
	if err != nil {
		return explainDisk(err)
	}
	s.cleanup = append(s.cleanup, lock.Release)

	id, err := loadIdentity(dir)
	if err != nil {
		return explainDisk(err)
	}
	if err := checkDatabase(dir); err != nil {
		return err
	}
	socket, remove, err := socketDirectory(dir)
	if err != nil {
		return explainDisk(err)
	}
	s.socket = socket
	s.cleanup = append(s.cleanup, remove)

	if s.etcd, err = s.launch(s.etcdConfig(dir, id)); err != nil {
		return explainDisk(err)
	}
	if err := s.awaitReady(ctx); err != nil {
		return err
	}
	if got, want := s.etcd.Server.MemberID(), id.memberID(); got != want {
		return fmt.Errorf("%s holds the data of etcd member %s, but its identity file belongs to member %s; restore the matching pair or use an empty data directory", dir, got, want)
	}
	if s.cfg.passive {
		return nil
	}
	if err := s.maintain(ctx); err != nil {
		return err
	}
	if s.cfg.Registerer != nil {
		if err := s.register(s.cfg.Registerer); err != nil {
			return err
		}
	}
	// The monitor ends with Close, not with the context of the start.
	mctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.stopMonitor = cancel
	u := newUpkeep(s)
	s.monitor.Go(func() { u.run(mctx) })
	return nil
}

func (s *Server) etcdConfig(dir string, id identity) *embed.Config {
	c := embed.NewConfig()
	c.Name = memberName
	c.Dir = dir
	c.ListenPeerUrls = nil
	c.AdvertisePeerUrls = []url.URL{{Scheme: "unix", Host: memberName}}
	c.ListenClientUrls = []url.URL{{Scheme: "unix", Path: s.socket}}
	// Stored in the member's attributes; the real socket may move between
	// starts and is nobody's business.
	c.AdvertiseClientUrls = []url.URL{{Scheme: "unix", Host: memberName}}
	c.InitialCluster = memberName + "=" + peerURL
	c.InitialClusterToken = id.Token
	c.EnableGRPCGateway = false
	c.AuthToken = ""
	c.TickMs, c.ElectionMs = tickMilliseconds, electionMilliseconds
	c.SnapshotCatchUpEntries = catchUpEntries
	c.WatchProgressNotifyInterval = progressInterval
	c.QuotaBackendBytes = s.cfg.QuotaBytes
	c.UnsafeNoFsync = s.cfg.UnsafeNoFsync
	c.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.ChainStreamInterceptor(s.noteCopies)}
	return c
}

// launch runs etcd's bootstrap. etcd treats much of what can go wrong there as
// the end of the process (log entries of fatal and panic level); here it
// becomes an error. Faults in the program itself stay panics.
func (s *Server) launch(c *embed.Config) (e *embed.Etcd, err error) {
	var running atomic.Bool
	logger := newZapLogger(s.log, s.quiet, func(err error) {
		if !running.Load() {
			panic(&bootstrapError{err})
		}
		s.cfg.Fatal(explainDisk(err))
	})
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	defer running.Store(true)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *bootstrapError:
			e, err = nil, p
		default:
			panic(p)
		}
	}()
	return embed.StartEtcd(c)
}

func (s *Server) awaitReady(ctx context.Context) error {
	late := time.NewTimer(s.cfg.readyPatience)
	defer late.Stop()
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case err := <-s.etcd.Err():
		return fmt.Errorf("stopped while starting: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("not ready: %w", context.Cause(ctx))
	case <-late.C:
		return fmt.Errorf("not ready after %s; the log in %s may have lost its end or its files, restore the data directory or use an empty one",
			s.cfg.readyPatience, filepath.Join(s.cfg.Dir, etcdDir, memberDir, "wal"))
	}
}

// stopUnready stops an etcd that has not become ready: its Close waits for
// servers that wait for the one or the other.
func (s *Server) stopUnready() {
	select {
	case <-s.etcd.Server.ReadyNotify():
	default:
		s.etcd.Server.HardStop()
	}
}

// Endpoints returns what a client dials, in the form that etcd's client and the
// API server's --etcd-servers take.
func (s *Server) Endpoints() []string {
	return []string{"unix://" + s.socket}
}

// Close stops the server and frees the directory. It has to come last: clients
// that are still connected delay it by several seconds and then fail. It may be
// called more than once; every call returns the first one's result.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.quiet.Store(true)
		if s.stopMonitor != nil {
			s.stopMonitor()
			s.monitor.Wait()
		}
		if s.etcd != nil {
			s.stopUnready()
			s.etcd.Close()
		}
		var errs []error
		for _, undo := range slices.Backward(s.cleanup) {
			errs = append(errs, undo())
		}
		s.closeErr = errors.Join(errs...)
	})
	return s.closeErr
}

// register adds the server's collectors and takes them away again at Close.
func (s *Server) register(r prometheus.Registerer) error {
	for _, c := range s.collectors() {
		if err := r.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
		s.cleanup = append(s.cleanup, func() error { r.Unregister(c); return nil })
	}
	return nil
}

// explainDisk says in an operator's words what the system's error numbers mean.
//
// The numbers are also looked for in the text, because bbolt formats the errors
// of the system instead of wrapping them.
func explainDisk(err error) error {
	is := func(no syscall.Errno) bool {
		return errors.Is(err, no) || (err != nil && strings.Contains(err.Error(), no.Error()))
	}
	switch {
	case is(syscall.ENOSPC), is(syscall.EDQUOT):
		return fmt.Errorf("the disk of the data directory is full; nothing acknowledged is lost, free space and start again: %w", err)
	case is(syscall.EFBIG):
		return fmt.Errorf("the system's file size limit was reached; nothing acknowledged is lost, raise the limit and start again: %w", err)
	case is(syscall.EROFS):
		return fmt.Errorf("the data directory is on a read-only file system: %w", err)
	}
	return err
}
