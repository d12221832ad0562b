package contract

import "testing"

func TestAPodHasItsShareOfWhatIsForAll(t *testing.T) {
	for _, c := range []struct {
		pods        Pods
		shared      bool
		connections int
		replica     int
		rate        float64
	}{
		{Pods{}, true, 20, 9, 50}, // nobody has counted them
		{Pods{Running: 1, Answering: 1}, true, 20, 9, 50},
		{Pods{Running: 3, Answering: 2}, true, 6, 3, 25},
		{Pods{Running: 4, Answering: 4}, false, 20, 9, 12.5},
		{Pods{Running: 30, Answering: 0}, true, 1, 1, 50},
	} {
		config := &Config{Pods: c.pods}
		config.Endpoint.Limits.RequestsPerSecondPerToken = 50
		d := &config.Endpoint.Database
		d.MaxConnections, d.ConnectionsShared = 20, c.shared
		d.Replicas = &Replicas{MaxConnections: 9, ConnectionsShared: c.shared}
		got := config.OfOnePod().Database
		rate, _ := config.TokenRate()
		if got.MaxConnections != c.connections || got.Replicas.MaxConnections != c.replica || rate != c.rate {
			t.Errorf("%+v: %d connections, %d to replicas, %v requests, want %d, %d, %v", c.pods, got.MaxConnections, got.Replicas.MaxConnections,
				rate, c.connections, c.replica, c.rate)
		}
		if d.MaxConnections != 20 || d.Replicas.MaxConnections != 9 {
			t.Error("the Config was changed")
		}
	}
}
