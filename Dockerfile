# syntax=docker/dockerfile:1
# Three images from one build: the targets "manager", "server" and "mcp-admin"; and "server-duckdb", the server with DuckDB.
# "make images" and "make image-duckdb" pack the same without Docker.
#   docker build --target manager --build-arg VERSION=$(hack/version.sh) -t REGISTRY/manager:$(hack/version.sh) .

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOFLAGS=-buildvcs=false
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY api/ api/
COPY cmd/ cmd/
COPY config/approval-policy/ config/approval-policy/
COPY config/crd/ config/crd/
COPY config/rbac/ config/rbac/
COPY contract/ contract/
COPY controllers/ controllers/
COPY hack/rootfs/ hack/rootfs/
COPY server/ server/
ARG VERSION
RUN [ -n "$VERSION" ] || { echo "name the version: --build-arg VERSION=\$(hack/version.sh)" >&2; exit 1; }

FROM build AS build-manager
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin-manager ./cmd/manager

FROM build AS build-server
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin-server ./cmd/server

FROM build AS build-mcp-admin
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=${TARGETOS:-linux} GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin ./cmd/mcp-admin

# DuckDB needs C, and so the compiler of the image's own processor. The program is static all the same.
FROM golang:1.26 AS build-server-duckdb
WORKDIR /src
COPY --from=build /src/ /src/
ARG VERSION
ENV CGO_ENABLED=1 GOFLAGS=-buildvcs=false
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go -C cmd/duckdb build -trimpath -tags netgo,osusergo -ldflags "-s -w -linkmode external -extldflags \"-static\" -X github.com/mcp-admin/mcp-admin-operator/contract/version.version=$VERSION" -o /out/mcp-admin-server ./mcp-admin-server

# The certificates of the public authorities, and the user.
FROM build AS root
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go run ./hack/rootfs/write /out/root

# No shell, no package manager, no libraries.
FROM scratch AS base
ARG VERSION REVISION CREATED
LABEL org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED" \
      org.opencontainers.image.source="https://github.com/mcp-admin/mcp-admin-operator" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=root /out/root/ /
WORKDIR /
USER 65532:65532

FROM base AS manager
LABEL org.opencontainers.image.title="mcp-admin-manager" \
      org.opencontainers.image.description="The controllers of mcp-admin-operator"
COPY --from=build-manager /out/mcp-admin-manager /mcp-admin-manager
ENTRYPOINT ["/mcp-admin-manager"]

FROM base AS server
LABEL org.opencontainers.image.title="mcp-admin-server" \
      org.opencontainers.image.description="The MCP server of one endpoint of mcp-admin-operator"
COPY --from=build-server /out/mcp-admin-server /mcp-admin-server
ENTRYPOINT ["/mcp-admin-server"]

FROM base AS server-duckdb
LABEL org.opencontainers.image.title="mcp-admin-server" \
      org.opencontainers.image.description="The MCP server of one endpoint of mcp-admin-operator, with DuckDB"
COPY --from=build-server-duckdb /out/mcp-admin-server /mcp-admin-server
ENTRYPOINT ["/mcp-admin-server"]

FROM base AS mcp-admin
LABEL org.opencontainers.image.title="mcp-admin" \
      org.opencontainers.image.description="The command line of mcp-admin-operator"
COPY --from=build-mcp-admin /out/mcp-admin /mcp-admin
ENTRYPOINT ["/mcp-admin"]
