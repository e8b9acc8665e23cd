/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

const (
	// A database is defragmented when it is larger than defragMinBytes, or than half
	// its quota, and less than defragUsedShare of it is in use: below that the pause
	// costs more than the space is worth.
	defragMinBytes  int64 = 64 << 20
	defragUsedShare       = 0.5

	// defragMaxUsed bounds the pause of a running server. Defragmenting writes what
	// is in use to a new file, and nothing is read or written meanwhile:
	// BenchmarkDefragment takes 0.9 s for 96 MiB on two busy cores. A database with
	// more in use waits for the next start.
	defragMaxUsed int64 = 128 << 20

	// defragInterval is the shortest time between two defragmentations of a running
	// server, so that a load which comes and goes does not pause it again and again.
	defragInterval = time.Hour

	// regainRest is for how many times its own duration an attempt to regain space
	// that was not enough is followed by none, so that those who read a full database
	// while somebody deletes are kept waiting for a twentieth of the time at most.
	regainRest = 20

	// A space alarm is lifted when the database is below this share of the quota
	// after cleaning up; nearer to it, the alarm would be back with the next few
	// writes.
	liftAlarmShare = 0.9
)

// fragmented reports whether a database is mostly free space, and large enough for
// that to matter. All are bytes.
func fragmented(size, used, quota int64) bool {
	return size > min(defragMinBytes, quota/2) && float64(used) < defragUsedShare*float64(size)
}

// regain makes what space it can after the quota was used up, and lifts the alarm
// when that is enough. It reports whether it did.
func (s *Server) regain(ctx context.Context) (lifted bool, err error) {
	// History is what usually fills the quota, and the API server cannot compact
	// while the alarm refuses its writes.
	if err := s.compactAll(ctx); err != nil {
		return false, err
	}
	be := s.etcd.Server.Backend()
	enough := int64(liftAlarmShare * float64(s.cfg.QuotaBytes))
	if be.Size() > enough {
		// The size in use does not say whether it is worth it: pages that the
		// compaction has freed count as used until somebody writes again.
		if err := s.defragment(); err != nil || be.Size() > enough {
			return false, err
		}
	}
	_, err = s.etcd.Server.Alarm(ctx, &pb.AlarmRequest{
		Action:   pb.AlarmRequest_DEACTIVATE,
		MemberID: uint64(s.etcd.Server.MemberID()),
		Alarm:    pb.AlarmType_NOSPACE,
	})
	if err != nil {
		return false, fmt.Errorf("lift space alarm: %w", err)
	}
	s.log.Info("Lifted the space alarm of embedded etcd, writes go on", "bytes", be.Size(), "quotaBytes", s.cfg.QuotaBytes)
	s.tellSpace(false)
	return true, nil
}

// compactAll drops all history. Watches that would resume in it are told to
// list again, which clients do by themselves.
func (s *Server) compactAll(ctx context.Context) error {
	rev := s.etcd.Server.KV().Rev()
	if rev <= s.etcd.Server.KV().FirstRev() {
		return nil
	}
	_, err := s.etcd.Server.Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true})
	if err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	return nil
}

// errCopying says that it is not the time to defragment.
var errCopying = errors.New("a snapshot is being sent")

// defragment gives free space back to the file system. While a snapshot is sent it
// returns errCopying, because it would wait for the end of that with all reads and
// writes behind it.
func (s *Server) defragment() error {
	if !s.copying.TryLock() {
		return errCopying
	}
	defer s.copying.Unlock()
	be := s.etcd.Server.Backend()
	size, start := be.Size(), time.Now()
	if err := s.etcd.Server.Defragment(); err != nil {
		return fmt.Errorf("defragment: %w", explainDisk(err))
	}
	s.log.Info("Defragmented embedded etcd", "bytesBefore", size, "bytesAfter", be.Size(), "duration", time.Since(start))
	return nil
}

// noteCopies is on the way of every stream, and notes those that send a snapshot.
func (s *Server) noteCopies(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if info.FullMethod == pb.Maintenance_Snapshot_FullMethodName {
		s.copying.RLock()
		defer s.copying.RUnlock()
	}
	return handle(srv, stream)
}
