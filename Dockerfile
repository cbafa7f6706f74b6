# The image `gauntlet`: the program, its scenarios and the libraries it needs.
#   docker build -t gauntlet .
#   docker run --rm gauntlet gauntlet run --demo
# It has no entrypoint, so that CI systems can start a shell in it.
FROM debian:12 AS build
WORKDIR /gauntlet
COPY ci/ ci/
RUN ci/run.sh setup
COPY . .
ARG LAYOUT=ON
RUN cmake --preset release -DGAUNTLET_TESTS=OFF -DGAUNTLET_LAYOUT=$LAYOUT
RUN ninja -C build/release --quiet gauntlet
# Not stripped: after llvm-bolt, a stripped program ends with SIGSEGV.
RUN install -D build/release/gauntlet /image/usr/local/bin/gauntlet
RUN mkdir -p /image/usr/share/gauntlet && cp -r scenarios /image/usr/share/gauntlet/
# The Debian packages of the libraries that the program is linked with, and of
# libcurl, which it opens for --notice-url.
RUN { ldd build/release/gauntlet | awk '$3 ~ /^\// { print $3 }' | \
      xargs -n 1 basename | sed 's|^|*/|' | xargs dpkg-query -S | \
      cut -d : -f 1; echo libcurl4; } | sort -u >/image/usr/share/gauntlet/packages

FROM debian:12-slim
COPY --from=build /image/ /
RUN apt-get update -q && \
    xargs apt-get install -q -y --no-install-recommends </usr/share/gauntlet/packages && \
    rm -rf /var/lib/apt/lists/*
RUN gauntlet doctor
WORKDIR /work
CMD ["gauntlet", "help"]
