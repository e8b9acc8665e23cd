/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestPagesAreCurrent finds out without the generators what make verify does.
func TestPagesAreCurrent(t *testing.T) {
	for name, want := range pages() {
		t.Run(name, func(t *testing.T) {
			got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "flags", name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("out of date, run make generate (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingOfThisMachine holds that pages are the same wherever they are written.
func TestNothingOfThisMachine(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range pages() {
		for what, text := range map[string]string{"host": "`" + host + "`", "working directory": directory} {
			if strings.Contains(page, text) {
				t.Errorf("%s has the name of this %s", name, what)
			}
		}
	}
}

func TestPage(t *testing.T) {
	cmd := &cobra.Command{Use: "program", Long: "Does something."}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.IntP("count", "n", 3, "How many `things`|parts.\nMore lines.")
	flags.Bool("off", false, "A switch.")
	flags.String("hidden", "", "Nothing.")
	flags.BoolP("help", "h", false, "Help.")
	if err := flags.MarkHidden("hidden"); err != nil {
		t.Fatal(err)
	}
	below := &cobra.Command{Use: "below", Long: "Does less.", Run: func(*cobra.Command, []string) {}}
	below.Flags().String("where", "here", "A place.")
	below.Flags().Int("v", 0, "Verbosity.")
	cmd.AddCommand(below)
	logs := pflag.NewFlagSet("", pflag.ContinueOnError)
	logs.Int("v", 0, "Verbosity.")
	global := pflag.NewFlagSet("", pflag.ContinueOnError)
	global.Bool("help", false, "Help.")
	const want = generated + `
# program

Does something.

## Main

| flag | default | meaning |
|---|---|---|
| ` + "`-n, --count things`" + ` | ` + "`3`" + ` | How many things\|parts.<br>More lines. |
| ` + "`--off`" + ` |  | A switch. |

## Logs

| flag | default | meaning |
|---|---|---|
| ` + "`--v int`" + ` | ` + "`0`" + ` | Verbosity. |

## below

Does less.

| flag | default | meaning |
|---|---|---|
| ` + "`--where string`" + ` | ` + "`here`" + ` | A place. |
`
	got := page(cmd, []group{{name: "main", flags: flags}, {name: "logs", flags: logs}, {name: "global", flags: global}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong page (-want +got):\n%s", diff)
	}
}
