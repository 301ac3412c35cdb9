"""A model or an index as an HTTP service (extra ``serve``: Starlette, uvicorn, prometheus-client).

limits.py         how much one request, and all that wait, may ask for
live_folder.py    the model or index that is served; one that replaces it on disk is picked up
encode_queue.py   many small requests are encoded together; too many waiting are turned away
api_errors.py     every error as OpenAI's clients expect it
embeddings.py     /v1/embeddings and /v1/models, as OpenAI's
index_answers.py  /search, /similar, /documents, /topics, /label
explore_pages.py  /explore/, the page of an index: made when it is first asked for
service_metrics.py  what Prometheus reads
openapi.py        the description of all routes, as JSON and as a page
service.py        the application: routes, the token, limits on bodies · running.py: under uvicorn, with a patient end
listening.py      the socket: shared with the service that comes next, closed when nobody waits at it
"""
