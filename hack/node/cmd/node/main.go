// Command node makes package node usable from a shell:
//
//	go run ./hack/node/cmd/node check        say what keeps a node from running on this machine
//	go run ./hack/node/cmd/node clean DIR    take away what a node left behind that was killed
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/hack/node"
)

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "check":
		if err := node.Check(); err != nil {
			fmt.Println("this machine cannot run a node:\n  " + strings.ReplaceAll(err.Error(), "\n", "\n  "))
			os.Exit(1)
		}
	case len(args) == 2 && args[0] == "clean":
		if err := node.Clean(args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: node {check | clean DIR}")
		os.Exit(2)
	}
}
