/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Flags are what vLLM makes of a command line, as far as wiring depends on it.
type Flags struct {
	// Transfer is the connector's configuration; nil when none is set.
	Transfer *TransferConfig
	// Events is the configuration of the event publisher; nil when none is set.
	Events *EventsConfig
	// OffloadingSize is --kv-offloading-size in GiB, 0 when it is not set. With it the
	// engine replaces whatever connector it was given by OffloadingBackend's.
	OffloadingSize float64
	// OffloadingBackend is native or lmcache; empty without OffloadingSize.
	OffloadingBackend string
	// DisableHybrid and PrefixCaching are nil when the engine's default stands.
	DisableHybrid, PrefixCaching *bool
	// ConfigFile is the file whose entries the engine reads before its command line;
	// empty when there is none. Entries behind a point there beat the command line.
	ConfigFile string
	// Port is where the engine serves; 0 when it is not set, -1 when it is no number.
	Port int
	// DataParallelSize is the number of ranks, at least 1.
	DataParallelSize int
	// TLS says that the engine serves HTTPS.
	TLS bool
}

// form is how a value came to be.
type form struct {
	// at is the place of the value among the arguments.
	at int
	// before is what that argument holds in front of the value; of a value that was
	// given member by member, what stands in front of the key.
	before string
	// dotted says that the value was given member by member.
	dotted bool
}

// flagKind is what follows a flag.
type flagKind int

const (
	takesValue flagKind = iota
	takesNothing
)

// flag is one that is read. The engine takes every beginning of its name that no
// other of its flags shares; shortest is the first such beginning.
type flag struct {
	name, shortest string
	kind           flagKind
	set            func(p *parser, value string, how form) error
}

// parser collects flags.
type parser struct {
	flags Flags
	args  []string
	// groups are the values given member by member, by the spelling of their flag, in
	// the order of first appearance.
	groups []*group
}

// group is a value given member by member.
type group struct {
	name string
	root map[string]any
}

// known returns the flags that are read.
func known() []flag {
	return []flag{
		{"kv-transfer-config", "kv-t", takesValue, (*parser).setTransfer},
		{"kv-events-config", "kv-e", takesValue, (*parser).setEvents},
		{"kv-offloading-size", "kv-offloading-s", takesValue, (*parser).setOffloadingSize},
		{"kv-offloading-backend", "kv-offloading-b", takesValue, (*parser).setOffloadingBackend},
		{"disable-hybrid-kv-cache-manager", "disable-h", takesNothing, func(p *parser, _ string, _ form) error { return setBool(&p.flags.DisableHybrid, true) }},
		{"no-disable-hybrid-kv-cache-manager", "no-disable-h", takesNothing, func(p *parser, _ string, _ form) error { return setBool(&p.flags.DisableHybrid, false) }},
		{"enable-prefix-caching", "enable-pre", takesNothing, func(p *parser, _ string, _ form) error { return setBool(&p.flags.PrefixCaching, true) }},
		{"no-enable-prefix-caching", "no-enable-pre", takesNothing, func(p *parser, _ string, _ form) error { return setBool(&p.flags.PrefixCaching, false) }},
		{"data-parallel-size", "data-parallel-size", takesValue, (*parser).setDataParallelSize},
		{"port", "port", takesValue, (*parser).setPort},
		{"ssl-certfile", "ssl-certf", takesValue, func(p *parser, value string, _ form) error { p.flags.TLS = value != ""; return nil }},
	}
}

// find returns the flag that a name without dashes is taken for, or nil.
func find(name string) *flag {
	for _, f := range known() {
		if strings.HasPrefix(f.name, name) && len(name) >= len(f.shortest) {
			return &f
		}
	}
	return nil
}

// ParseFlags reads a command line as vLLM 0.32.0 does; 0.22.1 differs in nothing
// that is read. An error says that the engine would not start with it. Flags that
// wiring does not depend on are passed over, whether or not the engine knows them.
func ParseFlags(args []string) (Flags, error) {
	p := parser{flags: Flags{DataParallelSize: 1}, args: args}
	if err := p.configFile(); err != nil {
		return Flags{}, err
	}
	for i := 0; i < len(args); {
		next, err := p.argument(i)
		if err != nil {
			return Flags{}, err
		}
		i = next
	}
	// The engine writes each group out as one JSON behind all other arguments.
	for _, g := range p.groups {
		f := find(g.name)
		if f == nil {
			continue
		}
		if err := p.setGroup(f, g); err != nil {
			return Flags{}, err
		}
	}
	if p.flags.OffloadingSize > 0 && p.flags.OffloadingBackend == "" {
		p.flags.OffloadingBackend = "native"
	}
	return p.flags, nil
}

