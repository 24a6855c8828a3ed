# An image for `programmator job`: programmator, Claude Code, git. Add what the work on your repository needs.
#
#   docker build -t programmator:0.1.0 .

FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin programmator

FROM node:22-bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git procps \
    && rm -rf /var/lib/apt/lists/* \
    && npm install -g @anthropic-ai/claude-code
COPY --from=build /src/target/release/programmator /usr/local/bin/programmator
# The user that the Job runs as; node's image has it.
USER 1000:1000
ENTRYPOINT ["programmator"]
