/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// DefaultQuotaBytes is the backend quota when Config.QuotaBytes is zero:
	// 2 GiB, etcd's own default and far above what a few declarative kinds need.
	DefaultQuotaBytes int64 = 2 << 30

	// minQuotaBytes keeps a typo (a quota given in MiB) from producing a server
	// that raises its space alarm on the first write.
	minQuotaBytes int64 = 1 << 20

	etcdDir      = "etcd"
	identityFile = "identity"
	memberDir    = "member"
	runDir       = "run"
	socketFile   = "client.sock"

	// dirMode keeps the socket and the data to the user that runs the server:
	// reaching the socket is all the authentication there is.
	dirMode os.FileMode = 0o700
)

// Config says where and how the server runs.
type Config struct {
	// Dir is the data directory. It is made with mode 0700 when absent, and may
	// be of any length. The caller may keep other files in it.
	Dir string

	// QuotaBytes bounds the backend database. At the bound, writes fail with
	// etcd's "database space exceeded" and reads go on. 0 means DefaultQuotaBytes;
	// below 1 MiB is refused.
	QuotaBytes int64

	// UnsafeNoFsync trades durability for speed. For tests only.
	UnsafeNoFsync bool

	// Logger receives the server's own lines and etcd's, translated.
	// The zero value discards them.
	Logger logr.Logger

	// Registerer, when set, receives the collectors of this package for as long
	// as the server runs.
	Registerer prometheus.Registerer

	// Fatal is called when a running etcd cannot go on, which in practice means
	// that the disk no longer takes writes. It must not return: going on would
	// mean acknowledging what was not stored. nil logs the failure and exits
	// with status 1.
	Fatal func(err error)

	// OnSpace, when set, is told when the quota is used up and when there is room
	// again, after it was logged. A start under an alarm tells it as well. The calls
	// come one after the other, and must return soon: space is not looked after
	// meanwhile.
	OnSpace func(Space)

	// readyPatience bounds the start once etcd has read its files; 0 means
	// defaultReadyPatience. For tests only.
	readyPatience time.Duration

	// passive is for a server that is started to be read: it cleans up nothing.
	passive bool
}

// Space is what there is of the quota when the alarm about it changes.
type Space struct {
	// Exhausted says that writes are refused; false, that they are taken again.
	Exhausted bool
	// Bytes is the size of the database, QuotaBytes its bound.
	Bytes, QuotaBytes int64
}

// validate returns every problem of the configuration at once.
func (c *Config) validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("data directory is not set"))
	}
	if c.QuotaBytes != 0 && c.QuotaBytes < minQuotaBytes {
		errs = append(errs, fmt.Errorf("etcd quota of %d bytes is below the minimum of %d", c.QuotaBytes, minQuotaBytes))
	}
	return errors.Join(errs...)
}

// complete fills defaults and makes the directory absolute, so that a later
// change of the working directory moves nothing.
func (c *Config) complete() error {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return fmt.Errorf("resolve data directory: %w", err)
	}
	c.Dir = dir
	if c.QuotaBytes == 0 {
		c.QuotaBytes = DefaultQuotaBytes
	}
	if c.readyPatience == 0 {
		c.readyPatience = defaultReadyPatience
	}
	if c.Fatal == nil {
		log := c.Logger
		c.Fatal = func(err error) {
			log.Error(err, "Embedded etcd cannot go on, stopping the process", "dir", c.Dir)
			os.Exit(1)
		}
	}
	return nil
}
