package main

import (
	"fmt"
	"net/http"
	"time"
)

// spiffe is a SPIFFE trust domain that publishes its bundle: keys with SPIFFE's own uses, and no configuration.
type spiffe struct {
	url, keysURL string
	signer       *signer
	server       *http.Server
}

func startSPIFFE(ca *authority) (*spiffe, error) {
	listener, err := ca.listen()
	if err != nil {
		return nil, err
	}
	s := &spiffe{url: "https://spiffe.acme.example", keysURL: "https://" + listener.Addr().String() + "/bundle"}
	if s.signer, err = newSigner("ES256", "svid-1"); err != nil {
		return nil, err
	}
	key, err := s.signer.publicJWK("jwt-svid")
	if err != nil {
		return nil, err
	}
	s.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"spiffe_sequence":1,"spiffe_refresh_hint":300,"keys":[%s]}`, key)
	})}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// svid is a JWT-SVID for an audience, as SPIRE issues it with jwt_issuer set.
func (s *spiffe) svid(path, audience string) string {
	return s.signer.sign(object{
		"iss": s.url, "sub": "spiffe://acme.example" + path, "aud": []string{audience}, "iat": seconds(0), "exp": seconds(5 * time.Minute),
	})
}

// Close ends it.
func (s *spiffe) Close() error {
	if s == nil {
		return nil
	}
	return s.server.Close()
}
