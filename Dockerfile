# The images of the programs, one target each: apiserver, manager,
# kvevent-subscriber.
#
#   docker build --target apiserver --tag REGISTRY/apiserver:TAG .
#
# Compiled on the builder's own platform for the one that is asked for. The version
# that the programs tell comes from the repository's tags, so .git is part of the
# context, and .dockerignore leaves out only what is not in the repository.

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src
ENV CGO_ENABLED=0 GOCACHE=/var/cache/go-build GOMODCACHE=/var/cache/go-mod
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/var/cache/go-mod go mod download
COPY . .
ARG TARGETOS TARGETARCH

FROM build AS build-apiserver
RUN --mount=type=cache,target=/var/cache/go-mod --mount=type=cache,target=/var/cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/inference-cache-apiserver ./cmd/apiserver

FROM build AS build-manager
RUN --mount=type=cache,target=/var/cache/go-mod --mount=type=cache,target=/var/cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/inference-cache-manager ./cmd/manager

FROM build AS build-kvevent-subscriber
RUN --mount=type=cache,target=/var/cache/go-mod --mount=type=cache,target=/var/cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags="-s -w" -o /out/kvevent-subscriber ./cmd/kvevent-subscriber

FROM gcr.io/distroless/static-debian12:nonroot AS base
USER 65532:65532

FROM base AS apiserver
COPY --from=build-apiserver /out/inference-cache-apiserver /usr/local/bin/inference-cache-apiserver
EXPOSE 6443 9090
ENTRYPOINT ["/usr/local/bin/inference-cache-apiserver"]

FROM base AS manager
COPY --from=build-manager /out/inference-cache-manager /usr/local/bin/inference-cache-manager
EXPOSE 8081 8443
ENTRYPOINT ["/usr/local/bin/inference-cache-manager"]

FROM base AS kvevent-subscriber
COPY --from=build-kvevent-subscriber /out/kvevent-subscriber /usr/local/bin/kvevent-subscriber
EXPOSE 9102
ENTRYPOINT ["/usr/local/bin/kvevent-subscriber"]
