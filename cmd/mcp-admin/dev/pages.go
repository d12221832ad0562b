package dev

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/cluster"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/doctor"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/laptop"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/status"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/tail"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// pageSource gives the page the manifests that dev serves, with the statuses that controllers would write.
type pageSource struct {
	report *reporter
	paths  []string
	// state is the state folder as the person named it, and admin the URL of the admin port.
	state, admin string
	// calls are the newest calls.
	calls *tail.Newest
}

var _ page.Source = (*pageSource)(nil)

// now are the newest manifests, and what the server said of itself last; it may lag behind.
func (s *pageSource) now() (*outcome, *contract.Status) {
	s.report.mu.Lock()
	defer s.report.mu.Unlock()
	told := s.report.status
	if told == nil {
		told = &contract.Status{Database: contract.DatabaseStatus{Reason: contract.ReasonConnecting, Message: "the server is starting"}}
	}
	return s.report.o, told
}

// Place implements page.Source.
func (s *pageSource) Place() string { return "mcp-admin dev on this machine" }

// Person implements page.Source.
func (s *pageSource) Person() string { return laptop.Person() }

// Cluster implements page.Source: there is none.
func (s *pageSource) Cluster() *cluster.Cluster { return nil }

// Endpoints implements page.Source.
func (s *pageSource) Endpoints(context.Context) (*page.Endpoints, error) {
	o, told := s.now()
	return &page.Endpoints{Items: []v1alpha1.MCPEndpoint{*o.endpointWith(told)}}, nil
}

// of returns what is served, if the endpoint is that.
func (s *pageSource) of(endpoint types.NamespacedName) (*outcome, *contract.Status, error) {
	o, told := s.now()
	if cluster.Key(o.endpoint) != endpoint {
		return nil, nil, fmt.Errorf("only MCPEndpoint %s is served here", cluster.Key(o.endpoint))
	}
	return o, told, nil
}

// Objects implements page.Source.
func (s *pageSource) Objects(_ context.Context, endpoint types.NamespacedName) (*rights.Objects, error) {
	o, told, err := s.of(endpoint)
	if err != nil {
		return nil, err
	}
	return o.objects(told), nil
}

// Status implements page.Source. The server is its only pod.
func (s *pageSource) Status(ctx context.Context, endpoint types.NamespacedName) (*status.Status, error) {
	o, told, err := s.of(endpoint)
	if err != nil {
		return nil, err
	}
	e := o.endpointWith(told)
	found := doctor.OfServed(o.served(told))
	answer := status.Of(e, found, time.Now())
	objects := o.objects(told)
	answer.AddModels(objects.Exposures)
	answer.AddTokens(objects.Tokens)
	answer.Pods = append(answer.Pods, status.Pod{Name: "mcp-admin dev", Ready: told.Ready, Image: "this process"})
	if metrics, err := s.metrics(ctx); err != nil {
		answer.Unseen = append(answer.Unseen, "metrics: "+err.Error())
	} else if err := answer.AddMetrics(0, metrics); err != nil {
		return nil, err
	}
	answer.Pods[0].Revision = &told.Revision
	return answer, nil
}

// maxMetrics bounds what is read of the server's metrics, in bytes.
const maxMetrics = 8 << 20

func (s *pageSource) metrics(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := s.report.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(io.LimitReader(answer.Body, maxMetrics))
}

// Diagnose implements page.Source.
func (s *pageSource) Diagnose(context.Context) (*doctor.Diagnosis, error) {
	o, told := s.now()
	return doctor.OfServed(o.served(told)), nil
}

// Approvals implements page.Source.
func (s *pageSource) Approvals(context.Context) ([]v1alpha1.MCPApproval, error) {
	return s.report.approvals.list(), nil
}

// Decide implements page.Source.
func (s *pageSource) Decide(_ context.Context, approval types.NamespacedName, verdict v1alpha1.ApprovalVerdict, comment string) error {
	return s.report.approvals.decide(approval.Name, v1alpha1.ApprovalDecision{DecidedBy: s.Person(), Decision: verdict, Comment: comment}, time.Now())
}

// Command implements page.Source. Commands that read objects read the same files.
func (s *pageSource) Command(name string, endpoint types.NamespacedName, args ...string) string {
	words := append([]string{"mcp-admin", name}, args...)
	switch name {
	case "doctor", "call", "approvals", "approve", "deny":
		return page.CommandLine(append(words, "--state", s.state)...)
	case "matrix", "who", "can":
		if len(s.paths) == 0 {
			return "" // nobody wrote the manifests
		}
		for _, path := range s.paths {
			words = append(words, "-f", path)
		}
		if name == "who" {
			words = append(words, "-e", endpoint.Name)
		}
		return page.CommandLine(words...)
	}
	return ""
}

