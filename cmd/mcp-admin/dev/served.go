package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// tell writes what other commands may know of what is served.
func (s *State) tell(served *laptop.Served) error {
	content, err := json.MarshalIndent(served, "", "  ")
	if err != nil {
		return err
	}
	return s.write(laptop.File, append(content, '\n'))
}

// silence removes what was told: nothing is served any more.
func (s *State) silence() error {
	if err := s.root.Remove(laptop.File); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// served is the information for other commands.
func (o *outcome) served(status *contract.Status) *laptop.Served {
	s := &laptop.Served{Endpoint: o.endpoint.Namespace + "/" + o.endpoint.Name, URL: o.config.Endpoint.URL}
	problem := func(kind, name, reason, message string) {
		s.Problems = append(s.Problems, laptop.Problem{Object: kind + " " + name, Reason: reason, Message: message})
	}
	if d := status.Database; d.Reason != contract.ReasonConnected {
		problem("MCPEndpoint", s.Endpoint, d.Reason, d.Message)
	} else if d.AuditProblem != "" {
		problem("MCPEndpoint", s.Endpoint, "", "audit: "+d.AuditProblem)
	}
	problems := o.policyProblems(status)
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		problem("MCPEndpoint", s.Endpoint, v1alpha1.ReasonApprovalPolicyInvalid, "the approval policy "+name+" "+cannotBeJudged+problems[name])
	}
	for _, m := range status.Models {
		if !m.Served() {
			problem("model", m.Name, m.Reason, m.Message)
		}
	}
	for _, key := range sortedKeys(o.verdicts.Exposures) {
		if v := o.verdicts.Exposures[key]; !v.Accepted {
			problem("MCPModelExposure", key.String(), v.Reason, v.Message)
		}
	}
	for _, key := range sortedKeys(o.verdicts.Tokens) {
		t := laptop.Token{Name: key.String(), Text: o.texts[key], File: o.files[key]}
		if v := o.verdicts.Tokens[key]; !v.InForce {
			t.Refused = fmt.Sprintf("%s: %s", v.Reason, v.Message)
			problem("MCPToken", key.String(), v.Reason, v.Message)
		}
		s.Tokens = append(s.Tokens, t)
	}
	return s
}
