// Command collector is the receiver of the OpenTelemetry Collector for OTLP, alone: it writes what it got to standard output, a line
// of OTLP's JSON for each request. It is a module of its own, so that the project's own does not need the Collector.
//
//	collector GRPC-ADDRESS HTTP-ADDRESS
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: collector GRPC-ADDRESS HTTP-ADDRESS")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(grpc, http string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{
		"grpc": map[string]any{"endpoint": grpc}, "http": map[string]any{"endpoint": http},
	}}).Unmarshal(config); err != nil {
		return err
	}
	traces, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		return write((&ptrace.JSONMarshaler{}).MarshalTraces(traces))
	})
	if err != nil {
		return err
	}
	logs, err := consumer.NewLogs(func(_ context.Context, logs plog.Logs) error {
		return write((&plog.JSONMarshaler{}).MarshalLogs(logs))
	})
	if err != nil {
		return err
	}
	// Both are one receiver, as they have one configuration.
	settings := receivertest.NewNopSettings(factory.Type())
	receiver, err := factory.CreateTraces(ctx, settings, config, traces)
	if err != nil {
		return err
	}
	if _, err := factory.CreateLogs(ctx, settings, config, logs); err != nil {
		return err
	}
	if err := receiver.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	fmt.Println("{}") // it listens
	<-ctx.Done()
	return receiver.Shutdown(context.Background())
}

// writing keeps lines apart.
var writing sync.Mutex

// write writes what was received as a line.
func write(line []byte, err error) error {
	if err != nil {
		return err
	}
	writing.Lock()
	defer writing.Unlock()
	_, err = fmt.Printf("%s\n", line)
	return err
}
