package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// measureApprovals has a person allow calls, one after the other, while the agent asks every pod again and again: one pod runs the
// call, and the others say that it was done.
func (s *shop) measureApprovals(ctx context.Context, many int) (latencies, error) {
	if err := s.scale(ctx, podsOfApprovals); err != nil {
		return nil, err
	}
	t, err := s.issue(ctx)
	if err != nil {
		return nil, err
	}
	as := rest.CopyConfig(s.lab.config)
	as.Impersonate = rest.ImpersonationConfig{UserName: "ana", Groups: []string{"system:authenticated"}}
	ana, err := client.New(as, client.Options{Scheme: s.lab.client.Scheme()})
	if err != nil {
		return nil, err
	}
	var all latencies
	for n := range many {
		took, err := s.approve(ctx, ana, t.text, fmt.Sprintf(`{"data":{"amount":%d,"note":"refund %d"}}`, 1+n, n))
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	rows, err := s.count(ctx, "SELECT count(*) FROM shop.refund")
	if err == nil && rows != many {
		err = fmt.Errorf("%d calls were allowed, and there are %d rows", many, rows)
	}
	slices.Sort(all)
	return all, err
}

// approve has one call asked for, allowed, and made, and returns how long it took from the decision until all pods acted on it.
func (s *shop) approve(ctx context.Context, ana client.Client, text, arguments string) (time.Duration, error) {
	body := call("create_refund", arguments)
	a, err := s.pods[0].post(ctx, http.DefaultClient, text, body)
	if err != nil || a.told.Code != "approval_required" {
		return 0, errors.Join(err, errors.New(a.text))
	}
	object := &v1alpha1.MCPApproval{}
	key := client.ObjectKey{Namespace: namespace, Name: name + "-" + a.told.Approval}
	if err := until(ctx, "there is an MCPApproval", func() (bool, error) {
		err := ana.Get(ctx, key, object)
		return err == nil, client.IgnoreNotFound(err)
	}); err != nil {
		return 0, err
	}
	object.Spec.Decisions = append(object.Spec.Decisions, v1alpha1.ApprovalDecision{DecidedBy: "ana", Decision: v1alpha1.VerdictApprove})
	began := time.Now()
	if err := ana.Update(ctx, object); err != nil {
		return 0, err
	}
	ran, failures := 0, make([]error, len(s.pods))
	var mu sync.Mutex
	var asking sync.WaitGroup
	for i, p := range s.pods {
		asking.Go(func() {
			failures[i] = until(ctx, "an allowed call runs", func() (bool, error) {
				a, err := p.post(ctx, http.DefaultClient, text, body)
				switch {
				case err != nil || a.told.Code == "approval_required":
					return false, err
				case a.told.Success:
					mu.Lock()
					ran++
					mu.Unlock()
					return true, nil
				case a.told.Code == "conflict" && strings.Contains(a.told.Error, "was done"):
					return true, nil
				}
				return false, errors.New(a.text)
			})
		})
	}
	asking.Wait()
	took := time.Since(began)
	err = errors.Join(failures...)
	if err == nil && ran != 1 {
		err = fmt.Errorf("%s ran %d times", a.told.Approval, ran)
	}
	return took, err
}
