package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

func TestALineAboutARefusedCaller(t *testing.T) {
	from := &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1"}
	for _, row := range []struct {
		refused audit.Refused
		want    map[string]any
	}{
		{
			audit.Refused{Cause: "expired", Condition: "Expired", Token: "shop/agent", PublicID: "mcp_K65skIkwURV9294z", More: 12},
			map[string]any{"token": "shop/agent", "token_id": "mcp_K65skIkwURV9294z", "cause": "expired", "condition": "Expired", "more_refused": 12.0},
		},
		{
			audit.Refused{Cause: "no_mcptoken", Subject: "ann", Issuer: "https://login.example.com"},
			map[string]any{"cause": "no_mcptoken", "subject": "ann", "issuer": "https://login.example.com"},
		},
		{audit.Refused{Cause: "unknown"}, map[string]any{"cause": "unknown"}},
	} {
		var out bytes.Buffer
		if err := audit.NewLog(&out).WriteRefused(audit.WithOrigin(t.Context(), from), &row.refused); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "time")
		for name, value := range map[string]any{"level": "INFO", "msg": "audit", "operation": "authenticate", "outcome": "refused", "address": "10.1.2.3", "client": "claude-code 2.1"} {
			row.want[name] = value
		}
		if !reflect.DeepEqual(got, row.want) {
			t.Errorf("got  %v\nwant %v", got, row.want)
		}
	}
}

func TestARefusedCallerIsAnEventOfAuthentication(t *testing.T) {
	published := readSchema(t)
	ann := &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1"}
	for _, from := range []*audit.Caller{ann, {}} {
		for _, r := range []*audit.Refused{
			{Cause: "expired", Condition: "Expired", Token: "shop/agent", PublicID: "mcp_K65skIkwURV9294z", More: 12},
			{Cause: "no_mcptoken", Subject: "ann", Issuer: "https://login.example.com"}, {Cause: "unknown"},
		} {
			event := events(t, from, func(l *audit.Log, o audit.Origin) { _ = l.WriteRefused(audit.WithOrigin(t.Context(), o), r) })[0]
			published.check(t, "authentication", r.Cause, event)
			if r.Token == "" {
				continue
			}
			user := event["user"].(map[string]any)
			got := fmt.Sprint([]any{user["uid"], user["credential_uid"], event["status_code"], event["status_detail"], event["unmapped"]})
			if want := "[shop/agent mcp_K65skIkwURV9294z expired Expired map[more_refused:12 operation:authenticate]]"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

func TestWhatARefusedCallerSendsNeitherFillsNorBreaksTheLog(t *testing.T) {
	long := strings.Repeat("x\n", 5000)
	for _, ocsf := range []bool{false, true} {
		var out bytes.Buffer
		log := audit.NewLog(&out)
		log.Use(audit.Settings{OCSF: ocsf})
		_ = log.WriteRefused(audit.WithOrigin(t.Context(), &audit.Caller{Address: long, Client: long}), &audit.Refused{Cause: "unknown", PublicID: long, Subject: long, Issuer: long})
		if line := out.String(); len(line) > 4096 || strings.Count(line, "\n") != 1 {
			t.Errorf("the line has %d bytes and %d ends", len(line), strings.Count(line, "\n"))
		}
	}
}
