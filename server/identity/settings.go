package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// settings say how tokens are checked. They never change.
type settings struct {
	// cluster is nil if tokens of ServiceAccounts are not accepted.
	cluster *issuer
	// issuers are the declared ones, in the order of the Config; byURL lacks those whose URL another one has, too.
	issuers []*issuer
	byURL   map[string]*issuer
}

// find returns the issuer that a token claims to be from; nil if there is none such.
func (s *settings) find(url string) *issuer {
	if declared := s.byURL[url]; declared != nil {
		return declared
	}
	return s.cluster
}

// all returns the cluster, if its tokens are accepted, and the declared issuers.
func (s *settings) all() []*issuer {
	if s.cluster == nil {
		return s.issuers
	}
	return append([]*issuer{s.cluster}, s.issuers...)
}

// unlessHidden returns the status of an issuer, or what is wrong if all its tokens are another one's.
func (s *settings) unlessHidden(i *issuer, status contract.IssuerStatus) contract.IssuerStatus {
	known := i.source.known.Load()
	if !i.cluster || known == nil || s.byURL[known.document.Issuer] == nil {
		return status
	}
	status.Usable, status.Reason = false, contract.ReasonIssuerMismatch
	status.Message = fmt.Sprintf("The cluster's own issuer %s is declared as the issuer %s, and all its tokens are taken for that one's. "+
		"Remove it there, or use oidc in the place of serviceAccountRef.", known.document.Issuer, s.byURL[known.document.Issuer].Name)
	return status
}

// newSettings keeps earlier issuers with the same settings, and the keys of issuers that publish them in the same place.
func (v *Verifier) newSettings(before *settings, authentication contract.Authentication, serviceAccounts bool) *settings {
	after := &settings{byURL: map[string]*issuer{}}
	for i := range authentication.Issuers {
		declared := v.keepIssuer(before, v.declared(&authentication.Issuers[i]))
		after.issuers = append(after.issuers, declared)
		if _, twice := after.byURL[declared.URL]; twice {
			after.byURL[declared.URL] = nil // nobody can tell whose its tokens are
			continue
		}
		after.byURL[declared.URL] = declared
	}
	if serviceAccounts {
		after.cluster = v.keepIssuer(before, v.cluster(&authentication.ServiceAccounts))
	}
	return after
}

// keepIssuer returns the issuer from before if it has the same settings, else the new one, if possible with the keys that are known.
func (v *Verifier) keepIssuer(before *settings, wanted *issuer) *issuer {
	for _, i := range before.all() {
		if i.source.name != wanted.source.name {
			continue
		}
		if reflect.DeepEqual(i.Issuer, wanted.Issuer) && (i.reviews == nil) == (wanted.reviews == nil) {
			return i
		}
		wanted.source = i.source
		wanted.source.again()
		return wanted
	}
	wanted.source.init()
	return wanted
}

func (v *Verifier) declared(declared *contract.Issuer) *issuer {
	return &issuer{Issuer: *declared, source: v.newSource(sourceName(declared), func(ctx context.Context) (document, error) {
		return readIssuer(ctx, declared)
	})}
}

// sourceName follows from all settings that say which keys are read, and whom they are read from.
func sourceName(declared *contract.Issuer) string {
	text, err := json.Marshal([]string{declared.URL, declared.DiscoveryURL, declared.KeysURL, declared.CertificateAuthority})
	if err != nil {
		panic(err) // texts can always be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// clusterSkew is how far the clocks of the API server and of the pod's node may differ.
const clusterSkew = 30 * time.Second

func (v *Verifier) cluster(accounts *contract.ServiceAccounts) *issuer {
	api := v.options.API
	cluster := &issuer{
		Issuer:  contract.Issuer{Audiences: accounts.Audiences, ClockSkew: contract.Duration(clusterSkew)},
		cluster: true,
		source: v.newSource("cluster", func(ctx context.Context) (document, error) {
			if api == nil {
				return document{}, unreachable("There is no API server here, so tokens of ServiceAccounts cannot be checked")
			}
			return readCluster(ctx, api)
		}),
	}
	if accounts.Check == contract.CheckTokenReview && api != nil {
		cluster.reviews = newReviewer(api, accounts.Audiences)
	}
	return cluster
}

func (v *Verifier) newSource(name string, read func(context.Context) (document, error)) *keySource {
	return &keySource{name: name, read: read, store: v.store, log: v.options.Log, replaced: v.replaced, looked: v.looked}
}

// looked follows an attempt to read keys.
func (v *Verifier) looked(ctx context.Context, source *keySource) {
	if cluster := v.settings.Load().cluster; cluster != nil && cluster.source == source && cluster.reviews != nil {
		cluster.reviews.probe(ctx)
	}
	v.report()
}
