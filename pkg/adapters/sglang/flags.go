/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

// Container is the name of the engine's container in a Pod that has several.
const Container = "sglang"

// Flags of the engine that wiring reads or sets.
const (
	FlagEnableLMCache      = "--enable-lmcache"
	FlagLMCacheConfigFile  = "--lmcache-config-file"
	FlagEnableHiCache      = "--enable-hierarchical-cache"
	FlagHiCacheSize        = "--hicache-size"
	FlagHiCacheRatio       = "--hicache-ratio"
	FlagHiCacheWritePolicy = "--hicache-write-policy"
	FlagHiCacheIOBackend   = "--hicache-io-backend"
	FlagHiCacheMemLayout   = "--hicache-mem-layout"

	flagEvents        = "--kv-events-config"
	flagEnableMetrics = "--enable-metrics"
	flagRanks         = "--dp-size"
	flagPort          = "--port"
	flagCertificate   = "--ssl-certfile"
	flagConfig        = "--config"
)

// spelling is how a flag may be written: every beginning of its name from shortest
// on. Nothing else of the engine's begins like that.
type spelling struct {
	flag, shortest string
	takesValue     bool
}

func spellings() []spelling {
	return []spelling{
		{FlagEnableLMCache, "--enable-lm", false},
		{FlagLMCacheConfigFile, "--lmcache", true},
		{FlagEnableHiCache, "--enable-hie", false},
		{FlagHiCacheSize, "--hicache-si", true},
		{FlagHiCacheRatio, "--hicache-r", true},
		{FlagHiCacheWritePolicy, "--hicache-w", true},
		{FlagHiCacheIOBackend, "--hicache-i", true},
		{FlagHiCacheMemLayout, "--hicache-m", true},
		{flagEvents, "--kv-e", true},
		{flagEnableMetrics, flagEnableMetrics, false},
		{flagRanks, flagRanks, true},
		{flagPort, flagPort, true},
		{flagCertificate, "--ssl-certf", true},
		{flagConfig, flagConfig, true},
	}
}

// spelled returns what a flag is short for, if it is one that is read.
func spelled(flag string) (spelling, bool) {
	if flag == "--dp" || flag == "--data-parallel-size" {
		flag = flagRanks
	}
	for _, s := range spellings() {
		if strings.HasPrefix(s.flag, flag) && len(flag) >= len(s.shortest) {
			return s, true
		}
	}
	return spelling{}, false
}

// Flags are the values of the flags that wiring depends on, in the order in which
// they were given: the engine takes the last. A flag without a value has empty texts.
type Flags map[string][]string

// ParseFlags reads a command line as SGLang does, which takes no underscores for
// dashes. An error says that the engine would not start with it.
func ParseFlags(args []string) (Flags, error) {
	flags := Flags{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		s, read := spelled(name)
		switch {
		case !read:
			continue
		case !s.takesValue && joined:
			return nil, fmt.Errorf("%s takes no value, and %q was given", s.flag, value)
		case s.takesValue && !joined:
			if i++; i == len(args) || isFlag(args[i]) {
				return nil, fmt.Errorf("%s expects a value", s.flag)
			}
			value = args[i]
		}
		flags[s.flag] = append(flags[s.flag], value)
	}
	return flags, nil
}

// isFlag tells a flag from a value as Python's parser does, which takes negative
// numbers for values.
func isFlag(token string) bool {
	if len(token) < 2 || token[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(token, 64)
	return err != nil
}

// Given tells whether a flag was given.
func (f Flags) Given(flag string) bool {
	return len(f[flag]) > 0
}

// last returns the value that counts, and whether there is one.
func (f Flags) last(flag string) (string, bool) {
	values := f[flag]
	if len(values) == 0 {
		return "", false
	}
	return values[len(values)-1], true
}

// ranks returns the number of data-parallel ranks, 1 if it is not known.
func (f Flags) ranks() int {
	text, _ := f.last(flagRanks)
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return 1
}

// port returns where the engine serves, 0 when that is not said and -1 when it is no
// number.
func (f Flags) port() int {
	text, given := f.last(flagPort)
	if !given {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// eventsConfig is the value of --kv-events-config.
type eventsConfig struct {
	Publisher string `json:"publisher"`
	Endpoint  string `json:"endpoint"`
	Replay    string `json:"replay_endpoint,omitempty"`
	Topic     string `json:"topic,omitempty"`
}

// events returns the configuration of the publisher, or nil when none was given.
func (f Flags) events() (*eventsConfig, error) {
	text, given := f.last(flagEvents)
	if !given {
		return nil, nil
	}
	c := &eventsConfig{Publisher: "null", Endpoint: wiring.EventsEndpoint()}
	if err := json.Unmarshal([]byte(text), c); err != nil {
		return nil, fmt.Errorf("%s: %w", flagEvents, err)
	}
	return c, nil
}

// Engine returns the engine's container in a Pod.
func Engine(pod *corev1.Pod) (*corev1.Container, error) {
	return wiring.EngineContainer(pod, Container, func(c *corev1.Container) bool {
		_, flags, err := Read(c)
		return err == nil && (flags.Given(FlagEnableLMCache) || flags.Given(FlagEnableHiCache) || flags.Given(flagEvents))
	})
}

// Read returns what an engine's container is started with.
func Read(engine *corev1.Container) (*wiring.CommandLine, Flags, error) {
	line, err := wiring.ReadCommandLine(engine, "sglang.launch_server", "launch_server.py", "serve")
	if err != nil {
		return nil, nil, err
	}
	flags, err := ParseFlags(line.Args)
	switch {
	case err != nil:
		return nil, nil, wiring.Refuse(wiring.ReasonEngineArguments, "SGLang would refuse its arguments: %v", err)
	case flags.Given(flagConfig):
		file, _ := flags.last(flagConfig)
		return nil, nil, wiring.Refuse(wiring.ReasonConfigFile,
			"SGLang reads flags from %s, which may set what wiring sets; give these flags in args", file)
	}
	return line, flags, nil
}
