package controllers

import "github.com/mcp-admin/mcp-admin-operator/contract"

// certificate is the endpoint's own certificate as the pods see it: as the first one that has none in use, else as the
// first one that could not use the newest, else as the first that reported. Nil is not known, or none is needed.
func (reports podReports) certificate() *contract.CertificateStatus {
	var found *contract.CertificateStatus
	for _, r := range reports {
		if r.status == nil || r.status.Certificate == nil {
			continue
		}
		c := r.status.Certificate
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
func withoutCertificate(s *endpointScope) *finding {
	if s.endpoint.Spec.Server.TLS == nil {
		return nil
	}
	c := s.reports.certificate()
	switch {
	case c != nil && c.InUse:
		return nil
	case s.certificateProblem != nil:
		return s.certificateProblem
	case c != nil:
		return new(fails(reported(c.Reason), c.Message))
	}
	return nil
}

// staleCertificate says why the certificate in use is not the newest; nil if it is. As with a Config that is
// refused, what was good before stays, and the endpoint is not what its objects say.
func staleCertificate(s *endpointScope) *finding {
	if s.endpoint.Spec.Server.TLS == nil {
		return nil
	}
	c := s.reports.certificate()
	if c == nil || !c.InUse || c.Reason == contract.ReasonCertificateLoaded {
		return nil
	}
	return new(fails(reported(c.Reason), c.Message+"; the certificate from before stays in use, until "+c.NotAfter))
}
