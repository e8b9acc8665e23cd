/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

const (
	// A database is defragmented at start when it is larger than
	// defragMinBytes and less than half of it is in use: below that the pause
	// costs more than the space is worth.
	defragMinBytes int64 = 64 << 20

	// A space alarm is lifted at start when the database is below this share of
	// the quota after cleaning up; nearer to it, the alarm would be back with
	// the next few writes.
	liftAlarmShare = 0.9

	// alarmInterval is how often the alarms are looked at for the log. The
	// metric reads them directly.
	alarmInterval = 10 * time.Second
)

// maintain does at start what needs the database for itself: defragmenting, and
// recovering from a full quota.
func (s *Server) maintain(ctx context.Context) error {
	full := s.alarmed(pb.AlarmType_NOSPACE)
	if full {
		// History is what usually fills the quota, and the API server cannot
		// compact while the alarm refuses its writes.
		if err := s.compactAll(ctx); err != nil {
			return err
		}
	}
	be := s.etcd.Server.Backend()
	size, used := be.Size(), be.SizeInUse()
	if full || (size > defragMinBytes && used < size/2) {
		start := time.Now()
		if err := be.Defrag(); err != nil {
			return fmt.Errorf("defragment: %w", explainDisk(err))
		}
		s.log.Info("Defragmented embedded etcd", "bytesBefore", size, "bytesAfter", be.Size(), "duration", time.Since(start))
	}
	if !full {
		return nil
	}
	if float64(be.Size()) > liftAlarmShare*float64(s.cfg.QuotaBytes) {
		s.logAlarm(pb.AlarmType_NOSPACE)
		return nil
	}
	_, err := s.etcd.Server.Alarm(ctx, &pb.AlarmRequest{
		Action:   pb.AlarmRequest_DEACTIVATE,
		MemberID: uint64(s.etcd.Server.MemberID()),
		Alarm:    pb.AlarmType_NOSPACE,
	})
	if err != nil {
		return fmt.Errorf("lift space alarm: %w", err)
	}
	s.log.Info("Lifted the space alarm of embedded etcd", "bytes", be.Size(), "quotaBytes", s.cfg.QuotaBytes)
	return nil
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

func (s *Server) alarmed(kind pb.AlarmType) bool {
	for _, a := range s.etcd.Server.Alarms() {
		if a.GetAlarm() == kind {
			return true
		}
	}
	return false
}

// watchAlarms logs every alarm once when it is raised and once when it is gone.
func (s *Server) watchAlarms(ctx context.Context) {
	kinds := []pb.AlarmType{pb.AlarmType_NOSPACE, pb.AlarmType_CORRUPT}
	known := map[pb.AlarmType]bool{pb.AlarmType_NOSPACE: s.alarmed(pb.AlarmType_NOSPACE)}
	tick := time.NewTicker(alarmInterval)
	defer tick.Stop()
	for {
		for _, kind := range kinds {
			raised := s.alarmed(kind)
			switch {
			case raised && !known[kind]:
				s.logAlarm(kind)
			case !raised && known[kind]:
				s.log.Info("Alarm of embedded etcd is over", "alarm", kind.String())
			}
			known[kind] = raised
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) logAlarm(kind pb.AlarmType) {
	if kind == pb.AlarmType_NOSPACE {
		s.log.Error(nil, "Embedded etcd has used up its quota: writes are refused, reads go on; delete objects or raise the quota, then restart",
			"quotaBytes", s.cfg.QuotaBytes, "bytes", s.etcd.Server.Backend().Size(), "dir", s.cfg.Dir)
		return
	}
	s.log.Error(nil, "Embedded etcd reports damaged data: writes are refused; restore a snapshot",
		"alarm", kind.String(), "dir", s.cfg.Dir)
}
