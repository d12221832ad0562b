package endpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
)

// theCluster is the name of the issuer of ServiceAccounts' tokens in the pods' reports.
const theCluster = ""

// authenticationReady reports whether the tokens can be checked that somebody else issues; nil if the endpoint names no issuer
// and no pod checks any. An issuer that is away counts only where a pod does not know its keys: they are known for as long as
// the pod lives.
func authenticationReady(e *v1alpha1.MCPEndpoint, reports program.PodReports) *condition.Finding {
	names := checkedIssuers(e, reports)
	if len(names) == 0 {
		return nil
	}
	if missing := audienceMissing(e); missing != nil {
		return missing
	}
	var titles, troubles []string
	var unheard *condition.Finding
	for _, name := range names {
		titles = append(titles, issuerTitle(name))
		unusable, trouble, heard := issuerSaid(reports, name)
		switch {
		case unusable != nil:
			return new(issuerUnusable(e, *unusable))
		case !heard && unheard == nil:
			unheard = new(condition.Unknown(v1alpha1.ReasonWaitingForReport, "no server pod has said yet whether it can check the tokens of "+issuerTitle(name)))
		case trouble != nil:
			troubles = append(troubles, issuerTitle(name)+": "+trouble.Message)
		}
	}
	if unheard != nil {
		return unheard
	}
	message := "the tokens of " + strings.Join(titles, ", ") + " are checked"
	if len(troubles) > 0 {
		message += ", with what was known before; " + strings.Join(troubles, "; ")
	}
	return new(condition.Holds(contract.ReasonKeysKnown, message))
}

// checkedIssuers are the names of the endpoint's issuers, and of the cluster if a pod checks the tokens of ServiceAccounts.
func checkedIssuers(e *v1alpha1.MCPEndpoint, reports program.PodReports) []string {
	var names []string
	if slices.ContainsFunc(reports, func(r program.PodReport) bool { return issuerOf(r, theCluster) != nil }) {
		names = append(names, theCluster)
	}
	for i := range e.Spec.Authentication.OIDC {
		names = append(names, e.Spec.Authentication.OIDC[i].Name)
	}
	slices.Sort(names)
	return names
}

// audienceMissing is the finding about an issuer whose tokens are issued for nobody that is known; nil if there is none.
func audienceMissing(e *v1alpha1.MCPEndpoint) *condition.Finding {
	for i := range e.Spec.Authentication.OIDC {
		if issuer := &e.Spec.Authentication.OIDC[i]; len(e.IssuerAudiences(issuer)) == 0 {
			return new(condition.Fails(v1alpha1.ReasonAudienceMissing, fmt.Sprintf("no token of %s is accepted, because nothing says for whom it must have been "+
				"issued: name audiences of the issuer in spec.authentication.oidc, or give the endpoint a public URL in spec.network", issuerTitle(issuer.Name))))
		}
	}
	return nil
}

// issuerUnusable is the finding about an issuer none of whose tokens a pod can check.
func issuerUnusable(e *v1alpha1.MCPEndpoint, s contract.IssuerStatus) condition.Finding {
	if s.Reason == contract.ReasonTokenReviewForbidden {
		account := e.Namespace + ":" + e.ServiceName()
		return condition.Fails(s.Reason, fmt.Sprintf("the server may not create TokenReviews, so no token of a ServiceAccount is accepted; let it: "+
			"kubectl create clusterrolebinding %s-%s-token-review --clusterrole=system:auth-delegator --serviceaccount=%s",
			e.Namespace, e.ServiceName(), account))
	}
	return condition.Fails(condition.Reported(s.Reason), fmt.Sprintf("no token of %s can be checked: %s", issuerTitle(s.Name), cmp.Or(s.Message, "its keys are not known")))
}

func issuerTitle(name string) string {
	if name == theCluster {
		return "ServiceAccounts"
	}
	return "issuer " + cluster.Quote(name)
}

// issuerOf is a pod's report on an issuer; nil if it says nothing.
func issuerOf(r program.PodReport, name string) *contract.IssuerStatus {
	if r.Status == nil {
		return nil
	}
	i := slices.IndexFunc(r.Status.Issuers, func(s contract.IssuerStatus) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Status.Issuers[i]
}

// issuerSaid joins what the pods say of an issuer: what the first one says that can check none of its tokens, what the first one
// says that has another trouble with it, and whether any has said something. A pod that is silent has only just started, or has
// not seen the issuer yet: it is none the worse for it.
func issuerSaid(reports program.PodReports, name string) (unusable, trouble *contract.IssuerStatus, heard bool) {
	for _, r := range reports {
		said := issuerOf(r, name)
		if said == nil {
			continue
		}
		heard = true
		switch {
		case !said.Usable && unusable == nil:
			unusable = said
		case said.Usable && said.Reason != contract.ReasonKeysKnown && trouble == nil:
			trouble = said
		}
	}
	return unusable, trouble, heard
}
