package faults

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// selfTest runs "mcp-admin doctor --engine" on a database.
func selfTest(t *testing.T, uri string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	command := doctor.Command()
	command.SetArgs(append([]string{"--engine", "--dsn", uri}, args...))
	command.SetOut(&out)
	command.SetErr(&bytes.Buffer{})
	command.SilenceUsage, command.SilenceErrors = true, true
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

// A node of a cluster commits a new table by itself, and says that the transaction was undone.
func TestTheSelfTestOnAClusterLeavesNothing(t *testing.T) {
	first, second := galera(t)
	_, plain := harness.On(t, first+"mysql", "create database tried")
	for node, uri := range map[string]string{"first": first, "second": second} {
		text, err := selfTest(t, uri+"tried", "--schema", "tried")
		if err != nil || !strings.Contains(text, ", 0 fail, ") {
			t.Errorf("the %s node: %v\n%s", node, err, text)
		}
		var left int
		if err := plain.QueryRow("select count(*) from information_schema.tables where table_schema = 'tried'").Scan(&left); err != nil || left > 0 {
			t.Errorf("the %s node: %d tables are left, %v", node, left, err)
		}
	}
	s := &served{T: t, engine: "Galera"}
	s.held("the self-test of an engine: all works on both nodes, nothing is left")
}

func TestTheSelfTestOnAStandbyReadsAlone(t *testing.T) {
	primary, standby := folder(t), folder(t)
	uri := control(t, "start", "-engine", "postgres", "-data", primary)
	t.Cleanup(func() { control(t, "stop", "-engine", "postgres", "-data", primary) })
	_, plain := harness.On(t, uri, script)
	following := control(t, "start", "-engine", "standby", "-data", standby, "-primary", uri)
	t.Cleanup(func() { control(t, "stop", "-engine", "standby", "-data", standby) })
	waitFor(t, following, "select 1 from account where id = 1")
	if text, err := selfTest(t, following); err != nil || !strings.Contains(text, " 0 differ, 0 fail") {
		t.Errorf("without tables: %v\n%s", err, text)
	}
	if text, err := selfTest(t, following, "--schema", "public"); err == nil || !strings.Contains(err.Error(), "it is a standby") {
		t.Errorf("with tables: %v\n%s", err, text)
	}
	var left int
	if err := plain.QueryRow("select count(*) from pg_class where relname like 'mcp_admin_selftest%'").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d tables are left, %v", left, err)
	}
	s := &served{T: t, engine: "PostgreSQL"}
	s.held("the self-test of an engine, on a standby: what only reads works, tables are refused")
}
