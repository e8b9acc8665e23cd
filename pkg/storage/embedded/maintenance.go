/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// lookInterval is how often the alarms and the space are looked at. It bounds how
// long writes fail although there is space to regain. The metric reads the alarms
// directly.
const lookInterval = 2 * time.Second

// maintain does at the start what is due before anybody writes, when it costs
// nobody a pause.
func (s *Server) maintain(ctx context.Context) error {
	if s.alarmed(pb.AlarmType_NOSPACE) {
		lifted, err := s.regain(ctx)
		if !lifted {
			s.logAlarm(pb.AlarmType_NOSPACE)
		}
		return unlessCopying(err)
	}
	if be := s.etcd.Server.Backend(); fragmented(be.Size(), be.SizeInUse(), s.cfg.QuotaBytes) {
		return unlessCopying(s.defragment())
	}
	return nil
}

// unlessCopying drops the error of what is tried again after a snapshot.
func unlessCopying(err error) error {
	if errors.Is(err, errCopying) {
		return nil
	}
	return err
}

// run looks after the running server until ctx ends.
func (u *upkeep) run(ctx context.Context) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		u.look(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// upkeep remembers what was seen and done. It belongs to one goroutine.
type upkeep struct {
	*Server
	// known has the alarms that were logged.
	known map[pb.AlarmType]bool
	// tried is the state in which not enough could be regained, and retry when the
	// next attempt may begin.
	tried space
	retry time.Time
	// defragmented is when the database was defragmented last. The start counts,
	// as it defragments what needs it.
	defragmented time.Time
}

// space is what regaining depends on.
type space struct{ size, revision int64 }

func newUpkeep(s *Server) *upkeep {
	return &upkeep{
		Server: s,
		// The start has logged an alarm of space that it could not lift.
		known:        map[pb.AlarmType]bool{pb.AlarmType_NOSPACE: s.alarmed(pb.AlarmType_NOSPACE)},
		defragmented: time.Now(),
	}
}

// look logs every alarm once when it is raised and once when it is gone, and does
// what can be done about space.
func (u *upkeep) look(ctx context.Context, now time.Time) {
	for _, kind := range []pb.AlarmType{pb.AlarmType_NOSPACE, pb.AlarmType_CORRUPT} {
		raised := u.alarmed(kind)
		switch {
		case raised && !u.known[kind]:
			u.logAlarm(kind)
		case !raised && u.known[kind]:
			u.log.Info("Alarm of embedded etcd is over", "alarm", kind.String())
			if kind == pb.AlarmType_NOSPACE {
				u.tellSpace(false)
			}
		}
		u.known[kind] = raised
	}
	var err error
	if u.known[pb.AlarmType_NOSPACE] {
		err = u.recover(ctx, now)
	} else {
		err = u.tidy(now)
	}
	// An error of the end is none.
	if err = unlessCopying(err); err != nil && ctx.Err() == nil {
		u.log.Error(err, "Regaining space of embedded etcd failed")
	}
}

// recover regains space under an alarm. What was not enough is not repeated until
// something has changed.
func (u *upkeep) recover(ctx context.Context, now time.Time) error {
	if now.Before(u.retry) || u.space() == u.tried {
		return nil
	}
	start := time.Now()
	lifted, err := u.regain(ctx)
	switch {
	case lifted:
		u.known[pb.AlarmType_NOSPACE] = false
	case !errors.Is(err, errCopying):
		u.tried, u.retry = u.space(), now.Add(regainRest*time.Since(start))
	}
	return err
}

// space returns the present state.
func (u *upkeep) space() space {
	return space{size: u.etcd.Server.Backend().Size(), revision: u.etcd.Server.KV().Rev()}
}

// tidy defragments a running server.
func (u *upkeep) tidy(now time.Time) error {
	be := u.etcd.Server.Backend()
	if now.Sub(u.defragmented) < defragInterval || be.SizeInUse() > defragMaxUsed ||
		!fragmented(be.Size(), be.SizeInUse(), u.cfg.QuotaBytes) {
		return nil
	}
	err := u.defragment()
	if !errors.Is(err, errCopying) {
		u.defragmented = now
	}
	return err
}

func (s *Server) alarmed(kind pb.AlarmType) bool {
	for _, a := range s.etcd.Server.Alarms() {
		if a.GetAlarm() == kind {
			return true
		}
	}
	return false
}

func (s *Server) logAlarm(kind pb.AlarmType) {
	if kind == pb.AlarmType_NOSPACE {
		s.log.Error(nil, "Embedded etcd has used up its quota: writes are refused, reads and deletions go on; "+
			"old versions are cleaned up now, if that is not enough delete objects, or raise --embedded-etcd-quota-bytes and restart",
			"quotaBytes", s.cfg.QuotaBytes, "bytes", s.etcd.Server.Backend().Size(), "dir", s.cfg.Dir)
		s.tellSpace(true)
		return
	}
	s.log.Error(nil, "Embedded etcd reports damaged data: writes are refused; restore a snapshot",
		"alarm", kind.String(), "dir", s.cfg.Dir)
}

// tellSpace passes on that the space alarm was raised, or is over.
func (s *Server) tellSpace(exhausted bool) {
	if s.cfg.OnSpace != nil {
		s.cfg.OnSpace(Space{Exhausted: exhausted, Bytes: s.etcd.Server.Backend().Size(), QuotaBytes: s.cfg.QuotaBytes})
	}
}
