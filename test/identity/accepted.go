package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// companyClaims has, for each of the company's clients and people, the claims of their tokens beside who they are.
func companyClaims() map[string]map[string]any {
	return map[string]map[string]any{
		"worker": nil, "stranger": nil, "inactive": nil,
		"anna":  {"department": "support", "region": "emea", "groups": []string{"readers", "owners"}},
		"lena":  {"department": "support", "role": "lead", "region": "apac", "groups": []string{"writers", "owners"}},
		"chief": {"department": "support", "role": "lead", "region": "amer"},
		"admin": {"realm_access": object{"roles": []string{"offline_access", "mcp-admin"}}},
		"both":  {"team": "red", "office": "north"},
	}
}

// shopTokens are the MCPTokens of the shop.
func shopTokens() []tokenObject {
	const regional = `attributes: {region: claims.region}`
	all := []tokenObject{
		{"agent", "shop", `serviceAccountRef: {name: agent}`},
		{"company-worker", "shop", `oidc: {issuer: company, subject: worker}`},
		{"support", "shop", `oidc: {issuer: company, claims: {department: support}, ` + regional + `}`},
		{"support-lead", "shop", `oidc: {issuer: company, claims: {department: support, role: lead}, ` + regional +
			`, groups: {expression: claims.groups, among: [writers]}}`},
		{"the-chief", "shop", `oidc: {issuer: company, subject: chief, ` + regional + `}`},
		{"admins", "shop", `oidc: {issuer: company, claims: {/realm_access/roles: mcp-admin}}`},
		{"team-red", "shop", `oidc: {issuer: company, claims: {team: red}}`},
		{"office-north", "shop", `oidc: {issuer: company, claims: {office: north}}`},
		{"inactive", "shop", "active: false\n  oidc: {issuer: company, subject: inactive}"},
		{"release-job", "shop", `oidc: {issuer: ci, claims: {repository: acme/bookshop, ref: refs/heads/main, environment: production}}`},
		{"stock", "shop", `oidc: {issuer: spiffe, subject: "spiffe://acme.example/ns/shop/sa/stock"}`},
	}
	for i := range revocations {
		all = append(all, tokenObject{visitor(i), "shop", fmt.Sprintf(`oidc: {issuer: company, subject: %s}`, visitor(i))})
	}
	return all
}

func visitor(i int) string { return fmt.Sprintf("visitor-%02d", i) }

// letIn has everybody come who may, and asks who the endpoint takes them for.
func letIn(ctx context.Context, w *world, r *report) error {
	r.part("Let in")
	agent, err := w.podToken(ctx, "agent-of-shop")
	if err != nil {
		return err
	}
	took, err := w.settle(ctx, w.shop, agent)
	if err != nil {
		return err
	}
	r.note("the first caller, once the endpoint was Ready", took.Round(time.Millisecond).String())

	worker, err := w.company.token(ctx, "worker", w.shop.url())
	if err != nil {
		return err
	}
	m, err := mintOf(w.company.signer, worker, "", "")
	if err != nil {
		return err
	}
	account, err := w.accountToken(ctx, namespace, "agent", strings.TrimSuffix(w.shop.url(), "/"), nil)
	if err != nil {
		return err
	}
	for _, c := range []struct{ what, token, is string }{
		{"a pod, with its projected ServiceAccount token", agent, "agent"},
		{"a ServiceAccount, for the URL without its last slash", account, "agent"},
		{"a program of the company, by its subject", worker, "company-worker"},
		{"a SPIFFE workload, by a JWT-SVID", w.spiffe.svid("/ns/shop/sa/stock", w.shop.url()), "stock"},
		{"a token with several audiences", m.sign(m.with(object{"aud": []string{"other", w.shop.url()}})), "company-worker"},
		{"a token that ended within the skew", m.sign(m.with(object{"exp": seconds(-20 * time.Second)})), "company-worker"},
		{"a token that begins within the skew", m.sign(m.with(object{"nbf": seconds(20 * time.Second)})), "company-worker"},
	} {
		who, problem := w.shop.who(ctx, c.token)
		r.in(c.what, "as MCPToken "+who, unexpected(who, c.is, problem))
	}
	for _, c := range []struct {
		what         string
		from         *issuer
		client, mine string
	}{
		{"a person, by one claim", w.company, "anna", "support"},
		{"a person, by two claims: the MCPToken with the most of them", w.company, "lena", "support-lead"},
		{"a person, by the subject, which counts more than claims", w.company, "chief", "the-chief"},
		{"a person, by a role in a list below another claim", w.company, "admin", "admins"},
		{"a CI job, by repository, branch and environment", w.ci, "job", "release-job"},
	} {
		token, err := c.from.token(ctx, c.client, w.shop.url())
		if err != nil {
			return err
		}
		who, problem := w.shop.who(ctx, token)
		r.in(c.what, "as MCPToken "+who, unexpected(who, c.mine, problem))
	}
	return rights(ctx, w, r)
}

