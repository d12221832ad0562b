package endpoint

import (
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/condition"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
)

// certificate is the state of the endpoint's certificate. It is the report of the first pod with no certificate in use;
// else of the first pod that could not use the newest; else of the first pod that reported. Nil means not known, or not
// needed.
func certificate(reports program.PodReports) *contract.CertificateStatus {
	var found *contract.CertificateStatus
	for _, r := range reports {
		if r.Status == nil || r.Status.Certificate == nil {
			continue
		}
		c := r.Status.Certificate
		if !c.InUse {
			return c
		}
		if found == nil || found.Reason == contract.ReasonCertificateLoaded && c.Reason != contract.ReasonCertificateLoaded {
			found = c
		}
	}
	return found
}

// withoutCertificate says why the server takes no connections; nil if it does, or speaks plain HTTP.
func withoutCertificate(s *endpointScope) *condition.Finding {
	if s.endpoint.Spec.Server.TLS == nil {
		return nil
	}
	c := certificate(s.reports)
	switch {
	case c != nil && c.InUse:
		return nil
	case s.certificateProblem != nil:
		return s.certificateProblem
	case c != nil:
		return new(condition.Fails(condition.Reported(c.Reason), c.Message))
	}
	return nil
}

// staleCertificate says why the certificate in use is not the newest; nil if it is. The last good certificate then stays
// in use, and the endpoint is not Ready.
func staleCertificate(s *endpointScope) *condition.Finding {
	if s.endpoint.Spec.Server.TLS == nil {
		return nil
	}
	c := certificate(s.reports)
	if c == nil || !c.InUse || c.Reason == contract.ReasonCertificateLoaded {
		return nil
	}
	return new(condition.Fails(condition.Reported(c.Reason), c.Message+"; the certificate from before stays in use, until "+c.NotAfter))
}
