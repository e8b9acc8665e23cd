/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command flagsreference writes a page about the flags of every program, from the
// definitions that the programs themselves parse and print with --help.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	apiserver "inferencecache.io/inference-cache/cmd/apiserver/app"
	subscriber "inferencecache.io/inference-cache/cmd/kvevent-subscriber/app"
	manager "inferencecache.io/inference-cache/cmd/manager/app"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: flagsreference DIRECTORY")
		os.Exit(2)
	}
	for name, page := range pages() {
		// A page is as readable as the rest of the tree.
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(page), 0o644); err != nil { //nolint:gosec // not secret
			fmt.Fprintln(os.Stderr, "flagsreference:", err)
			os.Exit(1)
		}
	}
}

// pages returns the text of every page by the name of its file.
func pages() map[string]string {
	server := apiserver.New()
	var groups []group
	for _, name := range server.Groups.Order {
		groups = append(groups, group{name: name, flags: server.Groups.FlagSets[name]})
	}
	return map[string]string{
		"apiserver.md":          page(server.Command, groups),
		"kvevent-subscriber.md": page(subscriber.New(), nil),
		"manager.md":            page(manager.New(), nil),
	}
}

// commands returns the commands below one that do something, deepest last.
func commands(cmd *cobra.Command) []*cobra.Command {
	var below []*cobra.Command
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.HasSubCommands() {
			below = append(below, c)
		}
		below = append(below, commands(c)...)
	}
	return below
}
