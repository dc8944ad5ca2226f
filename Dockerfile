# Two stages: the first makes the one binary that `bun run build` makes anywhere, the second holds it and nothing else.

FROM node:22-bookworm-slim AS build
WORKDIR /souk
# Packages first: this layer is kept while only the sources change.
COPY package.json bun.lock ./
RUN npx --yes bun@1.4.4 install --frozen-lockfile
COPY bunfig.toml tsconfig.json build.ts ./
COPY src src
COPY db db
COPY jobs jobs
RUN npx --yes bun@1.4.4 run build

FROM debian:bookworm-slim
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
# No HEALTHCHECK: souk has no command that asks a running server, and the image has no HTTP client. Whatever runs the
# container asks GET /health/ready on port 3000.
ENTRYPOINT ["/usr/local/bin/souk"]
CMD ["serve"]