// configFile looks for --config, which is only seen when it stands by itself.
func (p *parser) configFile() error {
	at := slices.Index(p.args, "--config")
	if at < 0 {
		return nil
	}
	if at+1 == len(p.args) {
		return fmt.Errorf("--config has no value")
	}
	if slices.Contains(p.args[at+1:], "--config") {
		return fmt.Errorf("--config is given more than once")
	}
	p.flags.ConfigFile = p.args[at+1]
	return nil
}

// argument reads the argument at i and returns the place of the next one.
func (p *parser) argument(i int) (int, error) {
	token := p.args[i]
	switch {
	case token == "--" && i+1 < len(p.args):
		return 0, fmt.Errorf("arguments follow --: %s", p.args[i+1])
	case strings.HasPrefix(token, "@"):
		return 0, fmt.Errorf("%s is no argument of the engine", token)
	case !strings.HasPrefix(token, "--"):
		return p.short(i)
	}
	spelled, value, joined := strings.Cut(token[len("--"):], "=")
	name, key, dotted := strings.Cut(spelled, ".")
	name = strings.ReplaceAll(name, "_", "-")
	if dotted {
		return p.member(i, name, key, value, joined)
	}
	f := find(name)
	switch {
	case f == nil:
		return i + 1, nil
	case f.kind == takesNothing && joined:
		return 0, fmt.Errorf("--%s takes no value, and %q was given", f.name, value)
	case f.kind == takesNothing:
		return i + 1, f.set(p, "", form{at: i})
	case joined:
		return i + 1, f.set(p, value, form{at: i, before: token[:len(token)-len(value)]})
	case i+1 == len(p.args) || isFlag(p.args[i+1]):
		return 0, fmt.Errorf("--%s expects a value", f.name)
	}
	return i + 2, f.set(p, p.args[i+1], form{at: i + 1})
}

// short reads an argument with one dash or none.
func (p *parser) short(i int) (int, error) {
	token := p.args[i]
	name, dash := strings.CutPrefix(strings.ReplaceAll(token, "_", "-"), "-")
	if dash && strings.HasPrefix(name, "kv-") {
		return 0, fmt.Errorf("%s has one dash, which is no flag of the engine", token)
	}
	if token == "-dp" && i+1 < len(p.args) {
		return i + 2, p.setDataParallelSize(p.args[i+1], form{at: i + 1})
	}
	return i + 1, nil
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

// member reads --name.key, whose value may be anything that follows.
func (p *parser) member(i int, name, key, value string, joined bool) (int, error) {
	next := i + 1
	if !joined {
		if next == len(p.args) {
			return 0, fmt.Errorf("--%s.%s expects a value", name, key)
		}
		value = p.args[next]
		next++
	}
	at := slices.IndexFunc(p.groups, func(g *group) bool { return g.name == name })
	if at < 0 {
		at = len(p.groups)
		p.groups = append(p.groups, &group{name: name, root: map[string]any{}})
	}
	insert(p.groups[at].root, strings.Split(key, "."), readValue(value))
	return next, nil
}

// insert puts a value at a path of keys.
func insert(into map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := into[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[key] = inner
		}
		into = inner
	}
	into[path[len(path)-1]] = value
}

// setGroup sets a flag that was given member by member.
func (p *parser) setGroup(f *flag, g *group) (err error) {
	switch f.name {
	case "kv-transfer-config":
		p.flags.Transfer, err = newTransferConfig(g.root, form{dotted: true, before: "--" + g.name + "."})
	case "kv-events-config":
		p.flags.Events, err = newEventsConfig(g.root)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", f.name, err)
	}
	return nil
}

func setBool(to **bool, value bool) error {
	*to = &value
	return nil
}

func (p *parser) setOffloadingSize(value string, _ form) error {
	if isUnset(value) {
		p.flags.OffloadingSize = 0
		return nil
	}
	size, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("--kv-offloading-size: %q is no number", value)
	}
	p.flags.OffloadingSize = size
	return nil
}

func (p *parser) setOffloadingBackend(value string, _ form) error {
	p.flags.OffloadingBackend = value
	return nil
}

func (p *parser) setDataParallelSize(value string, _ form) error {
	size, err := strconv.Atoi(value)
	if err != nil || size < 1 {
		return fmt.Errorf("--data-parallel-size: %q is no number of ranks", value)
	}
	p.flags.DataParallelSize = size
	return nil
}

// setPort keeps a port that is not known here, such as a variable from elsewhere,
// apart from none.
func (p *parser) setPort(value string, _ form) error {
	port, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		p.flags.Port = -1
		return nil
	}
	p.flags.Port = int(port)
	return nil
}

// isUnset tells whether a value takes back what was set before.
func isUnset(value string) bool {
	return value == "" || value == "None"
}
