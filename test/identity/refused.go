package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wrongText is a static token that nobody has: what it is answered, everybody is who is refused.
const wrongText = "mcp_wrongwrongwrong.0000000000000000000000000000000000000000000"

// A judge holds answers of an endpoint against its answer to a wrong static token, byte for byte.
type judge struct {
	endpoint
	wanted string
}

func newJudge(ctx context.Context, e endpoint) (*judge, error) {
	wanted, err := e.wholeAnswer(ctx, wrongText)
	if err == nil && !strings.HasPrefix(wanted, "HTTP/1.1 401 Unauthorized\r\n") {
		err = fmt.Errorf("a wrong token is answered %s", wanted)
	}
	return &judge{e, wanted}, err
}

// judge sends a token that must be refused, and returns how long that took. The report has the reason by which the metric
// counts it, and the detail.
func (j *judge) judge(ctx context.Context, r *report, what, token, detail string) time.Duration {
	before, err := j.refusals(ctx)
	began := time.Now()
	got, failed := j.wholeAnswer(ctx, token)
	took := time.Since(began)
	var after map[string]int
	var err2 error
	within(ctx, func() bool { // it is counted once it was answered
		after, err2 = j.refusals(ctx)
		return err2 != nil || !maps.Equal(before, after)
	})
	problem := ""
	switch err := errors.Join(err, failed, err2); {
	case err != nil:
		problem = err.Error()
	case got != j.wanted:
		problem = fmt.Sprintf("answered\n%s\ninstead of\n%s", got, j.wanted)
	}
	for reason, count := range after {
		if count > before[reason] {
			detail = strings.TrimSuffix(reason+", "+detail, ", ")
		}
	}
	r.out401(what, detail, problem)
	return took
}

// judgeForgeries tries all forgeries of a mint, whose own token is let in: what differs is why they are refused.
func (j *judge) judgeForgeries(ctx context.Context, r *report, m *mint) {
	r.in("the good one, signed by the test with the issuer's key", "", unexpected(fmt.Sprint(j.status(ctx, m.sign(m.claims))), "200", nil))
	for _, f := range m.forgeries() {
		j.judge(ctx, r, f.what, f.token, "")
	}
}

// accountKey is the file of the key that the API server signs tokens with.
func (w *world) accountKey() string { return filepath.Join(w.cluster.Dir(), "pki", "sa.key") }

// refuse tries all that must not open the shop.
func refuse(ctx context.Context, w *world, r *report) error {
	j, err := newJudge(ctx, w.shop)
	if err != nil {
		return err
	}
	trap := "https://" + w.hostile.address + "/trap"
	r.part("Refused with the 401 of a wrong static token, byte for byte: tokens that differ from a good one of the company")
	worker, err := w.company.token(ctx, "worker", w.shop.url())
	if err != nil {
		return err
	}
	company, err := mintOf(w.company.signer, worker, otherEndpoint, trap)
	if err != nil {
		return err
	}
	j.judgeForgeries(ctx, r, company)
	r.part("The same of a good one of a pod, which the shop checks by the cluster's keys")
	agent, err := w.podToken(ctx, "agent-of-shop")
	if err != nil {
		return err
	}
	signer, err := signerOf(agent, w.accountKey())
	if err != nil {
		return err
	}
	account, err := mintOf(signer, agent, otherEndpoint, trap)
	if err != nil {
		return err
	}
	j.judgeForgeries(ctx, r, account)
	return refuseOthers(ctx, w, r, j, company, account)
}

// refuseOthers tries tokens that their issuers really issued, and tokens of one issuer as another's.
func refuseOthers(ctx context.Context, w *world, r *report, j *judge, company, account *mint) error {
	r.part("Good tokens of somebody else, and of one issuer as another's")
	for _, c := range []struct {
		what             string
		from             *issuer
		client, audience string
	}{
		{"issued for another endpoint", w.company, "worker", w.reviewed.url()},
		{"of somebody for whom there is no MCPToken", w.company, "stranger", w.shop.url()},
		{"of somebody whose MCPToken is not active", w.company, "inactive", w.shop.url()},
		{"of somebody for whom two MCPTokens are, neither more than the other", w.company, "both", w.shop.url()},
		{"of a CI job of another repository", w.ci, "fork", w.shop.url()},
	} {
		token, err := c.from.token(ctx, c.client, c.audience)
		if err != nil {
			return err
		}
		j.judge(ctx, r, c.what, token, "")
	}
	for _, c := range []struct{ what, namespace, name, audience string }{
		{"of a pod for the API server", namespace, "agent", ""},
		{"of a ServiceAccount for another endpoint", namespace, "agent", w.reviewed.url()},
		{"of a ServiceAccount without an MCPToken", namespace, "unknown", w.shop.url()},
		{"of a ServiceAccount of the same name in another namespace", "elsewhere", "agent", w.shop.url()},
	} {
		token, err := w.accountToken(ctx, c.namespace, c.name, c.audience, nil)
		if err != nil {
			return err
		}
		j.judge(ctx, r, c.what, token, "")
	}
	for _, c := range []forgery{
		{"of the company, in the name of the cluster", company.sign(account.claims)},
		{"of the company, with the subject of a ServiceAccount", company.sign(company.with(object{"sub": account.claims["sub"]}))},
		{"of the cluster, in the name of the company", account.sign(company.claims)},
		{"of the CI service, in the name of the company", w.ci.signer.sign(company.claims)},
		{"of the CI service, by the company's algorithm and key id", w.ci.signer.signWith(object{"alg": company.algorithm, "kid": company.id}, company.claims)},
		{"of a SPIFFE workload for another endpoint", w.spiffe.svid("/ns/shop/sa/stock", otherEndpoint)},
		{"of a SPIFFE workload without an MCPToken", w.spiffe.svid("/ns/shop/sa/other", w.shop.url())},
	} {
		j.judge(ctx, r, c.what, c.token, "")
	}
	long := &judge{endpoint: w.shop}
	var err error
	if long.wanted, err = w.shop.wholeAnswer(ctx, strings.Repeat("x", 1<<20)); err != nil {
		return err
	}
	status, _, _ := strings.Cut(long.wanted, "\r\n")
	long.judge(ctx, r, "a token of a megabyte", company.sign(company.with(object{"more": strings.Repeat("x", 1<<20)})), "as any text of that length, "+status)
	return nil
}

