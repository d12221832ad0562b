package generate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/target"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// readCluster reads the schema of the database of an MCPEndpoint in the cluster, by the Secrets that it names.
func (o *options) readCluster(ctx context.Context) (types.NamespacedName, *database.Schema, error) {
	name := types.NamespacedName{Namespace: o.cluster.GivenNamespace(), Name: o.endpoint}
	reader, err := o.cluster.Connect()
	if err != nil {
		return name, nil, err
	}
	if name.Namespace == "" {
		name.Namespace = reader.Namespace
	}
	schema, err := SchemaOf(ctx, reader, name, o.schemas)
	return name, schema, err
}

// SchemaOf reads the schema of the database of an MCPEndpoint: the tables of the schemas, or else of the endpoint's.
func SchemaOf(ctx context.Context, reader client.Reader, name types.NamespacedName, schemas []string) (*database.Schema, error) {
	var found v1alpha1.MCPEndpoint
	if err := reader.Get(ctx, name, &found); err != nil {
		return nil, fmt.Errorf("--endpoint: %w", err)
	}
	endpoint := v1alpha1.MCPEndpoint{ObjectMeta: found.ObjectMeta, Spec: v1alpha1.MCPEndpointSpec{Database: found.Spec.Database}}
	d := &endpoint.Spec.Database
	if d.SQLite != nil {
		return nil, fmt.Errorf("MCPEndpoint %s has a SQLite file, which lies in its pod; copy the file, and name it with --sqlite beside --endpoint", name)
	}
	if d.DuckDB != nil {
		return nil, fmt.Errorf("MCPEndpoint %s has files for DuckDB, which lie in its claim %s; copy them, and name them with --duckdb beside --endpoint", name, d.DuckDB.Claim.Name)
	}
	d.Access, d.Replicas = v1alpha1.DatabaseReadOnly, nil
	if len(schemas) > 0 {
		d.Schemas = schemas
	}
	config, verdicts := compile.Compile(compile.Inputs{
		Endpoint: &endpoint, StatusKey: contract.NewToken(), SealKey: contract.NewSealKey(), Now: time.Now(),
	})
	if v := verdicts.Endpoint; !v.Accepted {
		return nil, fmt.Errorf("MCPEndpoint %s: %s", name, v.Message)
	}
	update := &source.Update{Config: config}
	for _, secret := range []struct {
		field, name string
		to          *source.Secret
	}{
		{"spec.database.connectionSecretRef", nameOfConnection(d), &update.Connection},
		{"spec.database.tls.caSecretRef", nameOfCA(d), &update.CA},
		{"spec.database.tls.clientCertificateSecretRef", nameOfCertificate(d), &update.ClientCertificate},
	} {
		if secret.name == "" {
			continue
		}
		var found corev1.Secret
		err := reader.Get(ctx, types.NamespacedName{Namespace: name.Namespace, Name: secret.name}, &found)
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("%s: you may not read Secret %s; ask for that right, or give --dsn beside --endpoint", secret.field, secret.name)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", secret.field, err)
		}
		*secret.to = found.Data
	}
	schema, err := target.Schema(ctx, update, "")
	if err != nil {
		return nil, fmt.Errorf("%w; if only pods can reach it, forward a port (kubectl port-forward) and give --dsn beside --endpoint", err)
	}
	return schema, nil
}

func nameOfConnection(d *v1alpha1.DatabaseSpec) string {
	if d.ConnectionSecretRef == nil {
		return ""
	}
	return d.ConnectionSecretRef.Name
}

func nameOfCA(d *v1alpha1.DatabaseSpec) string {
	if d.TLS == nil || d.TLS.CASecretRef == nil {
		return ""
	}
	return d.TLS.CASecretRef.Name
}

func nameOfCertificate(d *v1alpha1.DatabaseSpec) string {
	if d.TLS == nil || d.TLS.ClientCertificateSecretRef == nil {
		return ""
	}
	return d.TLS.ClientCertificateSecretRef.Name
}