// endpointWith is the endpoint with the status that controllers would write.
func (o *outcome) endpointWith(told *contract.Status) *v1alpha1.MCPEndpoint {
	e := o.endpoint.DeepCopy()
	reached := told.Database.Reason == contract.ReasonConnected
	models, tokens := int32(0), int32(0)
	for i := range told.Models {
		if told.Models[i].Served() {
			models++
		}
	}
	for _, v := range o.verdicts.Tokens {
		if v.InForce {
			tokens++
		}
	}
	pods := int32(1)
	e.Status = v1alpha1.MCPEndpointStatus{ObservedGeneration: e.Generation, URL: o.config.Endpoint.URL, ModelCount: &models, TokenCount: &tokens, Revision: o.config.Revision,
		CurrentReplicas: &pods, ReadyDisplay: "0/1", Database: v1alpha1.DatabaseStatus{Engine: told.Database.Engine, Version: told.Database.Version}, Notes: o.verdicts.Endpoint.Notes}
	if untold := o.untold(told); untold != "" {
		e.Status.Notes = append(slices.Clip(e.Status.Notes), untold)
	}
	set := func(name string, holds bool, reason, message string) {
		meta.SetStatusCondition(&e.Status.Conditions, conditionOf(name, holds, reason, message))
	}
	set(v1alpha1.ConditionDatabaseReady, reached, told.Database.Reason, told.Database.Message)
	set(v1alpha1.ConditionProgrammed, told.Revision == o.config.Revision, v1alpha1.ReasonProgrammed, "")
	set(v1alpha1.ConditionWorkloadAvailable, true, v1alpha1.ReasonAvailable, "")
	if problems := o.policyProblems(told); len(problems) > 0 {
		set(v1alpha1.ConditionApprovalsReady, false, v1alpha1.ReasonApprovalPolicyInvalid, "approval policies cannot be judged: "+strings.Join(slices.Sorted(maps.Keys(problems)), ", "))
	} else if len(e.Spec.Approvals) > 0 {
		set(v1alpha1.ConditionApprovalsReady, true, v1alpha1.ReasonApprovalsTaken, "")
	}
	if told.Ready && reached {
		e.Status.ReadyDisplay = "1/1"
		set(v1alpha1.ConditionReady, true, v1alpha1.ReasonReady, "")
	} else {
		set(v1alpha1.ConditionReady, false, told.Database.Reason, told.Database.Message)
	}
	return e
}

func conditionOf(name string, holds bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: name, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if holds {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// objects are the endpoint's objects with the statuses that controllers would write.
func (o *outcome) objects(told *contract.Status) *rights.Objects {
	objects := &rights.Objects{Endpoint: o.endpointWith(told), Labels: maps.Clone(o.manifests.NamespaceLabels)}
	for i := range o.manifests.Exposures {
		x := &o.manifests.Exposures[i]
		if x.Namespace == o.endpoint.Namespace && x.Spec.EndpointRef.Name == o.endpoint.Name {
			objects.Exposures = append(objects.Exposures, *o.exposureWith(x, told))
		}
	}
	for i := range o.manifests.Tokens {
		t := o.manifests.Tokens[i].DeepCopy()
		if t.Endpoint() != cluster.Key(o.endpoint) {
			continue
		}
		v := o.verdicts.Tokens[cluster.Key(t)]
		t.Status.ObservedGeneration = t.Generation
		meta.SetStatusCondition(&t.Status.Conditions, conditionOf(v1alpha1.ConditionReady, v.InForce || v.Reason == v1alpha1.ReasonExpired || v.Reason == v1alpha1.ReasonInactive, readyReason(v.InForce, v.Reason), v.Message))
		objects.Tokens = append(objects.Tokens, *t)
	}
	return objects
}

func readyReason(inForce bool, reason string) string {
	if inForce || reason == "" {
		return v1alpha1.ReasonReady
	}
	return reason
}

// exposureWith is an exposure with the status that controllers would write.
func (o *outcome) exposureWith(x *v1alpha1.MCPModelExposure, told *contract.Status) *v1alpha1.MCPModelExposure {
	x = x.DeepCopy()
	x.Status = v1alpha1.MCPModelExposureStatus{ObservedGeneration: x.Generation, Model: x.EffectiveModel(), Table: x.Spec.Table.String()}
	v := o.verdicts.Exposures[cluster.Key(x)]
	ready := conditionOf(v1alpha1.ConditionReady, v.Accepted, v.Reason, v.Message)
	if i := slices.IndexFunc(told.Models, func(m contract.ModelStatus) bool { return m.Exposure == x.Name }); v.Accepted && i >= 0 {
		m := &told.Models[i]
		ready = conditionOf(v1alpha1.ConditionReady, m.Served(), m.Reason, m.Message)
		x.Status.Columns, x.Status.HiddenColumns, x.Status.MaskedColumns, x.Status.ReadOnlyColumns = m.Columns, m.Hidden, m.Masked, m.ReadOnly
		x.Status.Key, x.Status.Tools, x.Status.Notes = m.Key, m.Tools, m.Notes
		if m.Table != "" {
			x.Status.Table = m.Table
		}
		for _, fk := range m.ForeignKeys {
			x.Status.ForeignKeys = append(x.Status.ForeignKeys, v1alpha1.ForeignKeyStatus{Columns: fk.Columns, Model: fk.Model})
		}
		meta.SetStatusCondition(&x.Status.Conditions, conditionOf(v1alpha1.ConditionResolved, m.Served(), m.Reason, m.Message))
	}
	if strings.TrimSpace(ready.Reason) == "" {
		ready.Reason = v1alpha1.ReasonReady
	}
	meta.SetStatusCondition(&x.Status.Conditions, ready)
	return x
}
