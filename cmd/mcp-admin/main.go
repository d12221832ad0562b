// Command mcp-admin is the program for people: it tries a database out, writes manifests, connects clients, and asks a
// cluster's endpoints what they do. As kubectl-mcp_admin on the PATH it is the kubectl plugin "kubectl mcp-admin".
package main

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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop)   // a second signal ends the process at once
	log.SetLogger(logr.Discard())  // or a library writes after half a minute that nobody has set its log
	klog.SetLogger(logr.Discard()) // each command says itself what went wrong, once and in words
	name := displayName(os.Args[0])
	command := newCommand(name)
	command.SetArgs(arguments(os.Args))
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, output.PrintableBut(err.Error(), "\n\t"))
		os.Exit(1)
	}
}
