/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command sourcecheck holds the rules of the tree that no compiler knows:
//
//   - a hand-written Go file has at most 400 lines and a function at most 60;
//   - a hand-written source file starts with the header of
//     hack/boilerplate.go.txt, in the comment style of its language;
//   - no text file names a path of somebody's machine, the host of a package
//     registry, or work that is left for later.
//
// It looks at what git tracks or would track, so that an editor's leftovers and
// build output do not count. A rule that a file cannot keep is lifted in
// exceptions.txt, by name and with a reason; an exception that lifts nothing is
// itself an error.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "top of the repository")
	flag.Parse()

	problems, err := check(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sourcecheck:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		fmt.Fprintf(os.Stderr, "sourcecheck: %d problems; exceptions go to %s, each with its reason\n", len(problems), exceptionsPath)
		os.Exit(1)
	}
}