// refuseReviewed tries the endpoint that asks the API server, whose answer counts pods and ServiceAccounts that are gone.
func refuseReviewed(ctx context.Context, w *world, r *report) error {
	r.part("TokenReview")
	agent, err := w.podToken(ctx, "agent-of-reviewed")
	if err != nil {
		return err
	}
	j, err := newJudge(ctx, w.reviewed)
	if err != nil {
		return err
	}
	j.judge(ctx, r, "everybody, while the server may not create TokenReviews", agent, "")
	condition := ""
	_, told := within(ctx, func() bool {
		condition = w.condition(ctx, "mcpendpoint/reviewed", "AuthenticationReady")
		return strings.HasPrefix(condition, "False TokenReviewForbidden")
	})
	problem := ""
	if !told {
		problem = "the condition is " + condition
	}
	r.holds("the condition AuthenticationReady says so", condition, problem)
	_, err = w.core.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "identity-reviewed"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "reviewed-mcp"}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := w.settle(ctx, w.reviewed, agent); err != nil {
		return err
	}
	who, err := w.reviewed.who(ctx, agent)
	r.in("a pod, once it may", "as MCPToken "+who, unexpected(who, "reviewed-agent", err))

	signer, err := signerOf(agent, w.accountKey())
	if err != nil {
		return err
	}
	account, err := mintOf(signer, agent, otherEndpoint, "https://"+w.hostile.address+"/trap")
	if err != nil {
		return err
	}
	j.judgeForgeries(ctx, r, account)
	return refuseGone(ctx, w, r, j)
}

// refuseGone deletes pods and a ServiceAccount, and waits until their tokens are refused.
func refuseGone(ctx context.Context, w *world, r *report, j *judge) error {
	pod, err := w.core.CoreV1().Pods(namespace).Get(ctx, "agent-of-reviewed", metav1.GetOptions{})
	if err != nil {
		return err
	}
	known, err := w.podToken(ctx, pod.Name)
	if err != nil {
		return err
	}
	unseen, err := w.accountToken(ctx, namespace, "agent", w.reviewed.url(), pod)
	if err != nil {
		return err
	}
	byKeys, err := w.accountToken(ctx, namespace, "agent", w.shop.url(), pod)
	if err != nil {
		return err
	}
	leaver, err := w.accountToken(ctx, namespace, "leaver", w.reviewed.url(), nil)
	if err != nil {
		return err
	}
	if _, err := w.settle(ctx, w.reviewed, leaver); err != nil {
		return err
	}
	if err := w.core.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		return err
	}
	if err := w.core.CoreV1().ServiceAccounts(namespace).Delete(ctx, "leaver", metav1.DeleteOptions{}); err != nil {
		return err
	}
	deleted := time.Now()
	j.judgeWithin(ctx, r, "a token of a pod that was deleted, seen for the first time", unseen, deleted)
	j.judgeWithin(ctx, r, "a token of a pod that was deleted, let in just before", known, deleted)
	j.judgeWithin(ctx, r, "a token of a ServiceAccount that was deleted, let in just before", leaver, deleted)
	again := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "leaver"}}
	if _, err := w.core.CoreV1().ServiceAccounts(namespace).Create(ctx, again, metav1.CreateOptions{}); err != nil {
		return err
	}
	j.judge(ctx, r, "the same, once there is another ServiceAccount of that name", leaver, "")
	who, err := w.shop.who(ctx, byKeys)
	r.in("a token of the pod that was deleted, at the endpoint that checks by keys", "which does not see it", unexpected(who, "agent", err))
	return nil
}

// judgeWithin waits until a token is refused. A TokenReview may count for 20 seconds: ten in the server's memory, and ten in the API server's.
func (j *judge) judgeWithin(ctx context.Context, r *report, what, token string, since time.Time) {
	_, refused := within(ctx, func() bool { return j.status(ctx, token) == 401 })
	if !refused {
		r.out401(what, "", "it is let in still")
		return
	}
	j.judge(ctx, r, what, token, fmt.Sprintf("%.1f s later", time.Since(since).Seconds()))
}

// reviewedTokens are the MCPTokens of the endpoint that asks the API server.
func reviewedTokens() []tokenObject {
	return []tokenObject{
		{"reviewed-agent", "reviewed", `serviceAccountRef: {name: agent}`},
		{"reviewed-leaver", "reviewed", `serviceAccountRef: {name: leaver}`},
	}
}
