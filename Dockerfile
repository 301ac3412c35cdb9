# A service for one model or index:
#   docker build -t kate .
#   docker run --rm -p 127.0.0.1:8000:8000 -e KATE_TOKEN=secret -v "$PWD/kate-demo/index:/data:ro" kate
# hadolint checks this file (tests/packaging).
FROM python:3.13-slim AS wheel
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY packaging packaging
COPY src src
# build isolates itself, and its versions are those of pyproject.toml
RUN pip install --no-cache-dir build==1.6.1 \
    && python -m build --wheel --outdir /dist . \
    && python -c "import sys; sys.path.insert(0, 'packaging'); from build_distributions import lite_wheel; from pathlib import Path; lite_wheel(next(Path('/dist').glob('kate_text-*.whl')))"

FROM python:3.13-slim
COPY constraints.txt /tmp/constraints.txt
COPY --from=wheel /dist/kate_text_lite-*.whl /tmp/
# the service neither fits nor needs the compiler
RUN pip install --no-cache-dir -c /tmp/constraints.txt "$(ls /tmp/kate_text_lite-*.whl)[serve]" \
    && rm -r /tmp/* \
    && useradd --system --uid 10001 --no-create-home kate
USER 10001
EXPOSE 8000
# a container is reached by another machine: a token is asked for, or --no-token has to be said
ENTRYPOINT ["kate", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/data"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
