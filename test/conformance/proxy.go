package main

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// serveProxy passes requests on to an endpoint with a token, and nothing else changed: the suite cannot send a header
// of ours.
func serveProxy(ctx context.Context, listener net.Listener, target net.Addr, token string) {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: target.String()})
			r.Out.Host = r.In.Host // it is judged, too
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		// A request that the suite broke off is not worth a line.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s := &http.Server{Handler: proxy, ReadHeaderTimeout: 10 * time.Second, ErrorLog: proxy.ErrorLog}
	go func() {
		<-ctx.Done()
		_ = s.Close() // the program ends
	}()
	go func() { _ = s.Serve(listener) }()
}
