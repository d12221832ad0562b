package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outlast has the company change its keys and go away, the server start again meanwhile, and the API server go away.
func outlast(ctx context.Context, w *world, r *report) error {
	r.part("The company changes its keys")
	old, unseen, err := w.twoTokens(ctx)
	if err != nil {
		return err
	}
	if err := w.company.stop(); err != nil {
		return err
	}
	if err := w.company.newKey("company-2"); err != nil {
		return err
	}
	if err := w.company.start(ctx); err != nil {
		return err
	}
	status := w.shop.status(ctx, old)
	r.in("a token of the old key, while nobody has seen the new one", "", unexpected(fmt.Sprint(status), "200", nil))
	next, later, err := w.twoTokens(ctx)
	if err != nil {
		return err
	}
	took, ok := within(ctx, func() bool { return w.shop.status(ctx, next) == 200 })
	r.in("the first token of the new key", fmt.Sprintf("%.1f s after it was first shown; an unknown key is asked for every %s at most", took.Seconds(), refreshPause), notYet(ok))
	j, err := newJudge(ctx, w.shop)
	if err != nil {
		return err
	}
	j.judge(ctx, r, "a token of the old key, which the company withdrew, let in before", old, "")
	j.judge(ctx, r, "a token of the old key, seen for the first time", unseen, "")

	r.part("The company is down")
	if err := w.company.stop(); err != nil {
		return err
	}
	for _, c := range []struct{ what, token string }{
		{"a caller who was let in before", next}, {"a caller whose token is seen for the first time", later},
	} {
		r.in(c.what, "", unexpected(fmt.Sprint(w.shop.status(ctx, c.token)), "200", nil))
	}
	if err := w.killServer(ctx, "shop"); err != nil {
		return err
	}
	took, ok = within(ctx, func() bool { return w.shop.status(ctx, later) == 200 })
	r.in("the same, after the server was killed, and started again", fmt.Sprintf("%.1f s later", took.Seconds()), notYet(ok))
	condition := ""
	_, told := within(ctx, func() bool {
		condition = w.condition(ctx, "mcpendpoint/shop", "AuthenticationReady")
		return strings.HasPrefix(condition, "True ") && strings.Contains(condition, w.company.url)
	})
	problem := ""
	if !told {
		problem = "the condition is " + condition
	}
	r.holds("the condition AuthenticationReady says so", condition, problem)
	return outlastAPI(ctx, w, r)
}

// refreshPause is how long the server waits until it asks an issuer for an unknown key again.
const refreshPause = 30 * time.Second

func notYet(ok bool) string {
	if ok {
		return ""
	}
	return "it is refused still"
}

// twoTokens are a token of a worker that was let in, and one that nobody has shown.
func (w *world) twoTokens(ctx context.Context) (shown, unseen string, err error) {
	if shown, err = w.company.token(ctx, "worker", w.shop.url()); err != nil {
		return "", "", err
	}
	_ = w.shop.status(ctx, shown) // the caller waits for a key that the server does not know yet
	unseen, err = w.company.token(ctx, "worker", w.shop.url())
	return shown, unseen, err
}

// killServer kills the process of an endpoint's one pod.
func (w *world) killServer(ctx context.Context, name string) error {
	pods, err := w.core.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "mcpadmin.dev/endpoint=" + name})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if pid, ok := w.cluster.PodProcess(namespace, pod.Name); ok {
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("no pod of %s", name)
}

// outlastAPI stops the API server.
func outlastAPI(ctx context.Context, w *world, r *report) error {
	r.part("The API server is down")
	known, err := w.podToken(ctx, "agent-of-shop")
	if err != nil {
		return err
	}
	unseen, err := w.accountToken(ctx, namespace, "agent", w.shop.url(), nil)
	if err != nil {
		return err
	}
	reviewed, err := w.accountToken(ctx, namespace, "agent", w.reviewed.url(), nil)
	if err != nil {
		return err
	}
	j, err := newJudge(ctx, w.reviewed)
	if err != nil {
		return err
	}
	if err := w.cluster.StopAPIServer(); err != nil {
		return err
	}
	for _, c := range []struct{ what, token string }{
		{"a pod that was let in before, by keys", known}, {"a token that is seen for the first time, by keys", unseen},
	} {
		r.in(c.what, "", unexpected(fmt.Sprint(w.shop.status(ctx, c.token)), "200", nil))
	}
	j.judge(ctx, r, "a token that is seen for the first time, by TokenReview", reviewed, "")
	if err := w.cluster.StartAPIServer(ctx); err != nil {
		return err
	}
	took, ok := within(ctx, func() bool { return w.reviewed.status(ctx, reviewed) == 200 })
	r.in("the same, once the API server is back", fmt.Sprintf("%.1f s later", took.Seconds()), notYet(ok))
	return nil
}
