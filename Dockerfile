# The tags move with their security fixes. Who must have the same bytes again names them by digest, which
# `docker buildx imagetools inspect NAME` tells: --build-arg BUILD_IMAGE=NAME@sha256:… --build-arg RUN_IMAGE=NAME@sha256:….
ARG BUILD_IMAGE=node:22-bookworm-slim
ARG RUN_IMAGE=debian:bookworm-slim
# Two stages: the first makes the one binary that `bun run build` makes anywhere, the second holds it and nothing else.

FROM ${BUILD_IMAGE} AS build
WORKDIR /souk
# Packages first: this layer is kept while only the sources change.
COPY package.json bun.lock ./
RUN npx --yes bun@1.4.4 install --frozen-lockfile
COPY bunfig.toml tsconfig.json ./
COPY src src
COPY db db
COPY jobs jobs
RUN npx --yes bun@1.4.4 run build

FROM ${RUN_IMAGE}
# A number of its own, so that a bind mount can be given to it: chown 10001:10001.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin souk \
  && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /souk/dist/souk /usr/local/bin/souk
ENV DATA_DIR=/data HOST=0.0.0.0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 3000
# Finishes what is in flight for up to ten seconds: give `docker stop` more than that (--stop-timeout 20).
STOPSIGNAL SIGTERM
# Asks the server of this container, by the settings that it has. A start that migrates a large database has a quarter of an hour.
HEALTHCHECK --interval=30s --timeout=10s --retries=3 --start-period=15m CMD ["/usr/local/bin/souk", "health"]
ENTRYPOINT ["/usr/local/bin/souk"]
CMD ["serve"]
