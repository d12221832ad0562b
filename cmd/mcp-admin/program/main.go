// Package program is the whole of mcp-admin, the program for people. The commands of that name import it: the usual one, and the one with
// DuckDB.
package program

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // an image has no time zones

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

// Main runs the program with its arguments, and exits.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	log.SetLogger(logr.Discard())  // or a library writes after half a minute that nobody has set its log
	klog.SetLogger(logr.Discard()) // each command says itself what went wrong, once and in words
	name := displayName(os.Args[0])
	command := New(name)
	command.SetArgs(arguments(os.Args))
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, output.PrintableBut(err.Error(), "\n\t"))
		os.Exit(1)
	}
}