// unexpected says what is wrong with an answer, or "".
func unexpected(got, want string, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case got != want:
		return fmt.Sprintf("%q instead of %q", got, want)
	}
	return ""
}

// rights proves what claims give beside the way in, and who it is that the records name.
func rights(ctx context.Context, w *world, r *report) error {
	r.part("What claims give, and what is recorded")
	anna, err := w.company.token(ctx, "anna", w.shop.url())
	if err != nil {
		return err
	}
	lena, err := w.company.token(ctx, "lena", w.shop.url())
	if err != nil {
		return err
	}
	agent, err := w.podToken(ctx, "agent-of-shop")
	if err != nil {
		return err
	}
	for _, c := range []struct{ what, token, tool, arguments, says string }{
		{"an attribute by a claim: sales of the person's own region", anna, "list_sale", `{"fields":["region"]}`, `"results":[{"id":1,"region":"emea"}]`},
		{"no attribute, no rows: the pod has no region", agent, "list_sale", `{}`, `"total_count":0`},
		{"a group by a claim", lena, "create_sale", `{"data":{"region":"apac","amount":5}}`, `"success":true,"id":4`},
		{"a group that the MCPToken takes from no claim", anna, "create_sale", `{"data":{"region":"emea","amount":5}}`, `"code":"permission_denied"`},
		{"the history names the MCPToken and the subject", lena, "history_sale", `{"id":4}`, `"token":"identity/support-lead as lena"`},
	} {
		text, err := w.shop.call(ctx, c.token, c.tool, c.arguments)
		problem := ""
		if err != nil {
			problem = err.Error()
		} else if !strings.Contains(text, c.says) {
			problem = fmt.Sprintf("there is no %s in %s", c.says, text)
		}
		r.holds(c.what, c.says, problem)
	}
	log, err := w.cluster.Kubectl(ctx, "-n", namespace, "logs", "deployment/shop-mcp")
	if err != nil {
		return err
	}
	r.holds("the audit log names both", "", missing(log, `"msg":"audit","token":"identity/support-lead"`, "lena"))
	r.holds("the condition AuthenticationReady of the endpoint", "", missing(w.condition(ctx, "mcpendpoint/shop", "AuthenticationReady"), "True KeysKnown"))
	r.holds("the condition Issued of an MCPToken for a ServiceAccount", "", missing(w.condition(ctx, "mcptoken/agent", "Issued"), "True NotNeeded", "identity/agent"))
	secrets, err := w.cluster.Kubectl(ctx, "-n", namespace, "get", "secrets", "-o", "name")
	if err != nil {
		return err
	}
	problem := ""
	for _, name := range []string{"agent", "company-worker", "support"} {
		if slices.Contains(strings.Fields(secrets), "secret/"+name) {
			problem = "there is a Secret " + name
		}
	}
	r.holds("no MCPToken has a Secret", "", problem)
	return nil
}

// missing says which of the texts is not in another, or "".
func missing(text string, all ...string) string {
	for _, one := range all {
		if !strings.Contains(text, one) {
			return fmt.Sprintf("there is no %s in %.2000s", one, text)
		}
	}
	return ""
}
