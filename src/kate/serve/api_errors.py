"""Errors of the service: one form for all, that of OpenAI's API, so that its clients understand them."""

from __future__ import annotations

from starlette.responses import JSONResponse

__all__ = ["ApiError", "bad_request"]

_TYPES = {
    401: "authentication_error",
    404: "not_found_error",
    410: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
    500: "server_error",
    503: "server_error",
    504: "server_error",
}


class ApiError(Exception):
    """What is answered instead of a result."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code, self.headers = status, message, param, code, headers

    def response(self) -> JSONResponse:
        body = {
            "message": self.message,
            "type": _TYPES.get(self.status, "invalid_request_error"),
            "param": self.param,
            "code": self.code,
        }
        return JSONResponse({"error": body}, status_code=self.status, headers=self.headers)


def bad_request(message: str, param: str | None = None) -> ApiError:
    return ApiError(400, message, param=param)
