package server

import "time"

// LosePatience makes the endpoint wait less long for a request's headers, and for all of it.
func (s *Server) LosePatience(header, request time.Duration) {
	s.patience = patience{header, request}
}
