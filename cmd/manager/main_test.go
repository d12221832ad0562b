package main

import (
	"errors"
	"flag"
	"io"
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
		"with no image's name":         {args: []string{"--server-image=Not An Image"}, wrong: `--server-image: "Not An Image" is not the name of an image`},
		"with a digest":                {env: "r.example.com:5000/mcp/server:v1@sha256:" + strings.Repeat("a", 64), image: "r.example.com:5000/mcp/server:v1@sha256:" + strings.Repeat("a", 64)},
		"with a pattern of images":     {args: []string{"--allow-server-image=r.example.com/*"}, env: "b", image: "b"},
		"with a * in the middle":       {args: []string{"--allow-server-image=r.*/server"}, env: "b", wrong: "--allow-server-image"},
		"with an allowed nothing":      {args: []string{"--allow-server-image="}, env: "b", wrong: "--allow-server-image"},
		"with a wrong namespace":       {args: []string{"--namespace=Shop"}, env: "b", wrong: `--namespace: "Shop" cannot be`},
		"with a namespace twice":       {args: []string{"--namespace=x", "--namespace=x"}, env: "b", wrong: `--namespace: "x" is given twice`},
		"with a wrong own namespace":   {args: []string{"--manager-namespace=a.b"}, env: "b", wrong: "--manager-namespace"},
		"with a port alone":            {args: []string{"--health-probe-bind-address=8081"}, env: "b", wrong: "--health-probe-bind-address"},
		"with profiles at a port":      {args: []string{"--pprof-bind-address=6060"}, env: "b", wrong: "--pprof-bind-address"},
		"with two servers at one port": {args: []string{"--metrics-bind-address=:8080", "--health-probe-bind-address=:8080"}, env: "b", wrong: "give them two ports"},
		"with metrics twice":           {args: []string{"--metrics-bind-address=:8080", "--metrics-bind-address=:8080"}, env: "b", wrong: "is given twice"},
		"with half a second of Lease":  {args: []string{"--leader-elect-lease-duration=500ms"}, env: "b", wrong: "whole seconds"},
		"with too long a deadline":     {args: []string{"--leader-elect-renew-deadline=3s"}, env: "b", wrong: "less than the lease duration"},
		"with too long a period":       {args: []string{"--leader-elect-retry-period=1s"}, env: "b", wrong: "a third of the renew deadline"},
		"with a check alone":           {args: []string{"--check"}},
		"with a question of version":   {args: []string{"--version"}},
		"with how servers are pulled":  {args: []string{"--server-image-pull-policy=Always", "--server-image-pull-secret=mirror"}, env: "b", image: "b"},
		"with an unknown pull policy":  {args: []string{"--server-image-pull-policy=Often"}, env: "b", wrong: "write Always, IfNotPresent or Never"},
		"with no Secret's name":        {args: []string{"--server-image-pull-secret=A B"}, env: "b", wrong: "--server-image-pull-secret"},
		"with no image's name, DuckDB": {args: []string{"--duckdb-server-image=Not An Image"}, env: "b", wrong: `--duckdb-server-image: "Not An Image" is not`},
		"with two mistakes":            {args: []string{"--namespace=Shop"}, wrong: "is required; --namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			o, err := parse(row.args, func(string) string { return row.env }, &said)
			if (err != nil) != (row.wrong != "") || !strings.Contains(said.String(), row.wrong) {
				t.Fatalf("%v, said %q", err, said.String())
			}
			if err == nil && (o.serverImage != row.image || !slices.Equal(o.namespaces, row.namespaces) || len(o.metricsAddresses) > 0 || o.leaderElect) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestTheImageWithDuckDBIsOneOfItsOwn(t *testing.T) {
	variables := map[string]string{imageVariable: "server:1"}
	for _, row := range []struct{ flag, variable, want string }{{}, {"", "b", "b"}, {"a", "b", "a"}} {
		variables[duckDBImageVariable] = row.variable
		var args []string
		if row.flag != "" {
			args = append(args, "--duckdb-server-image="+row.flag)
		}
		o, err := parse(args, func(name string) string { return variables[name] }, io.Discard)
		if err != nil || o.duckDBImage != row.want || o.serverImage != "server:1" {
			t.Errorf("flag %q, variable %q: got %q beside %q, %v; want %q", row.flag, row.variable, o.duckDBImage, o.serverImage, err, row.want)
		}
	}
}

func TestMetricsLeaveOutALocalhostThatIsShared(t *testing.T) {
	both := []string{"127.0.0.1:8080", "10.1.2.3:8080"}
	for _, row := range []struct {
		given []string
		pod   string
		want  []string
	}{
		{nil, "10.1.2.3", []string{"0"}},
		{[]string{"0"}, "10.1.2.3", []string{"0"}},
		{both, "10.1.2.3", both},
		{[]string{"127.0.0.1:8080", "[127.77.0.3]:8080"}, "127.77.0.3", []string{"[127.77.0.3]:8080"}},
		{both, "", both},
	} {
		o := options{metricsAddresses: row.given}
		if got, err := o.ownMetricsAddresses(row.pod); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%v in %q: %v, %v", row.given, row.pod, got, err)
		}
	}
	if _, err := (&options{}).ownMetricsAddresses("x"); err == nil {
		t.Error("a pod's address that is none is taken")
	}
}

func TestHelpNamesEveryFlagAndIsNoMistake(t *testing.T) {
	var said strings.Builder
	_, err := parse([]string{"--help"}, func(string) string { return "" }, &said)
	if !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, name := range []string{"-server-image", "-leader-elect", "-metrics-bind-address", "-health-probe-bind-address", "-pprof-bind-address", "-namespace", "-zap-log-level", "-kubeconfig"} {
		if !strings.Contains(said.String(), name) {
			t.Errorf("%s is not in the help", name)
		}
	}
}
