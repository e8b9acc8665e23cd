/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/storage/durablefile"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

const (
	// toStandardOutput is the name of a file that stands for none.
	toStandardOutput = "-"

	// snapshotMode keeps a snapshot to the user who made it: it has all objects, and
	// whoever may read it needs no right in the API.
	snapshotMode os.FileMode = 0o600
)

// SnapshotSave saves the embedded etcd of a data directory to a file.
type SnapshotSave struct {
	// DataDir is the data directory of a server, running or stopped.
	DataDir string
	// Output is the file to make, or "-" for Stdout.
	Output string
	// Force lets Output be replaced.
	Force bool

	// Stdout gets the snapshot if Output says so, and otherwise what was done. Stderr
	// gets what was done when Stdout cannot.
	Stdout, Stderr io.Writer
}

// AddFlags adds the flags of the command.
func (o *SnapshotSave) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir, "The data directory of the server, which may be running.")
	fs.StringVar(&o.Output, "output", o.Output, "The file to make. It appears when it is complete. - writes to standard output.")
	fs.BoolVar(&o.Force, "force", o.Force, "Replace the file if it exists.")
}

// Validate returns every problem of the options at once.
func (o *SnapshotSave) Validate() error {
	return errors.Join(required("data-dir", o.DataDir), required("output", o.Output))
}

// Run saves, until ctx ends. After an error there is no new file.
func (o *SnapshotSave) Run(ctx context.Context) error {
	if o.Output == toStandardOutput {
		saved, err := embedded.Save(ctx, o.DataDir, o.Stdout, klog.FromContext(ctx))
		if err != nil {
			return err
		}
		return o.report(o.Stderr, saved, "standard output")
	}
	file, err := durablefile.Create(o.Output, snapshotMode, o.Force)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%w; give another --output, or --force to replace it", err)
		}
		return err
	}
	saved, err := embedded.Save(ctx, o.DataDir, file, klog.FromContext(ctx))
	if err != nil {
		return errors.Join(err, file.Discard())
	}
	if err := file.Commit(); err != nil {
		return err
	}
	return o.report(o.Stdout, saved, o.Output)
}

func (o *SnapshotSave) report(w io.Writer, saved embedded.Saved, where string) error {
	whose := "stopped"
	if saved.FromServer {
		whose = "running"
	}
	_, err := fmt.Fprintf(w, "Saved %s (server %s) to %s: %d bytes, revision %d\n", o.DataDir, whose, where, saved.Bytes, saved.Revision)
	return err
}

// SnapshotRestore makes a data directory from a snapshot.
type SnapshotRestore struct {
	// DataDir is the directory to make. It must be absent or empty.
	DataDir string
	// Input is the snapshot, a file.
	Input string

	// Stdout gets what was done.
	Stdout io.Writer
}

// AddFlags adds the flags of the command.
func (o *SnapshotRestore) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.DataDir, "data-dir", o.DataDir, "The data directory to make. It must not exist, or be empty.")
	fs.StringVar(&o.Input, "input", o.Input, "The file that \"snapshot save\" has made.")
}

// Validate returns every problem of the options at once.
func (o *SnapshotRestore) Validate() error {
	return errors.Join(required("data-dir", o.DataDir), required("input", o.Input))
}

// Run restores. After an error the data directory is as empty as it was.
func (o *SnapshotRestore) Run(ctx context.Context) error {
	restored, err := embedded.Restore(embedded.RestoreConfig{
		Dir:    o.DataDir,
		Input:  o.Input,
		Prefix: etcdPrefix + "/",
		Logger: klog.FromContext(ctx),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Stdout, "Restored %s to %s: %d keys of revision %d; revisions go on from %d\n",
		o.Input, o.DataDir, restored.Keys, restored.Saved, restored.Revision)
	return err
}

// required returns an error when a flag has no value.
func required(name, value string) error {
	if value == "" {
		return fmt.Errorf("--%s: required", name)
	}
	return nil
}
