/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Verbosity of etcd's lines. It narrates every step at info level and warns
// about each slow disk sync, so both stay out of an operator's way by default;
// what an operator must see is said by this package itself.
const (
	verbosityWarn  = 2
	verbosityInfo  = 4
	verbosityDebug = 6
)

// harmless lists messages that etcd writes at error level although nothing is
// wrong: the storage version cannot be read from a database that is younger
// than its first snapshot, and is tried again later.
var harmless = sets.New("failed to update storage version")

// logCore hands zap entries to a logr.Logger.
type logCore struct {
	log    logr.Logger
	fields []any
	// quiet is set while the server stops: etcd reports the closing of its own
	// listeners and streams as errors then.
	quiet *atomic.Bool
}

// newZapLogger returns the logger for etcd. Entries of fatal and panic level end
// in onFatal, which must not return, instead of zap's own os.Exit and panic.
func newZapLogger(log logr.Logger, quiet *atomic.Bool, onFatal func(error)) *zap.Logger {
	core := &logCore{log: log, quiet: quiet}
	return zap.New(core, zap.WithFatalHook(fatalHook(onFatal)), zap.WithPanicHook(fatalHook(onFatal)))
}

// Enabled implements zapcore.LevelEnabler. Fatal and panic entries always pass,
// because zap runs their hooks only for entries that a core took.
func (c *logCore) Enabled(level zapcore.Level) bool {
	if level >= zapcore.DPanicLevel {
		return true
	}
	if c.log.GetSink() == nil {
		return false
	}
	if level >= zapcore.ErrorLevel && !c.quiet.Load() {
		return true
	}
	return c.log.V(verbosity(level)).Enabled()
}

func verbosity(level zapcore.Level) int {
	switch {
	case level >= zapcore.WarnLevel:
		return verbosityWarn
	case level == zapcore.InfoLevel:
		return verbosityInfo
	default:
		return verbosityDebug
	}
}

// With implements zapcore.Core.
func (c *logCore) With(fields []zapcore.Field) zapcore.Core {
	kvs, _ := keysAndValues(fields)
	return &logCore{log: c.log, quiet: c.quiet, fields: append(slices.Clip(c.fields), kvs...)}
}

// Check implements zapcore.Core.
func (c *logCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements zapcore.Core.
func (c *logCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	kvs, err := keysAndValues(fields)
	kvs = append(slices.Clip(c.fields), kvs...)
	fatal := entry.Level >= zapcore.DPanicLevel
	if fatal || (entry.Level == zapcore.ErrorLevel && !c.quiet.Load() && !harmless.Has(entry.Message)) {
		c.log.Error(err, "Embedded etcd: "+entry.Message, kvs...)
		return nil
	}
	if err != nil {
		kvs = append(kvs, "err", err)
	}
	c.log.V(verbosity(entry.Level)).Info("Embedded etcd: "+entry.Message, kvs...)
	return nil
}

// Sync implements zapcore.Core; logr has nothing to flush.
func (c *logCore) Sync() error { return nil }

// keysAndValues flattens zap fields, in their order, into logr's form. The
// field that carries an error is returned apart.
func keysAndValues(fields []zapcore.Field) (kvs []any, err error) {
	for _, f := range fields {
		if f.Type == zapcore.ErrorType {
			if e, ok := f.Interface.(error); ok && err == nil {
				err = e
				continue
			}
		}
		enc := zapcore.NewMapObjectEncoder()
		f.AddTo(enc)
		for k, v := range enc.Fields {
			kvs = append(kvs, k, v)
		}
	}
	return kvs, err
}

// fatalHook receives what etcd considers the end of the process.
type fatalHook func(error)

// OnWrite implements zapcore.CheckWriteHook.
func (h fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	_, err := keysAndValues(fields)
	if err == nil {
		h(errors.New(entry.Message))
		return
	}
	h(fmt.Errorf("%s: %w", entry.Message, err))
}

// bootstrapError carries a fatal entry out of etcd's bootstrap, as a panic that
// launch recovers.
type bootstrapError struct{ error }

// Unwrap gives access to the system's error.
func (e *bootstrapError) Unwrap() error { return e.error }
