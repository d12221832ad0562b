package main

import (
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
)

func TestTheCommandLine(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		env  string
		// wrong is part of the message; "" if the command line is right.
		wrong, image string
		namespaces   []string
	}{
		"with an image":                {args: []string{"--server-image=a"}, image: "a"},
		"with an image of the machine": {env: "b", image: "b"},
		"with both, the flag counts":   {args: []string{"--server-image=a"}, env: "b", image: "a"},
		"without an image":             {wrong: "--server-image or MCP_ADMIN_SERVER_IMAGE is required"},
		"with namespaces":              {args: []string{"--namespace=x", "--namespace=y"}, env: "b", image: "b", namespaces: []string{"x", "y"}},
		"with an unknown flag":         {args: []string{"--nonsense"}, env: "b", wrong: "flag provided but not defined"},
		"with an argument":             {args: []string{"nonsense"}, env: "b", wrong: `unexpected argument "nonsense"`},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			o, err := parse(row.args, func(string) string { return row.env }, &said)
			if (err != nil) != (row.wrong != "") || !strings.Contains(said.String(), row.wrong) {
				t.Fatalf("%v, said %q", err, said.String())
			}
			if err == nil && (o.serverImage != row.image || !slices.Equal(o.namespaces, row.namespaces) || o.metricsAddress != "0" || o.leaderElect) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestHelpNamesEveryFlagAndIsNoMistake(t *testing.T) {
	var said strings.Builder
	_, err := parse([]string{"--help"}, func(string) string { return "" }, &said)
	if !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, name := range []string{"-server-image", "-leader-elect", "-metrics-bind-address", "-health-probe-bind-address", "-namespace", "-zap-log-level", "-kubeconfig"} {
		if !strings.Contains(said.String(), name) {
			t.Errorf("%s is not in the help", name)
		}
	}
}
