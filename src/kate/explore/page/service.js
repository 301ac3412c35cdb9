// What is asked of the service that gave the page: its token, its errors, its JSON.

const TOKEN = "kate-token"; // of the session
const PATIENCE = 1000; // milliseconds until it is asked again, where it says nothing of that

/** A service wants a token, or another one. */
export class TokenNeeded extends Error {}

/** What the service refuses: its message is a sentence for the reader. */
export class Refused extends Error {}

/** Keep a token for the requests of this session. */
export function rememberToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/**
 * The answer to a request, sent with the token if there is one.
 * @param {string} path beside the page
 * @param {RequestInit} [options]
 */
export async function fetched(path, options = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) throw new TokenNeeded("this service asks for a token");
  if (!answer.ok) throw new Refused(await messageOf(answer, path));
  return answer;
}

/** The same, asked again and again while the service makes what is asked for; `waiting` is told how far it is. */
export async function fetchedWhenMade(path, waiting) {
  for (;;) {
    const answer = await fetched(path);
    if (answer.status !== 202) return answer;
    waiting((await answer.json()).making);
    const seconds = Number(answer.headers.get("Retry-After"));
    await new Promise((resolve) => setTimeout(resolve, seconds > 0 ? 1000 * seconds : PATIENCE));
  }
}

/** JSON for JSON. */
export async function askService(path, body) {
  const answer = await fetched(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return answer.json();
}

async function messageOf(answer, path) {
  const told = await answer.json().catch(() => null);
  return told?.error?.message ?? `${path}: ${answer.status} ${answer.statusText}`;
}
